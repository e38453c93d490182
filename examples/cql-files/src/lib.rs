//! The migrations of a shop: files of CQL, and code where CQL is not enough.

use kandra_migrate::migration;

kandra_migrate::registry!(pub static MIGRATIONS);
kandra_migrate::cql_dir!("migrations");

#[migration(version = 3)]
mod split_user_name {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        [cql_file!("cql/first_name.cql"), code("fill first_name", fill).idempotent()]
    }

    async fn fill(cx: TaskContext) -> TaskResult {
        let users: Vec<(i64, Option<String>)> = cx.rows("SELECT id, name FROM ${keyspace}.users", ()).await?;
        for (id, name) in &users {
            let first = name.as_deref().and_then(|name| name.split(' ').next());
            cx.execute("UPDATE ${keyspace}.users SET first_name = ? WHERE id = ?", (first, id)).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn migrations_are_sound() {
        kandra_migrate::check!();
    }
}
