//! What the first release needs: two tables, some users, a column that is filled from another one, an index.
//!
//! A migration is a module; its name is the migration's name, and all that is in it is its checksum.

use kandra_migrate::migration;

#[migration(version = 1)]
mod create_users {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY, name text)")
    }
}

#[migration(version = 2)]
mod create_orders {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.orders (user_id bigint, placed timestamp, item text, \
             PRIMARY KEY (user_id, placed)) WITH CLUSTERING ORDER BY (placed DESC)")
    }
}

#[migration(version = 3)]
mod add_sample_users {
    use kandra_migrate::prelude::*;

    const FIRST: [&str; 6] = ["Ada", "Grace", "Alan", "Barbara", "Edsger", "Frances"];
    const LAST: [&str; 10] =
        ["Lovelace", "Hopper", "Turing", "Liskov", "Dijkstra", "Allen", "Wirth", "Hoare", "Lamport", "Gray"];

    fn up() -> impl IntoPlan {
        code("add users", add).idempotent()
    }

    async fn add(cx: TaskContext) -> TaskResult {
        let names = LAST.iter().flat_map(|last| FIRST.map(|first| format!("{first} {last}")));
        for (id, name) in (1_i64..).zip(names) {
            cx.execute("INSERT INTO ${keyspace}.users (id, name) VALUES (?, ?)", (id, name)).await?;
        }
        Ok(())
    }
}

#[migration(version = 4)]
mod add_first_name {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        [
            cql("ALTER TABLE ${keyspace}.users ADD first_name text"),
            // Run again after a crash, it writes the same: that is what `idempotent` says.
            code("fill first_name", fill).idempotent(),
        ]
    }

    async fn fill(cx: TaskContext) -> TaskResult {
        let users: Vec<(i64, String)> = cx.rows("SELECT id, name FROM ${keyspace}.users", ()).await?;
        for (id, name) in &users {
            let first_name = name.split(' ').next();
            cx.execute("UPDATE ${keyspace}.users SET first_name = ? WHERE id = ?", (first_name, id)).await?;
        }
        Ok(())
    }
}

#[migration(version = 5)]
mod index_first_name {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        // Until it is built, a read by it fails.
        cql("CREATE INDEX users_by_first_name ON ${keyspace}.users (first_name)").wait_built()
    }
}
