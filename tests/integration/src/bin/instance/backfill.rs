//! The migrations of an application with a backfill that takes its time.

use kandra_migrate::{Registry, migration};

pub(crate) fn registry() -> Registry {
    Registry::of([&add_first_name::MIGRATION, &fill_first_name::MIGRATION])
}

/// Nothing but the column: the table is the test's.
#[migration(version = 1)]
mod add_first_name {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("ALTER TABLE ${keyspace}.people ADD first_name text")
    }
}

/// Its values, from another column.
#[migration(version = 2)]
mod fill_first_name {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", fill).idempotent()
    }
    async fn fill(cx: TaskContext) -> TaskResult {
        cx.backfill("people")
            .concurrency(4)
            // So that there is time to kill an instance.
            .rows_per_second(1500)
            .for_each_row("country, id, n, name", async |cx, row: (String, i64, i32, String)| {
                let (country, id, n, name) = row;
                let first = name.split(' ').next();
                cx.execute(
                    "UPDATE ${keyspace}.people SET first_name = ? WHERE country = ? AND id = ? AND n = ?",
                    (first, country, id, n),
                )
                .await
            })
            .await
    }
}
