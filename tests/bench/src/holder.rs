//! A process that holds the lease until it is killed or asked to stop, and what its successor notes.

use std::io::{Read as _, Write as _};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use kandra_migrate::{Code, Plan, Runner, TaskContext, TaskResult, code};

use crate::Error;
use crate::catalogue;
use crate::server;

/// What a holder prints once its step is under way.
pub(crate) const BEGUN: &str = "begun";

pub(crate) const LEASE: Duration = Duration::from_secs(6);
const HEARTBEAT: Duration = Duration::from_secs(1);
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(3);

/// Set in a process that holds.
static HOLDS: OnceLock<()> = OnceLock::new();

/// When the step began in a process that does not hold.
static SUCCEEDED_AT: Mutex<Option<Instant>> = Mutex::new(None);

/// One step, which a holder never ends.
pub(crate) fn plan() -> Plan {
    Plan::new([code("held", step).idempotent()])
}

async fn step(_: TaskContext) -> TaskResult {
    if HOLDS.get().is_some() {
        let mut stdout = std::io::stdout();
        writeln!(stdout, "{BEGUN}")?;
        stdout.flush()?;
        std::future::pending::<()>().await;
    }
    *SUCCEEDED_AT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    Ok(())
}

/// When the step began in this process, if it has since this was last asked.
pub(crate) fn succeeded_at() -> Option<Instant> {
    SUCCEEDED_AT.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// A runner with a lease that is short enough to be waited for.
pub(crate) fn with_short_lease(runner: Runner<'_>) -> Runner<'_> {
    runner.lease(LEASE).heartbeat(HEARTBEAT).statement_timeout(STATEMENT_TIMEOUT)
}

/// Holds the lease until the process is killed or its standard input ends.
pub(crate) async fn hold(hosts: &[String], keyspace: &str) -> Result<(), Error> {
    HOLDS.get_or_init(|| ());
    let (stop, stopped) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        // Whatever ends it, nobody is there who wants this process.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        stop.send(())
    });
    let registry = catalogue::held();
    let runner = Runner::new(server::session(hosts).await?, &registry).keyspace(keyspace);
    let runner = with_short_lease(runner).shutdown_on(async {
        let _ = stopped.await;
    });
    match runner.run().await {
        Err(error) if error.code() == Code::Shutdown => Ok(()),
        Err(error) => Err(error.into()),
        Ok(report) => Err(format!("the holder's step has ended: {report}").into()),
    }
}
