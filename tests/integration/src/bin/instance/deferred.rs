//! The migrations of an application with a backfill that a start does not wait for.

use kandra_migrate::{Registry, migration};

pub(crate) fn registry() -> Registry {
    Registry::of([&create_tables::MIGRATION, &fill::MIGRATION, &drop_name::MIGRATION])
}

#[migration(version = 1)]
pub(crate) mod create_tables {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY, name text, first_name text)"),
            cql(
                "CREATE TABLE ${keyspace}.executions (step text, id uuid, attempt bigint, PRIMARY KEY (step, id))",
            ),
        ]
    }
}

#[migration(version = 2, after_start, reaches_outside = "executions are counted in one place")]
pub(crate) mod fill {
    use integration::execution::record;
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move { record(&cx, "fill").await }).idempotent()
    }
}

/// Behind it.
#[migration(version = 3)]
pub(crate) mod drop_name {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("ALTER TABLE ${keyspace}.users DROP name")
    }
}
