//! A run from its start: look, wait, take the lease, work.

use std::time::Duration;

use super::backoff::Backoff;
use super::catalog::Catalog;
use super::env::Env;
use super::executor::Executor;
use super::halt::Halt;
use super::hold::Holder;
use super::lease::{Identity, Journal, Lease};
use super::observer::Progress;
use super::patience::{Patience, patience};
use super::reader::Reader;
use super::remaining::{is_in_trouble, migration_report, tell_remaining, trouble_of_deferred};
use super::settings::Wait;
use super::shutdown::Shutdown;
use super::sighting::{Sighting, landed_by};
use super::stopped::{paused, stopped};
use super::verify::{begun_by_another_image, verify};
use crate::clock::Clock;
use crate::error::{Error, Problem};
use crate::ledger::{Event, FAILED, Head, Ledger};
use crate::mutant::{Mutant, is_broken};
use crate::plan::Destination;
use crate::port::StoreError;
use crate::report::{Outcome, Report};
use crate::store::{ReadLevel, Rows, Slice, Store};

/// The longest pause before a version that is left alone is looked at again.
const LEFT_ALONE_LONGEST: Duration = Duration::from_secs(5);

/// The newest events, among which a failure is that has just ended an epoch.
const FAILURE_EVENTS_MAX: i32 = 10;

/// One run.
pub struct Run<'a, S, C, X> {
    env: Env<'a, S, C>,
    reader: Reader<'a, S, C>,
    executor: &'a X,
    identity: Identity,
    catalog: Catalog,
    destination: Destination,
    shutdown: Shutdown,
    report: Report,
    /// The lease that another run holds, since when it was seen unchanged.
    sighting: Option<Sighting>,
    /// The frontier when the versions were last read.
    frontier_read: Option<String>,
    /// The last epoch that had ended when this run began.
    epoch_at_start: Option<i64>,
    /// Since when no write of this run was answered.
    unanswered_since: Option<Duration>,
    started: Duration,
    pace: Backoff,
    /// They were looked at, and nothing stands in the way.
    premises_hold: bool,
}

/// What a watcher does next.
enum Standing {
    /// Everything this binary needs is applied, but for what is deferred.
    Current,
    /// Nobody has the lease.
    Free(Option<Head>),
    /// The holder has let it lapse.
    Lapsed(Head, Sighting),
    /// Somebody has it.
    Held,
    /// The first pending version is not begun for a while, or this is the error.
    NotYet(Duration, Problem),
}

/// How far a frontier is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// Everything is applied: proof at any consistency, since only decided values can be read.
    All,
    /// Only what is deferred is left, and nothing is wrong with that.
    Deferred,
    /// The versions have to be read.
    Less,
}

impl<'a, S: Store, C: Clock, X: Executor> Run<'a, S, C, X> {
    /// A run that has not looked yet. `table` names the ledger in messages.
    pub fn new(
        env: Env<'a, S, C>,
        executor: &'a X,
        identity: Identity,
        catalog: Catalog,
        destination: Destination,
        shutdown: Shutdown,
        table: String,
    ) -> Self {
        let keyspace = destination.keyspace.clone();
        Self {
            env,
            reader: Reader { env, shutdown: shutdown.clone(), creates: false, keyspace, table },
            executor,
            identity,
            catalog,
            destination,
            shutdown,
            report: Report::new(),
            sighting: None,
            frontier_read: None,
            epoch_at_start: None,
            unanswered_since: None,
            started: env.clock.now(),
            pace: Backoff::of_watchers(),
            premises_hold: false,
        }
    }

    /// Brings the keyspace to where the binary needs it, or waits until another run has.
    pub async fn run(mut self) -> Result<Report, Error> {
        match self.drive().await {
            Ok(()) => Ok(self.report),
            Err(problem) => Err(Error::from(self.reader.located(problem)).with_report(self.report)),
        }
    }

    /// The report of a run that has nothing to do; `None` where there may be something.
    pub async fn current(mut self) -> Result<Option<Report>, Error> {
        let current = self.is_current().await.map_err(|problem| Error::from(self.reader.located(problem)))?;
        Ok(current.then(|| {
            self.finish();
            self.report
        }))
    }

    async fn drive(&mut self) -> Result<(), Problem> {
        loop {
            let ended = match self.look().await? {
                Standing::Current => true,
                // Boxed: most runs never get there, and its state is most of what a run's future would carry.
                Standing::Free(seen) => Box::pin(self.try_to_lead(seen, None)).await?,
                Standing::Lapsed(seen, sighting) => {
                    Box::pin(self.try_to_lead(Some(seen), Some(sighting))).await?
                }
                Standing::NotYet(left, problem) => self.leave_alone(left, problem).await?,
                Standing::Held => self.wait().await?,
            };
            if ended {
                return Ok(());
            }
        }
    }

    /// One look at the ledger: a single read where there is nothing to do.
    async fn look(&mut self) -> Result<Standing, Problem> {
        if self.sighting.is_none() {
            if self.is_current().await? {
                self.finish();
                return Ok(Standing::Current);
            }
        } else if let Some((head, op_age)) = self.head(ReadLevel::Glance).await? {
            self.reader.check_serial(&head)?;
            if head.frontier == Some(self.catalog.frontier()) {
                self.report.deferred.clear();
                self.finish();
                return Ok(Standing::Current);
            }
            // A waiting run reads the versions again only when one was completed.
            if head.owner.is_some() && head.frontier == self.frontier_read {
                return Ok(self.standing(head, op_age));
            }
        }
        let rows = self.reader.read(Slice::Versions, ReadLevel::Quorum).await?;
        let (server_ms, op_age) = (rows.server_ms, rows.op_age());
        let ledger = self.reader.fold(rows)?;
        if let Some(head) = ledger.head() {
            self.reader.check_serial(head)?;
        }
        self.frontier_read = ledger.head().and_then(|head| head.frontier.clone());
        let epoch = ledger.head().map_or(0, |head| head.epoch - i64::from(head.owner.is_some()));
        let epoch_at_start = *self.epoch_at_start.get_or_insert(epoch);
        tell_remaining(&mut self.report, &self.catalog, &ledger);
        self.report.warnings = verify(&ledger, &self.catalog)?;
        if self.report.pending.is_empty() {
            self.report.warnings.extend(trouble_of_deferred(&self.reader, &self.catalog, &ledger).await?);
            self.finish();
            return Ok(Standing::Current);
        }
        self.catalog.compile(&ledger, &self.destination)?;
        if !self.premises_hold {
            // Boxed, like all that most looks do without.
            Box::pin(self.check_premises(&ledger)).await?;
        }
        let Some(head) = ledger.head().cloned() else {
            // Not before: for a plan that is refused nothing is created.
            self.reader.creates = true;
            self.reader.read(Slice::Head, ReadLevel::Quorum).await?;
            return Ok(Standing::Free(None));
        };
        // An older binary may see that there is nothing to do; it may not write.
        head.check_format().map_err(Problem::of_ledger)?;
        self.fail_if_paused(&head, &ledger).await?;
        self.fail_if_failed_elsewhere(&head, epoch_at_start).await?;
        if let Some((left, problem)) = self.not_yet(&head, &ledger, server_ms).await? {
            return Ok(Standing::NotYet(left, problem));
        }
        let in_flight = begun_by_another_image(&ledger, &self.catalog);
        match (self.standing(head, op_age), in_flight) {
            (Standing::Free(_) | Standing::Lapsed(..), Some(problem)) => Err(problem),
            (standing, _) => Ok(standing),
        }
    }

    /// Once a run: what has changed since is as if somebody had changed it later.
    async fn check_premises(&mut self, ledger: &Ledger) -> Result<(), Problem> {
        self.reader.check_alone(ledger).await?;
        self.reader.check_keyspace(&self.catalog, ledger).await?;
        self.premises_hold = true;
        Ok(())
    }

    /// Whether nothing is left for this run.
    async fn is_current(&mut self) -> Result<bool, Problem> {
        Ok(match self.reached(ReadLevel::Glance).await? {
            Reached::All => true,
            // An old frontier can be read there, of a time when what is applied now was deferred.
            Reached::Deferred if is_broken(Mutant::DeferOnGlance) => true,
            Reached::Deferred => self.reached(ReadLevel::Quorum).await? != Reached::Less,
            Reached::Less => false,
        })
    }

    async fn reached(&mut self, level: ReadLevel) -> Result<Reached, Problem> {
        // The digest is made while the server is at work.
        let (read, all) =
            tokio::join!(self.reader.read(Slice::Frontier, level), async { self.catalog.frontier() });
        let Rows { rows, .. } = read?;
        let Some((_, head)) = rows.first() else { return Ok(Reached::Less) };
        if head.text("serial_cl").as_deref() != Some(self.env.settings.serial_cl) {
            return Ok(Reached::Less);
        }
        let Some(found) = head.text("frontier") else { return Ok(Reached::Less) };
        if found == all {
            self.report.deferred.clear();
            return Ok(Reached::All);
        }
        let Some(deferred) = self.catalog.deferred_at(&found) else { return Ok(Reached::Less) };
        let first = deferred.first().map(|entry| entry.version().get());
        let (active, state) = (head.int("active_version"), head.text("active_state"));
        if first.is_some_and(|first| is_in_trouble(first, active, state.as_deref())) {
            // What is wrong with it takes more reads to tell.
            return Ok(Reached::Less);
        }
        self.report.deferred = deferred.into_iter().map(migration_report).collect();
        Ok(Reached::Deferred)
    }

    fn standing(&mut self, head: Head, op_age: Option<Duration>) -> Standing {
        let now = self.env.clock.now();
        if head.owner.is_none() {
            self.sighting = None;
            return Standing::Free(Some(head));
        }
        let sighting = match self.sighting.take().filter(|sighting| sighting.is_of(&head)) {
            Some(sighting) if sighting.has_lapsed(now, op_age) => return Standing::Lapsed(head, sighting),
            Some(sighting) => sighting,
            None => Sighting::new(&head, self.env.settings.lease, now),
        };
        self.sighting = Some(sighting);
        self.report.holder = Some(head.owner_info.unwrap_or_else(|| "another instance".to_owned()));
        Standing::Held
    }

    /// Takes the lease, if it is still as it was seen, and works. False where everything has to be looked at anew.
    async fn try_to_lead(&mut self, seen: Option<Head>, lapsed: Option<Sighting>) -> Result<bool, Problem> {
        if self.shutdown.is_requested() {
            return Err(Problem::Shutdown);
        }
        // Runs that have waited look at different times as it is; all of them see a lease lapse at the same one.
        let is_spread = lapsed.is_none() && self.report.holder.is_some();
        let jitter = if is_spread { Duration::ZERO } else { self.env.settings.start_jitter };
        let pause = self.env.dice.turn(jitter);
        if !pause.is_zero() {
            self.env.clock.sleep(pause).await;
            let now = self.head(ReadLevel::Quorum).await?;
            if now.map(|(head, _)| head.op) != seen.as_ref().map(|head| head.op) {
                return Ok(false);
            }
        }
        let identity = self.identity.clone();
        let first = self.report.pending.first().map(|migration| migration.version.get());
        let journal = first.map_or(Journal::None, Journal::From);
        let lease = match &lapsed {
            None => Lease::prepare(self.env, identity, journal, seen).await,
            Some(_) => Lease::acquire(self.env, identity, journal, seen).await,
        };
        match lease {
            Ok(lease) => {
                let landed_by = landed_by(lapsed.as_ref(), self.env.settings, lease.ledger(), first);
                self.lead(lease, landed_by).await
            }
            Err(Halt::Lost) => Ok(false),
            Err(Halt::Unanswered(error)) => self.unanswered(error),
            Err(Halt::Failed(problem)) => Err(problem),
        }
    }

    async fn lead(
        &mut self,
        lease: Lease<'a, S, C>,
        data_in_flight_until: Duration,
    ) -> Result<bool, Problem> {
        let mut holder =
            Holder::new(self.env, lease, self.executor, &self.catalog, &self.shutdown, data_in_flight_until);
        let worked = holder.work().await;
        if !holder.applied().is_empty() {
            self.unanswered_since = None;
        }
        self.report.applied.extend_from_slice(holder.applied());
        tell_remaining(&mut self.report, &self.catalog, holder.ledger());
        self.report.warnings.extend_from_slice(holder.warnings());
        self.report.warnings.extend(self.executor.advice().await);
        match worked {
            Ok(()) => {
                self.finish();
                Ok(true)
            }
            Err(Halt::Lost) => {
                tracing::info!(keyspace = self.destination.keyspace, "another run has the lease");
                Ok(false)
            }
            Err(Halt::Unanswered(error)) => self.unanswered(error),
            Err(Halt::Failed(problem)) => Err(problem),
        }
    }

    /// Goes on, unless the cluster has answered no write for too long although it answers reads.
    fn unanswered(&mut self, error: StoreError) -> Result<bool, Problem> {
        let now = self.env.clock.now();
        let waited = now.saturating_sub(*self.unanswered_since.get_or_insert(now));
        // A first one has lasted for most of a lease already.
        let waited = waited + self.env.settings.margin();
        if waited < self.env.settings.unreachable_after {
            return Ok(false);
        }
        Err(Problem::of_store(error).after(waited))
    }

    /// Waits until the lease may have changed hands or lapsed. True where this run does not wait.
    async fn wait(&mut self) -> Result<bool, Problem> {
        let limit = match self.env.settings.wait {
            Wait::UpTo(limit) => limit,
            Wait::Fail => return Err(Problem::Held { holder: self.holder() }),
            Wait::ReturnPending => {
                self.report.outcome = Outcome::Pending;
                return Ok(true);
            }
        };
        let now = self.env.clock.now();
        let waited = now.saturating_sub(self.started);
        self.report.waited = waited;
        if waited >= limit {
            return Err(Problem::WaitedTooLong { holder: self.holder(), waited });
        }
        self.env.settings.observer.tell(Progress::Waiting { holder: self.holder() });
        let pause = self.pace.pause(self.env.dice).min(limit.saturating_sub(waited));
        // To the exact lapse, and not a busy loop where that has just been missed.
        let lapse = self.sighting.as_ref().map_or(pause, |sighting| sighting.left(now)).max(LAPSE_MS_MIN);
        self.sleep(pause.min(lapse)).await
    }

    async fn leave_alone(&mut self, left: Duration, problem: Problem) -> Result<bool, Problem> {
        let waited = self.env.clock.now().saturating_sub(self.started);
        let limit = match self.env.settings.wait {
            Wait::UpTo(limit) => limit.saturating_sub(waited),
            Wait::Fail | Wait::ReturnPending => Duration::ZERO,
        };
        if left > limit {
            return Err(problem);
        }
        tracing::info!(%problem, "waits");
        self.env.settings.observer.tell(Progress::PutOff { reason: problem.to_string() });
        // All that wait know the same end.
        let jitter = self.env.dice.turn(self.env.settings.start_jitter);
        // A hold may be taken back, and an edited image may come: not all of it is slept at once.
        self.sleep(left.min(LEFT_ALONE_LONGEST) + jitter).await
    }

    async fn sleep(&self, pause: Duration) -> Result<bool, Problem> {
        tokio::select! {
            biased;
            () = self.shutdown.requested() => Err(Problem::Shutdown),
            () = self.env.clock.sleep(pause) => Ok(false),
        }
    }

    fn finish(&mut self) {
        let report = &mut self.report;
        report.pending.clear();
        let waited = self.env.clock.now().saturating_sub(self.started);
        report.waited = if report.holder.is_some() { waited } else { Duration::ZERO };
        report.outcome = match &report.holder {
            _ if !report.applied.is_empty() => Outcome::Migrated,
            Some(holder) => Outcome::WaitedFor(holder.clone()),
            None => Outcome::AlreadyCurrent,
        };
    }

    fn holder(&self) -> String {
        self.report.holder.clone().unwrap_or_else(|| "another instance".to_owned())
    }

    async fn fail_if_paused(&self, head: &Head, ledger: &Ledger) -> Result<(), Problem> {
        let Some((entry, reason)) = stopped(head, ledger, &self.catalog) else { return Ok(()) };
        Err(paused(&self.reader, ledger, entry, reason).await?)
    }

    /// A run that began before another one failed gets that one's failure: it would have had the same.
    async fn fail_if_failed_elsewhere(&self, head: &Head, epoch_at_start: i64) -> Result<(), Problem> {
        let failed = head.owner.is_none() && head.active_state.as_deref() == Some(FAILED);
        let is_ours = |version: &i64| self.report.pending.iter().any(|one| one.version.get() == *version);
        let failed = head.active_version.filter(|version| failed && is_ours(version));
        let Some(entry) = failed.and_then(|version| self.catalog.get(version)) else { return Ok(()) };
        if head.epoch <= epoch_at_start {
            return Ok(());
        }
        let (version, name) = (entry.version(), entry.name().to_owned());
        let rows =
            self.reader.read(Slice::Events { rows_max: FAILURE_EVENTS_MAX }, ReadLevel::Quorum).await?.rows;
        let failure =
            rows.iter().rev().map(|(key, cells)| Event::from_cells(key.n, cells)).find(Event::is_failure);
        let (holder, reason) = failure.map_or_else(
            || (self.holder(), "its journal has no error".to_owned()),
            |event| (event.actor, event.error.unwrap_or_default()),
        );
        Err(Problem::FailedElsewhere { version, name, holder, reason })
    }

    /// Whether the first pending version is not to be begun for a while: an operator holds it back, or it has failed
    /// just now.
    async fn not_yet(
        &self,
        head: &Head,
        ledger: &Ledger,
        server_ms: Option<i64>,
    ) -> Result<Option<(Duration, Problem)>, Problem> {
        let Some(entry) = self.catalog.pending(ledger).next() else { return Ok(None) };
        let version = entry.version();
        if ledger.version(version.get()).is_some() {
            return Ok(None);
        }
        if let Some((until_ms, now_ms)) = head.hold_until.zip(server_ms).filter(|(until, now)| until > now) {
            let left = Duration::from_millis(until_ms.abs_diff(now_ms));
            let reason = head.hold_reason.clone().unwrap_or_default();
            return Ok(Some((left, Problem::OnHold { left, reason })));
        }
        if head.active_version != Some(version.get()) || head.active_state.as_deref() != Some(FAILED) {
            return Ok(None);
        }
        let rows = self.reader.read(Slice::StepsFrom(version.get()), ReadLevel::Quorum).await?;
        let server_ms = rows.server_ms;
        let journal = self.reader.fold(rows)?;
        Ok(patience(&journal, entry, server_ms).map(|Patience { left, failures, reason }| {
            (left, Problem::BackingOff { version, name: entry.name().to_owned(), failures, left, reason })
        }))
    }

    async fn head(&self, level: ReadLevel) -> Result<Option<(Head, Option<Duration>)>, Problem> {
        let rows = self.reader.read(Slice::Head, level).await?;
        let op_age = rows.op_age();
        Ok(self.reader.fold(rows)?.head().cloned().map(|head| (head, op_age)))
    }
}

/// The shortest pause of a watcher.
const LAPSE_MS_MIN: Duration = Duration::from_millis(1);
