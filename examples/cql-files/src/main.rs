//! `cql-files --url cassandra://127.0.0.1/shop run`

use std::process::ExitCode;

use kandra_migrate::cli::Cli;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    Cli::new(&cql_files::MIGRATIONS).runner(|runner| runner.variable("seen_ttl", 86_400)).main().await
}
