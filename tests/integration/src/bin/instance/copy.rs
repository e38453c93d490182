//! The migrations of an application with a copy that takes its time.

use kandra_migrate::{Registry, migration};

pub(crate) fn registry() -> Registry {
    Registry::of([&create::MIGRATION, &copy_users::MIGRATION])
}

/// Nothing but the table: an application writes it before the copy begins.
#[migration(version = 1)]
mod create {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql(
            "CREATE TABLE ${keyspace}.users_by_mail (mail text, id bigint, name text, PRIMARY KEY (mail, id))",
        )
    }
}

#[migration(version = 2)]
mod copy_users {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("copy", copy).idempotent()
    }
    async fn copy(cx: TaskContext) -> TaskResult {
        // So that there is time to kill an instance.
        cx.backfill("users").concurrency(4).rows_per_second(1000).copy_into("users_by_mail").run().await
    }
}
