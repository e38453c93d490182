//! A user's crate that is as strict as a crate can be, and has migrations in all places and of all kinds.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications, rust_2018_idioms)]
#![deny(clippy::all, clippy::pedantic)]

use kandra_migrate::{Migration, migration};

#[migration(version = 1)]
mod create_users {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY, name text)")
            .undo("DROP TABLE ${keyspace}.users")
    }
}

/// A migration that others may see.
#[migration(version = 20_260_102, out_of_order, after_start)]
pub mod split_user_name {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        [
            cql("ALTER TABLE ${keyspace}.users ADD first_name text"),
            code("fill first_name", fill).idempotent(),
            cql("ALTER TABLE ${keyspace}.users DROP name"),
        ]
    }

    async fn fill(_: TaskContext) -> TaskResult {
        std::future::ready(()).await;
        Ok(())
    }
}

/// What the migrations of this crate share, at their own risk.
pub mod shared {
    use kandra_migrate::migration;

    const TABLE: &str = "users";

    #[migration(
        version = 3,
        accept = ["k1:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"],
        reaches_outside = "the table's name is the same everywhere",
    )]
    pub(crate) mod r#match {
        use super::TABLE;
        use kandra_migrate::prelude::*;

        fn up() -> impl IntoPlan {
            cql(format!("DROP TABLE ${{keyspace}}.{TABLE}"))
        }
    }

    #[migration(version = 4)]
    pub(super) mod seen_above {
        use kandra_migrate::prelude::*;

        pub(super) fn up() -> impl IntoPlan {
            Vec::<Task>::new()
        }
    }
}

/// A migration of files and code.
#[migration(version = 6)]
pub mod from_files {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        [
            cql_file!("cql/tables.cql").retries(1),
            kandra_migrate::cql_file!("cql/index.cql"),
            cql("DROP TABLE ${keyspace}.old"),
        ]
    }
}

/// A migration that a macro writes.
macro_rules! add_column {
    ($version:literal, $name:ident, $column:expr) => {
        #[migration(version = $version)]
        mod $name {
            use kandra_migrate::prelude::*;

            fn up() -> impl IntoPlan {
                cql($column)
            }
        }
    };
}

add_column!(5, add_email, "ALTER TABLE ${keyspace}.users ADD email text");

/// All of them, in order.
#[must_use]
pub fn migrations() -> [&'static Migration; 5] {
    [
        &create_users::MIGRATION,
        &shared::r#match::MIGRATION,
        &shared::seen_above::MIGRATION,
        &add_email::MIGRATION,
        &split_user_name::MIGRATION,
    ]
}
