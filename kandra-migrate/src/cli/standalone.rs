//! The command `kandra`, for those who have only CQL files.

use std::ffi::OsString;
use std::process::ExitCode;

use super::args::{self, Asks};
use super::{Cli, command, exit};
use crate::registry::Registry;

/// What the binary `kandra` of this crate does: this command line with the migrations of `--dir`, as
/// `kandra --dir migrations --url cassandra://10.0.0.1/shop run`.
///
/// ```sh
/// cargo install kandra-migrate --features cli
/// ```
pub async fn kandra() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let line = match args::parse(arguments, Asks::Directory) {
        Ok(line) => line,
        Err(error) => {
            // A help text that nobody reads to its end is no error.
            let _ = error.print();
            return exit::of_clap(&error);
        }
    };
    match Registry::from_dir(&line.directory) {
        Ok(registry) => command::carry_out(Cli::new(&registry), line).await,
        Err(error) => ExitCode::from(command::failed(&error, &line).code()),
    }
}
