//! A run from its start: look, wait, take the lease, work.

use std::time::Duration;

use uuid::Uuid;

use super::backoff::Backoff;
use super::catalog::Catalog;
use super::decide::{Stance, stance};
use super::executor::Executor;
use super::halt::Halt;
use super::hold::Holder;
use super::lease::{Identity, Lease};
use super::settings::{Settings, Wait};
use super::shutdown::Shutdown;
use super::verify::verify;
use crate::clock::{Clock, Dice};
use crate::error::{Error, Problem};
use crate::ledger::{Event, FORMAT, Head, Ledger};
use crate::mutant::{Mutant, is_broken};
use crate::plan::Destination;
use crate::report::{MigrationReport, Outcome, Report};
use crate::store::{CreateError, LedgerTable, ReadLevel, Rows, Slice, Store, StoreError};

/// How long the creation of the ledger's table may take; a hundred instances may do it at once.
const CREATE_TIMEOUT: Duration = Duration::from_secs(120);

/// The newest events, among which a failure is that has just ended an epoch.
const FAILURE_EVENTS_MAX: i32 = 10;

/// One run.
pub struct Run<'a, S, C, X> {
    store: &'a S,
    clock: &'a C,
    dice: &'a Dice,
    executor: &'a X,
    settings: &'a Settings,
    identity: Identity,
    catalog: Catalog,
    destination: Destination,
    shutdown: Shutdown,
    /// The ledger, for messages.
    table: String,
    report: Report,
    /// The lease that another run holds, since when it was seen unchanged.
    sighting: Option<Sighting>,
    /// The frontier when the versions were last read.
    frontier_read: Option<String>,
    /// The last epoch that had ended when this run began.
    epoch_at_start: Option<i64>,
    started: Duration,
    pace: Backoff,
}

/// A lease of another run, as it was seen.
#[derive(Debug, Clone)]
struct Sighting {
    op: Uuid,
    /// When the read returned that saw it first.
    since: Duration,
    /// The larger of its own lease and this run's.
    lease: Duration,
    holder: String,
}

/// What a watcher does next.
enum Standing {
    /// Everything this binary needs is applied.
    Current,
    /// Nobody has the lease.
    Free(Option<Head>),
    /// The holder has let it lapse.
    Lapsed(Head),
    /// Somebody has it.
    Held,
}

impl<'a, S, C, X> Run<'a, S, C, X>
where
    S: Store,
    C: Clock,
    X: Executor,
{
    #[expect(
        clippy::too_many_arguments,
        reason = "each is one part of a run; a builder would only name them again"
    )]
    /// A run that has not looked yet. `table` names the ledger in messages.
    pub fn new(
        (store, clock, dice, executor): (&'a S, &'a C, &'a Dice, &'a X),
        settings: &'a Settings,
        identity: Identity,
        catalog: Catalog,
        destination: Destination,
        shutdown: Shutdown,
        table: String,
    ) -> Self {
        Self {
            store,
            clock,
            dice,
            executor,
            settings,
            identity,
            catalog,
            destination,
            shutdown,
            table,
            report: Report::new(),
            sighting: None,
            frontier_read: None,
            epoch_at_start: None,
            started: clock.now(),
            pace: Backoff::of_watchers(),
        }
    }

    /// Brings the keyspace to where the binary needs it, or waits until another run has.
    pub async fn run(mut self) -> Result<Report, Error> {
        match self.drive().await {
            Ok(()) => Ok(self.report),
            Err(problem) => {
                let problem = problem.located(&self.destination.keyspace, &self.table);
                Err(Error::from(problem).with_report(self.report))
            }
        }
    }

    async fn drive(&mut self) -> Result<(), Problem> {
        loop {
            match self.look().await? {
                Standing::Current => return Ok(()),
                Standing::Free(seen) => {
                    let pause = self.dice.jitter(self.settings.start_jitter);
                    if self.still_so_after(pause, seen.as_ref()).await?
                        && self.lead(seen, Duration::ZERO).await?
                    {
                        return Ok(());
                    }
                }
                Standing::Lapsed(seen) => {
                    // What the lapsed holder sent, it sent before its own deadline.
                    let sent_until =
                        self.sighting.as_ref().map_or(self.clock.now(), |sighting| sighting.since)
                            + self.settings.margin().max(lease_of(&seen) * 2 / 3);
                    let pause = self.dice.jitter(self.settings.start_jitter);
                    if self.still_so_after(pause, Some(&seen)).await?
                        && self.lead(Some(seen), sent_until + self.settings.drain_data).await?
                    {
                        return Ok(());
                    }
                }
                Standing::Held => match self.settings.wait {
                    Wait::Fail => return Err(Problem::Held { holder: self.holder() }),
                    Wait::ReturnPending => {
                        self.report.outcome = Outcome::Pending;
                        return Ok(());
                    }
                    Wait::UpTo(limit) => self.wait(limit).await?,
                },
            }
        }
    }

    /// One look at the ledger: a single read where there is nothing to do.
    async fn look(&mut self) -> Result<Standing, Problem> {
        if let Some(head) = self.head(ReadLevel::Glance).await? {
            self.check_head(&head)?;
            if head.frontier == Some(self.catalog.frontier()) {
                self.finish();
                return Ok(Standing::Current);
            }
            // A waiting run reads the versions again only when one was completed.
            if self.sighting.is_some() && head.owner.is_some() && head.frontier == self.frontier_read {
                return Ok(self.standing(head, self.clock.now()));
            }
        }
        let rows = self.read(Slice::Versions, ReadLevel::Quorum).await?;
        let returned = self.clock.now();
        let ledger = self.fold(rows)?;
        self.frontier_read = ledger.head().and_then(|head| head.frontier.clone());
        let epoch = ledger.head().map_or(0, |head| head.epoch - i64::from(head.owner.is_some()));
        let epoch_at_start = *self.epoch_at_start.get_or_insert(epoch);
        self.report.warnings = verify(&ledger, &self.catalog)?;
        self.report.pending = pending(&self.catalog, &ledger);
        if self.report.pending.is_empty() {
            self.finish();
            return Ok(Standing::Current);
        }
        self.catalog.compile(&ledger, &self.destination)?;
        self.fail_if_paused(&ledger)?;
        let Some(head) = ledger.head().cloned() else { return Ok(Standing::Free(None)) };
        self.check_head(&head)?;
        if head.fmt_write > FORMAT {
            return Err(Problem::of_ledger(crate::ledger::LedgerError::NewerFormat {
                found: head.fmt_write,
            })
            .located(&self.destination.keyspace, &self.table));
        }
        self.fail_if_failed_elsewhere(&head, epoch_at_start).await?;
        Ok(self.standing(head, returned))
    }

    fn standing(&mut self, head: Head, returned: Duration) -> Standing {
        if head.owner.is_none() {
            self.sighting = None;
            return Standing::Free(Some(head));
        }
        match &self.sighting {
            Some(sighting) if sighting.op == head.op => {
                if returned.saturating_sub(sighting.since) >= sighting.lease || is_broken(Mutant::NoLapse) {
                    return Standing::Lapsed(head);
                }
            }
            _ => {
                let holder = head.owner_info.clone().unwrap_or_else(|| "another instance".to_owned());
                self.report.holder = Some(holder.clone());
                let lease = lease_of(&head).max(self.settings.lease);
                self.sighting = Some(Sighting { op: head.op, since: returned, lease, holder });
            }
        }
        Standing::Held
    }

    /// Pauses, then looks whether the head is still the one that was seen.
    async fn still_so_after(&mut self, pause: Duration, seen: Option<&Head>) -> Result<bool, Problem> {
        if self.shutdown.is_requested() {
            return Err(Problem::Shutdown);
        }
        if pause.is_zero() {
            return Ok(true);
        }
        self.clock.sleep(pause).await;
        let now = self.head(ReadLevel::Quorum).await?;
        Ok(now.map(|head| head.op) == seen.map(|head| head.op))
    }

    /// Takes the lease and works. False where it was lost to another run.
    async fn lead(&mut self, seen: Option<Head>, data_in_flight_until: Duration) -> Result<bool, Problem> {
        let lease = Lease::acquire(
            self.store,
            self.clock,
            self.dice,
            self.settings,
            &self.identity,
            &self.catalog,
            seen,
        )
        .await;
        let lease = match lease {
            Ok(lease) => lease,
            Err(Halt::Lost) => return Ok(false),
            Err(Halt::Failed(problem)) => return Err(problem),
        };
        tracing::info!(keyspace = self.destination.keyspace, "holds the lease");
        let mut holder = Holder::new(
            lease,
            (self.executor, self.clock, self.dice),
            self.settings,
            &self.catalog,
            &self.shutdown,
            data_in_flight_until,
        );
        let worked = holder.work().await;
        self.report.warnings.extend(self.executor.advice().await);
        self.report.applied.extend_from_slice(holder.applied());
        self.report.pending = pending(&self.catalog, holder.ledger());
        match worked {
            Ok(()) => {
                self.finish();
                Ok(true)
            }
            Err(Halt::Lost) => {
                tracing::warn!(keyspace = self.destination.keyspace, "has lost the lease");
                Ok(false)
            }
            Err(Halt::Failed(problem)) => Err(problem),
        }
    }

    /// Waits until the lease may have changed hands or lapsed.
    async fn wait(&mut self, limit: Duration) -> Result<(), Problem> {
        let now = self.clock.now();
        let waited = now.saturating_sub(self.started);
        self.report.waited = waited;
        if waited >= limit {
            return Err(Problem::WaitedTooLong { holder: self.holder(), waited, active: None });
        }
        let pause = self.pace.pause(self.dice).min(limit - waited);
        let lapse = self.sighting.as_ref().map_or(pause, |sighting| {
            (sighting.since + sighting.lease).saturating_sub(now).max(Duration::from_millis(1))
        });
        tokio::select! {
            biased;
            () = self.shutdown.requested() => Err(Problem::Shutdown),
            () = self.clock.sleep(pause.min(lapse)) => Ok(()),
        }
    }

    fn finish(&mut self) {
        self.report.pending.clear();
        self.report.waited = match &self.report.holder {
            Some(_) => self.clock.now().saturating_sub(self.started),
            None => Duration::ZERO,
        };
        self.report.outcome = match &self.report.holder {
            _ if !self.report.applied.is_empty() => Outcome::Migrated,
            Some(holder) => Outcome::WaitedFor(holder.clone()),
            None => Outcome::AlreadyCurrent,
        };
    }

    fn holder(&self) -> String {
        self.sighting
            .as_ref()
            .map_or_else(|| "another instance".to_owned(), |sighting| sighting.holder.clone())
    }

    fn fail_if_paused(&self, ledger: &Ledger) -> Result<(), Problem> {
        let Some(entry) = self.catalog.pending(ledger).next() else { return Ok(()) };
        match stance(ledger, entry) {
            Stance::Stopped(reason) => {
                Err(Problem::Paused { version: entry.version(), name: entry.name().to_owned(), reason })
            }
            _ => Ok(()),
        }
    }

    /// A run that began before another one failed gets that one's failure: it would have had the same.
    async fn fail_if_failed_elsewhere(&mut self, head: &Head, epoch_at_start: i64) -> Result<(), Problem> {
        let failed = head.owner.is_none() && head.active_state.as_deref() == Some("FAILED");
        let Some(entry) =
            head.active_version.filter(|_| failed).and_then(|version| self.catalog.get(version))
        else {
            return Ok(());
        };
        if head.epoch <= epoch_at_start {
            return Ok(());
        }
        let (version, name) = (entry.version(), entry.name().to_owned());
        let rows = self.read(Slice::Events { rows_max: FAILURE_EVENTS_MAX }, ReadLevel::Quorum).await?;
        let failure = rows
            .rows
            .iter()
            .rev()
            .map(|(key, cells)| Event::from_cells(key.n, cells))
            .find(Event::is_failure);
        let (holder, reason) = failure.map_or_else(
            || (self.holder(), "its journal has no error".to_owned()),
            |event| (event.actor, event.error.unwrap_or_default()),
        );
        Err(Problem::FailedElsewhere { version, name, holder, reason })
    }

    fn check_head(&self, head: &Head) -> Result<(), Problem> {
        if head.serial_cl == self.settings.serial_cl {
            return Ok(());
        }
        Err(Problem::SerialDiffers { stored: head.serial_cl.clone(), ours: self.settings.serial_cl })
    }

    async fn head(&mut self, level: ReadLevel) -> Result<Option<Head>, Problem> {
        let rows = self.read(Slice::Head, level).await?;
        Ok(self.fold(rows)?.head().cloned())
    }

    fn fold(&self, rows: Rows) -> Result<Ledger, Problem> {
        Ledger::from_rows(rows.rows)
            .map_err(|error| Problem::of_ledger(error).located(&self.destination.keyspace, &self.table))
    }

    /// Reads; creates the ledger where it is missing; asks a cluster that does not answer for a while.
    async fn read(&mut self, slice: Slice, level: ReadLevel) -> Result<Rows, Problem> {
        let begun = self.clock.now();
        let mut backoff = Backoff::of_watchers();
        loop {
            let error = match self.store.read(slice, level).await {
                Ok(rows) => return Ok(rows),
                Err(StoreError::Invalid(cause)) => {
                    if self.bootstrap().await? {
                        continue;
                    }
                    StoreError::Invalid(cause)
                }
                Err(error) => error,
            };
            let waited = self.clock.now().saturating_sub(begun);
            let passing =
                matches!(error, StoreError::Unknown(_) | StoreError::Passing(_) | StoreError::Invalid(_));
            if !passing || waited >= self.settings.unreachable_after {
                return Err(Problem::of_store(error)
                    .after(waited)
                    .located(&self.destination.keyspace, &self.table));
            }
            if self.shutdown.is_requested() {
                return Err(Problem::Shutdown);
            }
            self.clock.sleep(backoff.pause(self.dice)).await;
        }
    }

    /// Creates the ledger's table where it is missing. False where it is there.
    async fn bootstrap(&mut self) -> Result<bool, Problem> {
        let table = self.inspect().await?;
        match table {
            LedgerTable::Ready => return Ok(false),
            LedgerTable::KeyspaceMissing => {
                return Err(Problem::KeyspaceMissing { keyspace: self.destination.keyspace.clone() });
            }
            LedgerTable::OtherShape(difference) => {
                return Err(Problem::LedgerShape { table: self.table.clone(), difference });
            }
            LedgerTable::TableMissing => {}
        }
        self.clock.sleep(self.dice.jitter(self.settings.start_jitter)).await;
        if self.inspect().await? != LedgerTable::TableMissing {
            return Ok(true);
        }
        tracing::info!(table = self.table, "creates the ledger");
        match self.store.create(CREATE_TIMEOUT).await {
            Ok(()) => Ok(true),
            Err(CreateError::OtherShape(difference)) => {
                Err(Problem::LedgerShape { table: self.table.clone(), difference })
            }
            Err(CreateError::IdRefused) => Err(Problem::TableIdRefused { table: self.table.clone() }),
            Err(CreateError::Store(error)) => Err(Problem::of_store(error)
                .after(CREATE_TIMEOUT)
                .located(&self.destination.keyspace, &self.table)),
            Err(error @ CreateError::NoAgreement(_)) => {
                Err(Problem::no_agreement("after the creation of the ledger", error))
            }
        }
    }

    async fn inspect(&self) -> Result<LedgerTable, Problem> {
        let begun = self.clock.now();
        let mut backoff = Backoff::of_watchers();
        loop {
            match self.store.inspect().await {
                Ok(table) => return Ok(table),
                Err(error) => {
                    let waited = self.clock.now().saturating_sub(begun);
                    let passing = matches!(error, StoreError::Unknown(_) | StoreError::Passing(_));
                    if !passing || waited >= self.settings.unreachable_after {
                        return Err(Problem::of_store(error)
                            .after(waited)
                            .located(&self.destination.keyspace, &self.table));
                    }
                    self.clock.sleep(backoff.pause(self.dice)).await;
                }
            }
        }
    }
}

pub(crate) fn pending(catalog: &Catalog, ledger: &Ledger) -> Vec<MigrationReport> {
    let report = |entry: &super::catalog::Entry| MigrationReport {
        version: entry.version(),
        name: entry.name().to_owned(),
        took: Duration::ZERO,
    };
    catalog.pending(ledger).map(report).collect()
}

fn lease_of(head: &Head) -> Duration {
    Duration::from_millis(u64::try_from(head.lease_ms).unwrap_or_default())
}
