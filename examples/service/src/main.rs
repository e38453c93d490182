//! A service that migrates at start: live at once, ready when migrated, and stopped gracefully at any time. A backfill
//! that takes long goes on while it serves.
//!
//! ```text
//! cargo run -p service &
//! curl -i localhost:8080/ready
//! curl localhost:8080/users/7
//! curl localhost:8080/progress
//! ```
//!
//! [`start`] and [`finish`] are the part that concerns kandra-migrate. Exit codes: 0 after SIGTERM or Ctrl-C, in the middle of a
//! migration too; 1 where the start failed. [`settings::Settings`] lists the environment variables.

mod http;
mod migrations;
mod progress;
mod settings;
mod stop;
mod users;

use std::error::Error;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use http::Service;
use kandra_migrate::Runner;
use migrations::MIGRATIONS;
use progress::Deferred;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use settings::Settings;
use stop::Stop;
use tokio::net::TcpListener;
use tokio::time::timeout;
use tracing_subscriber::EnvFilter;
use users::Users;

/// Whatever keeps the service from its work.
type Failure = Box<dyn Error + Send + Sync>;

/// For one connection to one node.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Between two signs of life of a connection, and for the answer. A node that hangs is found by nothing else.
const KEEPALIVE: Duration = Duration::from_secs(5);
/// For the session as a whole.
const SESSION_TIMEOUT: Duration = Duration::from_secs(30);

#[tokio::main]
async fn main() -> ExitCode {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info,scylla=warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(io::stdout().is_terminal()).init();
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// Serves from the first moment on, and migrates beside it.
async fn serve() -> Result<(), Failure> {
    let settings = Settings::from_env()?;
    let stop = Stop::on_signals()?;
    let service = Service::default();

    let listener = TcpListener::bind(&settings.listen).await?;
    tracing::info!(address = %listener.local_addr()?, "serves");
    // A task of its own: it answers whatever the migrations do.
    let server = tokio::spawn(http::serve(listener, service.clone(), stop.clone()));
    let started = start(&settings, &service, &stop).await;
    if started.is_err() {
        stop.request();
    }
    server.await??;
    started
}

/// Connects, migrates, makes the service ready, and then does what the start did not wait for. Whoever asks it to stop
/// meanwhile has not made it fail.
async fn start(settings: &Settings, service: &Service, stop: &Stop) -> Result<(), Failure> {
    let session = tokio::select! {
        session = connect(&settings.hosts) => Arc::new(session?),
        () = stop.clone().requested() => return Ok(()),
    };
    match runner(&session, settings, stop).run().await {
        Ok(report) => tracing::info!("{report}"),
        Err(error) if error.is_shutdown() => {
            tracing::info!("{error}");
            return Ok(());
        }
        Err(error) => return Err(error.explain().into()),
    }
    let users = Users::new(Arc::clone(&session), &settings.keyspace).await?;
    // Nobody else comes here, so that it is empty.
    let _ = service.ready.set(users);
    finish(&session, settings, service, stop).await;
    Ok(())
}

/// Does what the start did not wait for: one instance of the fleet does it, and the next one goes on if it stops. That
/// it fails is for people to see, and no reason to stop serving.
async fn finish(session: &Arc<Session>, settings: &Settings, service: &Service, stop: &Stop) {
    let board = service.board.clone();
    let runner = runner(session, settings, stop).on_progress(move |progress| board.note(progress));
    service.board.set(match runner.run_deferred().await {
        Ok(report) => {
            tracing::info!("{report}");
            Deferred::Done
        }
        Err(error) if error.is_shutdown() => {
            tracing::info!("{error}");
            Deferred::Stopped
        }
        Err(error) => {
            tracing::error!("{}", error.explain());
            Deferred::Failed { error: error.to_string() }
        }
    });
}

fn runner<'r>(session: &Arc<Session>, settings: &Settings, stop: &Stop) -> Runner<'r> {
    let replication =
        format!("{{'class': 'NetworkTopologyStrategy', 'replication_factor': {}}}", settings.replicas);
    Runner::new(Arc::clone(session), &MIGRATIONS)
        .keyspace(&settings.keyspace)
        .create_keyspace(replication)
        .application(concat!("service ", env!("CARGO_PKG_VERSION")))
        // The statement under way ends and is recorded, then the lease is given back: the next instance goes on at
        // once, and does not wait until the lease lapses.
        .shutdown_on(stop.clone().requested())
}

async fn connect(hosts: &[String]) -> Result<Session, Failure> {
    let builder = SessionBuilder::new()
        .known_nodes(hosts)
        .connection_timeout(CONNECT_TIMEOUT)
        .keepalive_interval(KEEPALIVE)
        .keepalive_timeout(KEEPALIVE)
        // The runner awaits agreement by itself, and sooner.
        .auto_await_schema_agreement(false);
    let built = timeout(SESSION_TIMEOUT, builder.build()).await;
    let built = built.map_err(|_| format!("no session with {} in time", hosts.join(", ")))?;
    Ok(built.map_err(|error| format!("no session with {}: {error}", hosts.join(", ")))?)
}
