//! A shop's binary for the tests: `SHOP` names the migrations that it has, `SHOP_FAILS` makes code tasks fail.

use std::process::ExitCode;

use kandra_migrate::cli::Cli;
use kandra_migrate::{Registry, migration};

#[migration(version = 1)]
mod create_users {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY, name text)")
    }
}

mod edited {
    use kandra_migrate::migration;

    #[migration(version = 1)]
    pub(crate) mod create_users {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY, name text, mail text)")
        }
    }

    #[migration(version = 2)]
    pub(crate) mod charge_fees {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            [cql("CREATE TABLE ${keyspace}.fees (id uuid PRIMARY KEY)"), code("charge", charge).once()]
        }
        async fn charge(_: TaskContext) -> TaskResult {
            Ok(())
        }
    }
}

#[migration(version = 2)]
mod seed_users {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("INSERT INTO ${keyspace}.users (id, name) VALUES (1, 'Ada Lovelace')"),
            code("greet", greet).idempotent(),
        ]
    }
    async fn greet(_: TaskContext) -> TaskResult {
        match std::env::var_os("SHOP_FAILS") {
            Some(_) => Err(TaskError::msg("nobody is there to greet")),
            None => Ok(()),
        }
    }
}

#[migration(version = 2)]
mod charge_fees {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [cql("CREATE TABLE ${keyspace}.charges (id uuid PRIMARY KEY)"), code("charge", charge).once()]
    }
    async fn charge(_: TaskContext) -> TaskResult {
        match std::env::var_os("SHOP_FAILS") {
            Some(_) => Err(TaskError::msg("the till does not answer")),
            None => Ok(()),
        }
    }
}

/// Works until the file `SHOP_GATE` is there, and says by the file `SHOP_STARTED` that it is at work.
#[migration(version = 2)]
mod count_stock {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("count", count).idempotent()
    }
    async fn count(_: TaskContext) -> TaskResult {
        std::fs::write(std::env::var("SHOP_STARTED")?, "")?;
        let gate = std::env::var("SHOP_GATE")?;
        while !std::path::Path::new(&gate).exists() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        Ok(())
    }
}

/// Says by the file `SHOP_STARTED` that it is at work, and then blocks its thread.
#[migration(version = 2)]
mod count_and_block {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("count", count).idempotent()
    }
    async fn count(_: TaskContext) -> TaskResult {
        std::fs::write(std::env::var("SHOP_STARTED")?, "")?;
        std::thread::sleep(std::time::Duration::from_mins(10));
        Ok(())
    }
}

/// A start does not wait for it.
#[migration(version = 2, after_start)]
mod fill_names {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", fill).idempotent()
    }
    async fn fill(_: TaskContext) -> TaskResult {
        match std::env::var_os("SHOP_FAILS") {
            Some(_) => Err(TaskError::msg("user 7 has no name")),
            None => Ok(()),
        }
    }
}

#[migration(version = 3)]
mod index_names {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE INDEX users_by_name ON ${keyspace}.users (name)")
    }
}

fn migrations(name: &str) -> Registry {
    match name {
        "first" => Registry::of([&create_users::MIGRATION]),
        "edited-first" => Registry::of([&edited::create_users::MIGRATION]),
        "seed" => Registry::of([&create_users::MIGRATION, &seed_users::MIGRATION]),
        "charge" => Registry::of([&create_users::MIGRATION, &charge_fees::MIGRATION]),
        "edited-charge" => Registry::of([&create_users::MIGRATION, &edited::charge_fees::MIGRATION]),
        "count" => Registry::of([&create_users::MIGRATION, &count_stock::MIGRATION]),
        "fill" => Registry::of([&create_users::MIGRATION, &fill_names::MIGRATION, &index_names::MIGRATION]),
        "block" => Registry::of([&create_users::MIGRATION, &count_and_block::MIGRATION]),
        other => panic!("SHOP names no migrations: {other}"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let registry = migrations(&std::env::var("SHOP").unwrap_or_else(|_| "seed".to_owned()));
    Cli::new(&registry).runner(|runner| runner.application("shop")).main().await
}
