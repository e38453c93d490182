//! `cargo run -p faults -- --all --seed 1`

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use faults::{Extent, Instance, Result, Selection, Trouble};
use tracing_subscriber::EnvFilter;

/// Faults on real nodes, a line a number: what was done how often, ok or what was wrong. Ends with 1 if something was.
#[derive(Debug, Parser)]
#[command(name = "faults", arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// All numbers, all cases
    #[arg(long, conflicts_with = "short")]
    all: bool,
    /// A few cases of each number: what is run for each change
    #[arg(long)]
    short: bool,
    /// These numbers
    #[arg(long, value_delimiter = ',', value_name = "NUMBERS")]
    only: Vec<u8>,
    /// What is chosen where not everything is done
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// One instance of a service: what the tests start
    #[command(hide = true)]
    Instance(Instance),
}

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        // The driver logs each connection that it loses, and here it loses many.
        .with_env_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("off")))
        .with_writer(std::io::stderr)
        .init();
    match act(Cli::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(trouble) => {
            eprintln!("{trouble}");
            ExitCode::FAILURE
        }
    }
}

async fn act(cli: Cli) -> Result<bool> {
    if let Some(Command::Instance(instance)) = cli.command {
        instance.main().await?;
        return Ok(true);
    }
    let extent = if cli.short { Extent::Short } else { Extent::Full };
    let program = std::env::current_exe()
        .map_err(|source| Trouble::Io { what: "find this program".to_owned(), source })?;
    faults::run(&Selection { numbers: cli.only, extent, seed: cli.seed }, program).await
}
