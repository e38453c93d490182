//! Migrations that are CQL files, without a program around them: see `kandra --help`.

use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    kandra_migrate::cli::kandra().await
}
