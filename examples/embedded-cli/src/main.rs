//! A binary that migrates the keyspace of a shop: `embedded-cli --url cassandra://127.0.0.1/shop status`.

use std::process::ExitCode;

use kandra_migrate::cli::Cli;
use kandra_migrate::migration;

kandra_migrate::registry!(static MIGRATIONS);

#[migration(version = 1)]
mod create_users {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY, name text)")
            .undo("DROP TABLE ${keyspace}.users")
    }
}

#[migration(version = 2)]
mod seed_users {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("INSERT INTO ${keyspace}.users (id, name) VALUES (1, 'Ada Lovelace')")
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    // With `.session(my_connect)` the service's own session, with its TLS and login, is used instead of `--url`.
    Cli::new(&MIGRATIONS).runner(|runner| runner.application("shop 1.4.2")).main().await
}
