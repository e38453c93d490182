//! The migrations of an application of which many instances run. Each step leaves behind how often it took effect.

use kandra_migrate::migration;

/// Five tables.
#[migration(version = 1)]
pub mod create_tables {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY, name text)")
                .undo("DROP TABLE ${keyspace}.users"),
            cql("CREATE TABLE ${keyspace}.counts (step text PRIMARY KEY, n counter)"),
            cql("CREATE TABLE ${keyspace}.lists (step text PRIMARY KEY, items list<text>)"),
            cql(
                "CREATE TABLE ${keyspace}.executions (step text, id uuid, attempt bigint, PRIMARY KEY (step, id))",
            ),
        ]
    }
}

/// Statements that count.
#[migration(version = 2)]
pub mod count_statements {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("UPDATE ${keyspace}.counts SET n = n + 1 WHERE step = 'counted'"),
            cql("UPDATE ${keyspace}.lists SET items = items + ['appended'] WHERE step = 'appended'"),
            cql("INSERT INTO ${keyspace}.users (id, name) VALUES (1, 'Ada Lovelace')"),
        ]
    }
}

/// A column and its values.
#[migration(version = 3, reaches_outside = "executions are counted in one place")]
pub mod fill_first_names {
    use crate::execution::record;
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("ALTER TABLE ${keyspace}.users ADD first_name text"),
            code("fill", fill).idempotent(),
            cql("CREATE INDEX users_by_first_name ON ${keyspace}.users (first_name)"),
        ]
    }
    async fn fill(cx: TaskContext) -> TaskResult {
        record(&cx, "fill").await?;
        let users: Vec<(i64, String)> = cx.rows("SELECT id, name FROM ${keyspace}.users", ()).await?;
        for (id, name) in &users {
            let first = name.split(' ').next();
            cx.execute("UPDATE ${keyspace}.users SET first_name = ? WHERE id = ?", (first, id)).await?;
        }
        Ok(())
    }
}

/// What must not be done twice.
#[migration(version = 4, reaches_outside = "executions are counted in one place")]
pub mod announce {
    use crate::execution::record;
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("announce", |cx| async move { record(&cx, "announce").await }).once()
    }
}
