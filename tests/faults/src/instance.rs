//! An instance of a service: a process of its own, so that `kill -9` and SIGSTOP are real.

use std::collections::HashMap;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kandra_migrate::{Registry, Runner, Wait};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::check::Ended;
use crate::plans::Image;
use crate::times::{HEARTBEAT, LEASE, STATEMENT_TIMEOUT};
use crate::trouble::{Result, Trouble};

/// Nodes may be stopped while an instance starts.
const SESSION_ATTEMPTS_MAX: u32 = 5;
const SESSION_SECS_MAX: Duration = Duration::from_secs(90);

/// What an instance is told.
#[derive(Clone, Debug, clap::Args)]
pub struct Instance {
    /// Its name in the ledger
    #[arg(long)]
    pub name: String,
    /// What it has compiled in
    #[arg(long)]
    pub image: Image,
    /// The keyspace
    #[arg(long)]
    pub keyspace: String,
    /// A node's own address, and where to reach it
    #[arg(long = "node", value_name = "ADDRESS=ADDRESS", value_parser = route)]
    pub nodes: Vec<(SocketAddr, SocketAddr)>,
    /// How many runs it makes at once
    #[arg(long, default_value_t = 1)]
    pub runs: usize,
    /// How long it waits for others
    #[arg(long, default_value_t = 600)]
    pub wait_secs: u64,
    /// The longest pause before a free lease is asked for
    #[arg(long, default_value_t = 0)]
    pub jitter_ms: u64,
    /// Drops the run's future at the first line of its input, and runs again
    #[arg(long)]
    pub drop_on_line: bool,
}

/// A node's own address, and where to reach it.
fn route(text: &str) -> std::result::Result<(SocketAddr, SocketAddr), String> {
    let parsed = text.split_once('=').and_then(|(node, by)| Some((node.parse().ok()?, by.parse().ok()?)));
    parsed.ok_or_else(|| format!("`{text}` is no address=address"))
}

impl Instance {
    /// Runs, and prints how each run ended.
    pub async fn main(self) -> Result<()> {
        let session = session(&self.nodes).await?;
        let registry = Arc::new(self.image.registry());
        let stopping = on_sigterm()?;
        let told = on_line();
        let mut runs = JoinSet::new();
        for n in 0..self.runs {
            let name = if self.runs == 1 { self.name.clone() } else { format!("{}-{n}", self.name) };
            let one = One {
                instance: self.clone(),
                session: Arc::clone(&session),
                registry: Arc::clone(&registry),
                stopping: stopping.clone(),
            };
            let mut told = told.clone();
            runs.spawn(async move {
                if one.instance.drop_on_line {
                    tokio::select! {
                        ended = one.run(&name) => return ended,
                        _ = told.wait_for(|told| *told) => {}
                    }
                    return one.run(&format!("{name}-again")).await;
                }
                one.run(&name).await
            });
        }
        while let Some(ended) = runs.join_next().await {
            let text =
                serde_json::to_string(&ended?).map_err(|error| Trouble::database("a result", error))?;
            // A test that is gone hears nothing.
            let _ = writeln!(std::io::stdout(), "{text}");
        }
        Ok(())
    }
}

struct One {
    instance: Instance,
    session: Arc<Session>,
    registry: Arc<Registry>,
    stopping: watch::Receiver<bool>,
}

impl One {
    async fn run(&self, name: &str) -> Ended {
        let mut stopping = self.stopping.clone();
        let stop = async move {
            // Without its sender nobody asks for a stop.
            if stopping.wait_for(|stopping| *stopping).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let result = Runner::new(Arc::clone(&self.session), &self.registry)
            .keyspace(&self.instance.keyspace)
            .application(name)
            .lease(LEASE)
            .heartbeat(HEARTBEAT)
            .statement_timeout(STATEMENT_TIMEOUT)
            .drain(self.instance.image.drain())
            .start_jitter(Duration::from_millis(self.instance.jitter_ms))
            .wait(Wait::UpTo(Duration::from_secs(self.instance.wait_secs)))
            .shutdown_on(stop)
            .run()
            .await;
        let (code, text) = match result {
            Ok(report) => (None, report.to_string()),
            Err(error) => (Some(error.code().to_string()), format!("{error:?}")),
        };
        Ended { run: name.to_owned(), versions: self.instance.image.spec().numbers(), code, text }
    }
}

fn on_sigterm() -> Result<watch::Receiver<bool>> {
    let handler = signal(SignalKind::terminate());
    let mut signals =
        handler.map_err(|source| Trouble::Io { what: "wait for SIGTERM".to_owned(), source })?;
    let (sender, stopping) = watch::channel(false);
    tokio::spawn(async move {
        if signals.recv().await.is_some() {
            sender.send_replace(true);
        }
        // Kept, so that those who wait for a stop do not take its end for one.
        std::future::pending::<()>().await;
    });
    Ok(stopping)
}

/// Turns true at the first line of the input. At its end the test is gone, however it went, and nobody else would end this
/// process.
fn on_line() -> watch::Receiver<bool> {
    let (sender, told) = watch::channel(false);
    std::thread::spawn(move || {
        for _ in std::io::stdin().lines().map_while(std::result::Result::ok) {
            sender.send_replace(true);
        }
        std::process::exit(1);
    });
    told
}

/// A session through these addresses.
pub(crate) async fn session(nodes: &[(SocketAddr, SocketAddr)]) -> Result<Arc<Session>> {
    let routes: HashMap<_, _> = nodes.iter().copied().collect();
    let mut attempts = 0;
    loop {
        let builder = SessionBuilder::new()
            .known_nodes_addr(nodes.iter().map(|(_, by)| by))
            .address_translator(Arc::new(routes.clone()))
            .auto_await_schema_agreement(false)
            // There are many keyspaces, and their schemas change all the time.
            .fetch_schema_metadata(false)
            .keepalive_interval(Duration::from_secs(5))
            .keepalive_timeout(Duration::from_secs(10));
        let error: Box<dyn std::error::Error + Send + Sync> =
            match tokio::time::timeout(SESSION_SECS_MAX, builder.build()).await {
                Ok(Ok(session)) => return Ok(Arc::new(session)),
                Ok(Err(error)) => error.into(),
                Err(error) => error.into(),
            };
        attempts += 1;
        if attempts == SESSION_ATTEMPTS_MAX {
            return Err(Trouble::database("connect", error));
        }
    }
}
