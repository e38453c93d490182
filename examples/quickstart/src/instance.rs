//! One instance of a small service: it connects, migrates, and would serve then. A process of its own.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kandra_migrate::{Outcome, Report, Runner};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use tracing_subscriber::EnvFilter;

use crate::Failure;
use crate::migrations::{FIRST_RELEASE, MIGRATIONS};

// For show only, so that the instance that is killed is soon succeeded. Leave the defaults (60 s, 10 s, 30 s) in
// production: there a lease this short lapses with every hiccup of the cluster, and a statement that just takes long
// counts as lost.
const LEASE: Duration = Duration::from_secs(9);
const HEARTBEAT: Duration = Duration::from_secs(2);
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(4);

/// What an instance is told by its command line.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) name: String,
    pub(crate) release: String,
    pub(crate) keyspace: String,
    pub(crate) hosts: Vec<String>,
}

/// A session as a service would build it.
pub(crate) async fn connect(hosts: &[String]) -> Result<Session, Failure> {
    // The runner awaits agreement by itself, and sooner.
    let session = SessionBuilder::new().known_nodes(hosts).auto_await_schema_agreement(false).build().await;
    session.map_err(|error| format!("no session with {}: {error}", hosts.join(", ")).into())
}

/// Migrates, and says so.
pub(crate) async fn run(arguments: Arguments) -> Result<(), Failure> {
    log_to_stdout();
    let session = Arc::new(connect(&arguments.hosts).await?);
    let started = Instant::now();

    let runner = Runner::new(Arc::clone(&session), &MIGRATIONS)
        .keyspace(arguments.keyspace)
        .application(arguments.name);
    let migrated = match arguments.release.as_str() {
        // The first release's binary would not have the newer migrations; this one has, and stops before them.
        "first" => runner.run_to(FIRST_RELEASE).await,
        _ => runner.lease(LEASE).heartbeat(HEARTBEAT).statement_timeout(STATEMENT_TIMEOUT).run().await,
    };
    // The long form: the causes, what is applied already, and what to do next.
    let report = migrated.map_err(|error| error.explain())?;

    let (took, requests) = (started.elapsed().as_millis(), requests(&session));
    println!("ready: {} ({took} ms, requests: {requests})", what_happened(&report));
    Ok(())
}

fn what_happened(report: &Report) -> String {
    match &report.outcome {
        Outcome::AlreadyCurrent => "nothing to do".to_owned(),
        Outcome::Migrated => format!("applied {}", report.applied.len()),
        Outcome::WaitedFor(holder) => format!("waited for {holder}"),
        other => format!("{other:?}"),
    }
}

/// What the session was asked to send so far; connecting is not counted.
fn requests(session: &Session) -> u64 {
    let metrics = session.get_metrics();
    metrics.get_requests_unpaged_num() + metrics.get_requests_manually_paged_num()
}

/// The library logs by `tracing`; here its events are the story.
fn log_to_stdout() {
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new("kandra_migrate=info"))
        .with_writer(io::stdout)
        .with_ansi(false)
        .with_level(false)
        .with_target(false)
        .without_time()
        .init();
}
