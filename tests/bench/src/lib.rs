//! What kandra-migrate costs, as ratios to the bare driver in the same run, and how long a change of holder takes.
//!
//! ```text
//! cargo bench -p bench                        # about 15 minutes: a table, and target/bench/results.json
//! cargo bench -p bench -- --quick             # a smoke run of 2 minutes; its figures mean little
//! cargo bench -p bench -- noop handover       # only these
//! ```
//!
//! Three Cassandra nodes of its own are started for it; `KANDRA_TEST_HOSTS` names another database. Measurements that
//! are compared alternate, so that a machine that slows down slows both; the figure is the median of the ratios.
//! Nothing here fails because it is slow: the table says which goals were missed.

mod apply;
mod arguments;
mod catalogue;
mod figure;
mod fleet;
mod holder;
mod noop;
mod relay;
mod script;
mod server;
mod spread;
mod succession;
mod tap;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser as _;

use arguments::Arguments;
use figure::Figure;
use server::Server;

/// The process ends with what went wrong; nobody handles it.
type Error = Box<dyn std::error::Error + Send + Sync>;

/// Runs what the command line asks for, and leaves the figures in `target/bench`.
///
/// # Panics
/// Where no thread can be started.
#[must_use]
pub fn main(target: &Path) -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments, target) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments, target: &Path) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if let Some(keyspace) = &arguments.hold {
        return runtime.block_on(holder::hold(&arguments.hosts, keyspace));
    }
    let mut figures = Vec::new();
    if arguments.wants(&["split_10mb"]) {
        figures.push(script::measure(arguments)?);
    }
    if arguments.wants(&arguments::OF_SERVER) {
        // Before the runtime is entered: it blocks.
        let server = Server::start()?;
        figures.extend(runtime.block_on(measure(arguments, &server))?);
    }
    println!("\n{}", figure::table(&figures));
    let file = target.join("bench").join(if arguments.quick { "quick.json" } else { "results.json" });
    figure::write(&figures, &file)?;
    println!("{}", file.display());
    Ok(())
}

async fn measure(arguments: &Arguments, server: &Server) -> Result<Vec<Figure>, Error> {
    let mut figures = Vec::new();
    if arguments.wants(&["noop"]) {
        figures.push(noop::measure(server, arguments).await?);
    }
    if arguments.wants(&["apply50_default", "apply50_tuned", "one_version_50"]) {
        figures.extend(apply::measure(server, arguments).await?);
    }
    if arguments.wants(&["fleet100"]) {
        figures.push(fleet::measure(server, arguments).await?);
    }
    if arguments.wants(&["takeover"]) {
        figures.push(succession::takeover(server, arguments).await?);
    }
    if arguments.wants(&["handover"]) {
        figures.push(succession::handover(server, arguments).await?);
    }
    Ok(figures)
}
