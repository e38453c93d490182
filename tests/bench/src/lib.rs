//! What kandra-migrate costs, as ratios to the bare driver in the same run, and how long a change of holder takes.
//!
//! ```text
//! cargo bench -p bench                        # a table, and target/bench/results.json
//! cargo bench -p bench -- --quick             # a smoke run of 2 minutes; its figures mean little
//! cargo bench -p bench -- noop handover       # only these
//! ```
//!
//! Cassandra nodes of its own are started for it, three and then one; `KANDRA_TEST_HOSTS` names another database.
//! Measurements that are compared alternate, so that a machine that slows down slows both; the figure is the median of the ratios.
//! Nothing here fails because it is slow: the table says which goals were missed.

mod apply;
mod arguments;
mod backfill;
mod catalogue;
mod checkpoints;
mod figure;
mod fleet;
mod holder;
mod memory;
mod noop;
mod relay;
mod script;
mod server;
mod spread;
mod succession;
mod tap;
mod tenants;

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
    checkpoints::listen();
    let mut figures = Vec::new();
    if arguments.wants(&["split_10mb"]) {
        figures.push(script::measure(arguments)?);
    }
    // Servers are started before the runtime is entered: it blocks. Each ends before the next one starts.
    if arguments.wants(&arguments::OF_THREE_NODES) {
        let server = Server::start(3)?;
        figures.extend(runtime.block_on(measure(arguments, &server))?);
    }
    if arguments.wants(&arguments::OF_ONE_NODE) {
        let server = Server::start(1)?;
        figures.extend(runtime.block_on(measure_one_node(arguments, &server))?);
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
    if arguments.wants(&["backfill_1m_three"]) {
        figures.push(backfill::measure(server, arguments, "backfill_1m_three").await?);
    }
    Ok(figures)
}

async fn measure_one_node(arguments: &Arguments, server: &Server) -> Result<Vec<Figure>, Error> {
    let mut figures = Vec::new();
    if arguments.wants(&["backfill_1m_one"]) {
        figures.push(backfill::measure(server, arguments, "backfill_1m_one").await?);
    }
    if arguments.wants(&["tenants500"]) {
        figures.push(tenants::measure(server, arguments).await?);
    }
    Ok(figures)
}
