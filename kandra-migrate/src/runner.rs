//! The one thing that an application calls.

mod each;
mod look;
mod parts;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use scylla::client::session::Session;
use scylla::statement::{Consistency, SerialConsistency};
use tokio::sync::watch;

use crate::boxed::{BoxFuture, boxed};
use crate::clock::{Dice, SystemClock};
use crate::control::Control;
use crate::cql::{Value, Variables};
use crate::engine::{Env, Executor, Identity, Observer, Progress, Run, Settings, Shutdown, Wait};
use crate::error::Error;
use crate::executor::CqlExecutor;
use crate::ledger::MAIN_SCOPE;
use crate::registry::Registry;
use crate::report::Report;

pub use each::{EachReport, RunEach};
pub(crate) use parts::{Deferred, Parts, info};

/// How long [`Runner::run_deferred`] waits for another instance unless it is told: one that works on a backfill has hours
/// to go.
const WAIT_DEFERRED: Duration = Duration::from_secs(24 * 60 * 60);

/// Brings a keyspace to the schema that the application needs, or waits until another instance has.
///
/// ```no_run
/// # async fn example(session: scylla::client::session::Session) -> Result<(), kandra_migrate::Error> {
/// kandra_migrate::registry!(pub static MIGRATIONS);
///
/// let report = kandra_migrate::Runner::new(session, &MIGRATIONS).keyspace("shop").run().await?;
/// println!("{report}");
/// # Ok(())
/// # }
/// ```
///
/// The session is the caller's and stays as it is: the runner sets timeout, consistency and retry policy on each of
/// its own statements. Built with `auto_await_schema_agreement(false)` it makes a run with many schema statements
/// faster, since the runner's own wait for agreement polls faster than the driver's (every 200 ms).
///
/// # Defaults
/// | setting | default |
/// |---|---|
/// | [`wait`](Runner::wait) | up to 10 min; of [`run_deferred`](Runner::run_deferred) a day |
/// | [`lease`](Runner::lease) | 60 s |
/// | [`heartbeat`](Runner::heartbeat) | 10 s |
/// | [`statement_timeout`](Runner::statement_timeout) | 30 s |
/// | [`drain`](Runner::drain) | 20 s |
/// | [`start_jitter`](Runner::start_jitter) | up to 1 s |
/// | [`agreement_timeout`](Runner::agreement_timeout) | 90 s |
/// | [`unreachable_after`](Runner::unreachable_after) | 60 s |
/// | [`consistency`](Runner::consistency) of a plan's statements | `QUORUM` |
/// | [`serial_consistency`](Runner::serial_consistency) | `SERIAL` |
/// | a code task's total time | no limit |
/// | a code task's time without progress | 10 min |
/// | a task's retries | 0 |
#[must_use = "a runner does nothing until one of its verbs is awaited"]
pub struct Runner<'r> {
    session: Arc<Session>,
    registry: &'r Registry,
    /// One for all keyspaces: it opens a file.
    clock: Arc<SystemClock>,
    keyspace: Option<String>,
    ledger_keyspace: Option<String>,
    variables: Variables,
    application: Option<String>,
    serial: SerialConsistency,
    consistency: Consistency,
    table_ids: bool,
    scope: String,
    settings: Settings,
    /// Whether the settings' wait is not the default.
    wait_is_set: bool,
    /// In a mutex that nobody waits for: it makes the runner `Sync`, and with it the futures that borrow it `Send`.
    shutdown: Mutex<Option<BoxFuture<'r, ()>>>,
}

impl fmt::Debug for Runner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner")
            .field("keyspace", &self.keyspace)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl<'r> Runner<'r> {
    /// A runner of these migrations through this session.
    pub fn new(session: impl Into<Arc<Session>>, registry: &'r Registry) -> Self {
        Self {
            session: session.into(),
            registry,
            clock: Arc::new(SystemClock::new()),
            keyspace: None,
            ledger_keyspace: None,
            variables: Variables::new(),
            application: None,
            serial: SerialConsistency::Serial,
            consistency: Consistency::Quorum,
            table_ids: true,
            scope: MAIN_SCOPE.to_owned(),
            settings: Settings::default(),
            wait_is_set: false,
            shutdown: Mutex::new(None),
        }
    }

    /// The keyspace to migrate, as it is stored: without quotes, its case kept. Default: the session's keyspace.
    pub fn keyspace(mut self, keyspace: impl Into<String>) -> Self {
        self.keyspace = Some(keyspace.into());
        self
    }

    /// The keyspace that has the ledger's table. Default: the one that is migrated.
    ///
    /// One such keyspace, as in `"ops"`, does for any number of migrated ones: each has a lease and a history of its own in
    /// that table. Migrations may then create and drop the keyspace that they migrate, and a service's own user needs no
    /// right to change its schema. The keyspace itself has to be there; its replication decides whether anything can be
    /// migrated while nodes are down. The session's user needs `SELECT` and `MODIFY` on it, and `CREATE` for the first run.
    ///
    /// All that run, look at or repair these migrations have to say the same. A run that finds no history in its table
    /// looks whether another one of the cluster has it, as far as the user may read, and is refused then:
    /// [`KM0014`](crate::Code::LedgerElsewhere). The history does not go away with the migrated keyspace: after a
    /// `DROP KEYSPACE` by hand it says that everything is applied.
    ///
    /// ```no_run
    /// # use kandra_migrate::{Registry, Runner};
    /// # async fn example(session: scylla::client::session::Session, migrations: &Registry) -> Result<(), kandra_migrate::Error> {
    /// Runner::new(session, migrations).keyspace("shop").ledger_keyspace("ops").run().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn ledger_keyspace(mut self, keyspace: impl Into<String>) -> Self {
        self.ledger_keyspace = Some(keyspace.into());
        self
    }

    /// Creates the keyspace where it is missing, with this replication, as in
    /// `"{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}"`. Default: a missing keyspace is an error.
    pub fn create_keyspace(mut self, replication: impl Into<String>) -> Self {
        self.settings.create_keyspace = Some(replication.into());
        self
    }

    /// What `${name}` stands for in statements: in plans, in files of CQL, and in what code tasks send.
    ///
    /// ```no_run
    /// # use kandra_migrate::{Registry, Runner, Value};
    /// # async fn example(session: scylla::client::session::Session, migrations: &Registry) -> Result<(), kandra_migrate::Error> {
    /// Runner::new(session, migrations)
    ///     .keyspace("shop")
    ///     .variable("ttl", 86_400)
    ///     .variable("archive", "shop_archive") // "shop_archive" as a name, 'shop_archive' as a value
    ///     .variable("caching", Value::literal("{'keys': 'ALL', 'rows_per_partition': 10}"))
    ///     .run()
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A variable stands where CQL has a whole name or value, and a text is quoted as its place needs: it cannot become
    /// anything else. In a string it is not replaced, and in a comment it means nothing. One without a value is
    /// [`KM0047`](crate::Code::VariableMissing), for all pending plans before the first statement is sent.
    ///
    /// `${keyspace}` is always there, and `${replication}` where [`Runner::create_keyspace`] says one. The checksum is of
    /// the text with its variables, so that one migration is the same everywhere; the journal has the digest of what
    /// was sent.
    pub fn variable(mut self, name: impl AsRef<str>, value: impl Into<Value>) -> Self {
        self.variables.set(name.as_ref(), value.into());
        self
    }

    /// Names the application in the ledger and in other instances' messages, as in `"shop 1.4.2"`.
    pub fn application(mut self, application: impl Into<String>) -> Self {
        self.application = Some(application.into());
        self
    }

    /// What to do while another instance holds the lease.
    pub fn wait(mut self, wait: Wait) -> Self {
        self.settings.wait = wait;
        self.wait_is_set = true;
        self
    }

    /// How long a lease outlives its holder's last sign of life. At least 3 s.
    ///
    /// After that another instance takes over from one that was killed. It then waits for what that one may still have
    /// in flight: see [`Runner::drain`].
    pub fn lease(mut self, lease: Duration) -> Self {
        self.settings.lease = lease;
        self
    }

    /// How often the lease is renewed. At most a third of the lease.
    pub fn heartbeat(mut self, heartbeat: Duration) -> Self {
        self.settings.heartbeat = heartbeat;
        self
    }

    /// When the outcome of a statement counts as unknown. At most two thirds of the lease less a heartbeat, and above
    /// the server's own timeouts: a client that gives up first turns failures into unknown outcomes.
    pub fn statement_timeout(mut self, timeout: Duration) -> Self {
        self.settings.statement_timeout = timeout;
        self
    }

    /// How long a data statement of unknown outcome may still land: the server's own bound on it, by its own clock. What
    /// comes after such a statement waits half as long again, since this clock may run faster; after the takeover of a
    /// run that died in a step on data or of code, counted from the end of its lease.
    pub fn drain(mut self, time: Duration) -> Self {
        self.settings.drain_data = time;
        self
    }

    /// The longest pause before a free lease is asked for. It spreads a fleet that starts at once; a command line and
    /// tests want zero.
    pub fn start_jitter(mut self, jitter: Duration) -> Self {
        self.settings.start_jitter = jitter;
        self
    }

    /// How long the nodes may take to agree on a schema. A node of Cassandra 4 or 5 that has missed a change asks for it
    /// only after a minute (`cassandra.migration_delay_ms`), so less than that gives up on what heals by itself.
    pub fn agreement_timeout(mut self, timeout: Duration) -> Self {
        self.settings.agreement_timeout = timeout;
        self
    }

    /// How long a run goes on asking a cluster that does not answer.
    pub fn unreachable_after(mut self, time: Duration) -> Self {
        self.settings.unreachable_after = time;
        self
    }

    /// `Serial` spans data centres; `LocalSerial` lets each data centre grant the lease on its own, so it is only for
    /// a keyspace that all instances reach through one data centre. The ledger remembers it; another level is refused.
    pub fn serial_consistency(mut self, level: SerialConsistency) -> Self {
        self.serial = level;
        self.settings.serial_cl = match level {
            SerialConsistency::Serial => "SERIAL",
            SerialConsistency::LocalSerial => "LOCAL_SERIAL",
        };
        self
    }

    /// The consistency of the statements of a plan and of its code tasks. Default: `Quorum`.
    pub fn consistency(mut self, level: Consistency) -> Self {
        self.consistency = level;
        self
    }

    /// Whether tables and materialized views are created with ids that the runner chooses. Default: true.
    ///
    /// Without them, a CREATE that lands late from a node that was stopped replaces the table that was made meanwhile,
    /// and its rows are lost. A server that refuses ids is remembered, with a warning; this is for services that
    /// misbehave with them.
    pub fn table_ids(mut self, with_ids: bool) -> Self {
        self.table_ids = with_ids;
        self
    }

    /// Calls this function with what a run does, as it does it: to show how far it is. It must not block, since the run
    /// waits for it.
    ///
    /// ```no_run
    /// # use kandra_migrate::{Progress, Registry, Runner};
    /// # async fn example(session: scylla::client::session::Session, migrations: &Registry) -> Result<(), kandra_migrate::Error> {
    /// let (sender, receiver) = tokio::sync::watch::channel(None);
    /// let runner = Runner::new(session, migrations).on_progress(move |progress| drop(sender.send_replace(Some(progress))));
    /// // `receiver` is for whoever is asked how far it is.
    /// # drop(receiver);
    /// runner.run_deferred().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(mut self, tell: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.settings.observer = Observer::new(tell);
        self
    }

    /// Stops gracefully once this future ends: no new step begins, the statement under way ends and is recorded, the
    /// lease is given back, and [`Runner::run`] returns [`KM0062`](crate::Code::Shutdown). The next run goes on at
    /// once. The crate installs no signal handler of its own.
    pub fn shutdown_on(mut self, stop: impl Future<Output = ()> + Send + 'r) -> Self {
        self.shutdown = Mutex::new(Some(boxed(stop)));
        self
    }

    /// Applies what is pending, in the order of the versions; or waits until another instance has.
    ///
    /// `Ok` means that every version of the registry is applied with a compatible checksum (or, with
    /// [`Wait::ReturnPending`], that another instance is at it). Where nothing is to be done, this is one read.
    ///
    /// It ends before the first version that is `after_start` and not applied: that one and all behind it are
    /// [deferred](Report::deferred), whether another instance is at them or not, and left to [`Runner::run_deferred`].
    /// That a deferred version has failed or is paused is a warning of the report.
    ///
    /// Dropping the future is safe, but leaves the lease to lapse: use [`Runner::shutdown_on`].
    ///
    /// # Errors
    /// See [`Code`](crate::Code): an error has done no more than its [`report`](Error::report) says.
    pub async fn run(self) -> Result<Report, Error> {
        self.run_up_to(None, Deferred::Left).await
    }

    /// Like [`Runner::run`], up to and including this version. It too ends before what is deferred.
    pub async fn run_to(self, version: i64) -> Result<Report, Error> {
        self.run_up_to(Some(version), Deferred::Left).await
    }

    /// Applies everything, with what [`Runner::run`] leaves: the versions that are `after_start`, and those behind them. For
    /// a task beside the service, once that is ready, or for a job.
    ///
    /// ```no_run
    /// # use kandra_migrate::{Registry, Runner};
    /// # use std::sync::Arc;
    /// # async fn example(session: Arc<scylla::client::session::Session>, migrations: &'static Registry) -> Result<(), kandra_migrate::Error> {
    /// Runner::new(Arc::clone(&session), migrations).run().await?;
    /// // The service is ready.
    /// tokio::spawn(Runner::new(session, migrations).run_deferred());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// All instances may call it: one works, the others wait, and one of them goes on if that one dies. Unless
    /// [`Runner::wait`] says otherwise, they wait up to a day. Use [`Runner::shutdown_on`], so that a service that stops
    /// does not make the next one wait for its lease, and [`Runner::on_progress`] to see how far it is.
    ///
    /// # Errors
    /// Those of [`Runner::run`].
    pub async fn run_deferred(self) -> Result<Report, Error> {
        self.run_up_to(None, Deferred::Applied).await
    }

    pub(crate) async fn run_up_to(mut self, up_to: Option<i64>, deferred: Deferred) -> Result<Report, Error> {
        self.settings.up_to = up_to;
        self.wait_as_usual_for(deferred);
        let stop = self.shutdown.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let parts = self.parts()?.of_run(deferred);
        let (request, shutdown) = Shutdown::new();
        let run = boxed(self.run_parts(parts, shutdown, std::convert::identity));
        stoppable(run, request, stop).await
    }

    /// Sets how long is waited, if the caller has not.
    fn wait_as_usual_for(&mut self, deferred: Deferred) {
        if deferred == Deferred::Applied && !self.wait_is_set {
            self.settings.wait = Wait::UpTo(WAIT_DEFERRED);
        }
    }

    /// Up to and including this version, what is deferred too; stopped by the caller, with an executor that is made of the
    /// runner's own.
    #[cfg(feature = "testing")]
    pub(crate) async fn run_over<X: Executor>(
        mut self,
        up_to: Option<i64>,
        shutdown: Shutdown,
        over: impl FnOnce(CqlExecutor) -> X + Send,
    ) -> Result<Report, Error> {
        self.settings.up_to = up_to;
        let parts = self.parts()?;
        boxed(self.run_parts(parts, shutdown, over)).await
    }

    async fn run_parts<X: Executor>(
        &self,
        parts: Parts,
        shutdown: Shutdown,
        over: impl FnOnce(CqlExecutor) -> X + Send,
    ) -> Result<Report, Error> {
        let dice = Dice::system();
        let executor = over(parts.executor);
        let identity =
            Identity { owner: dice.nonce(), info: info(self.application.as_deref()), reason: None };
        let run = Run::new(
            Env { store: &parts.store, clock: parts.clock.as_ref(), dice: &dice, settings: &self.settings },
            &executor,
            identity,
            parts.catalog,
            parts.destination,
            shutdown,
            parts.table,
        );
        run.run().await
    }

    /// The verbs of an operator.
    #[must_use]
    pub fn control(self) -> Control<'r> {
        Control::new(self)
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// With a history of its own, beside the one that all others have.
    #[cfg(feature = "testing")]
    pub(crate) fn scope(mut self, scope: String) -> Self {
        self.scope = scope;
        self
    }

    pub(crate) fn application_name(&self) -> Option<&str> {
        self.application.as_deref()
    }

    /// The keyspace to migrate, if one is set or the session has one.
    pub(crate) fn keyspace_name(&self) -> Option<String> {
        let of_session = || self.session.get_keyspace().map(|keyspace| keyspace.as_ref().clone());
        self.keyspace.clone().or_else(of_session)
    }
}

/// A run to its end, which is asked to stop once `stop` has ended.
async fn stoppable<T>(
    run: impl Future<Output = T>,
    request: watch::Sender<bool>,
    stop: Option<impl Future<Output = ()>>,
) -> T {
    let Some(stop) = stop else { return run.await };
    let stopping = async move {
        stop.await;
        request.send_replace(true);
        std::future::pending::<std::convert::Infallible>().await
    };
    tokio::select! {
        biased;
        ended = run => ended,
        never = stopping => match never {},
    }
}

#[cfg(test)]
mod tests {
    use super::{RunEach, Runner};

    #[test]
    fn the_futures_of_all_verbs_can_be_spawned() {
        fn is_send<T: Send>(_: impl Fn(Runner<'static>) -> T) {}
        is_send(Runner::run);
        is_send(Runner::run_deferred);
        is_send(|runner| runner.run_each(["shop".to_owned()], RunEach::default()));
        is_send(Runner::verify);
        is_send(Runner::plan);
        is_send(Runner::status);
        is_send(|runner| async move { runner.control().resume("it is over").await });
    }
}
