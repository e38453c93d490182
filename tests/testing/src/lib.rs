//! Migrations of an application, for its tests in `tests`.

use kandra_migrate::{Runner, migration};

kandra_migrate::registry!(pub static MIGRATIONS);

/// The settings that the migrations need.
pub fn settings(runner: Runner<'_>) -> Runner<'_> {
    runner.variable("days", 30)
}

#[migration(version = 1)]
mod create_users {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY, name text) WITH gc_grace_seconds = 3600")
            .undo("DROP TABLE ${keyspace}.users")
    }
}

#[migration(version = 2)]
mod split_user_name {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("ALTER TABLE ${keyspace}.users ADD first_name text")
                .named("add the column")
                .undo("ALTER TABLE ${keyspace}.users DROP first_name"),
            code("fill", fill)
                .idempotent()
                .undo("UPDATE ${keyspace}.users SET first_name = null WHERE id = 0"),
            cql("CREATE INDEX users_by_first_name ON ${keyspace}.users (first_name)")
                .undo("DROP INDEX ${keyspace}.users_by_first_name"),
        ]
    }

    async fn fill(cx: TaskContext) -> TaskResult {
        cx.backfill("users")
            .for_each_row("id, name", async |cx, (id, name): (i64, String)| {
                let first = name.split(' ').next();
                cx.execute("UPDATE ${keyspace}.users SET first_name = ? WHERE id = ?", (first, id)).await
            })
            .await
    }
}

#[migration(version = 3)]
mod add_settings {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("CREATE TABLE ${keyspace}.settings (name text PRIMARY KEY, value int)"),
            cql("INSERT INTO ${keyspace}.settings (name, value) VALUES ('keep for days', ${days})"),
            cql("INSERT INTO ${keyspace}.settings (name, value) VALUES ('once', 1) IF NOT EXISTS"),
        ]
    }
}
