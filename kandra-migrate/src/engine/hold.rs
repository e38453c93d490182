//! What the holder of the lease does: one action after the other, each written before and after.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::catalog::{Catalog, Entry};
use super::decide::{Action, decide, stuck};
use super::env::Env;
use super::executor::Executor;
use super::halt::Halt;
use super::lease::{Committed, Journal, Lease, before_step};
use super::observer::Progress;
use super::perform::{StepEnd, no_coordinator};
use super::shutdown::Shutdown;
use super::verify::{begun_by_another_image, verify};
use crate::clock::Clock;
use crate::error::{At, Problem};
use crate::ledger::{Intent, Ledger, Transition, VersionState};
use crate::mutant::{Mutant, is_broken};
use crate::plan::{Step, StepKind};
use crate::port::Coordinator;
use crate::report::MigrationReport;
use crate::store::Store;

/// A run that has the lease.
pub(crate) struct Holder<'a, S, C, X> {
    pub(super) env: Env<'a, S, C>,
    pub(super) lease: Lease<'a, S, C>,
    pub(super) executor: &'a X,
    pub(super) catalog: &'a Catalog,
    pub(super) shutdown: &'a Shutdown,
    /// The node that gets this run's schema statements.
    pub(super) coordinator: Option<Coordinator>,
    /// Whether nodes may still differ on the schema.
    pub(super) unsettled: bool,
    /// The node that this run's schema statements went to since nodes last agreed: the others may not know of them yet.
    pub(super) spreads_from: Option<Coordinator>,
    /// Until then a data statement of unknown outcome may land.
    pub(super) data_in_flight_until: Duration,
    /// The last error of unknown outcome, for the message if it stays unknown.
    pub(super) last_unknown: Option<String>,
    /// What should be looked at, for the report.
    pub(super) warnings: Vec<String>,
    /// Steps that are recorded as done and whose effect is not there.
    pub(super) redo: BTreeSet<(i64, i64)>,
    /// Steps of unknown outcome of which nothing can land any more, and whose effect is not there.
    pub(super) quiet: BTreeSet<(i64, i64)>,
    /// Versions whose recorded steps are to be looked at: another run has done them, or their coordinator is gone.
    pub(super) doubted: BTreeSet<i64>,
    pub(super) begun: BTreeMap<i64, Duration>,
    applied: Vec<MigrationReport>,
}

impl<'a, S: Store, C: Clock, X: Executor> Holder<'a, S, C, X> {
    pub(crate) fn new(
        env: Env<'a, S, C>,
        lease: Lease<'a, S, C>,
        executor: &'a X,
        catalog: &'a Catalog,
        shutdown: &'a Shutdown,
        data_in_flight_until: Duration,
    ) -> Self {
        let inherited: BTreeSet<_> = catalog
            .pending(lease.ledger())
            .map(|entry| entry.version().get())
            .filter(|version| lease.ledger().steps_of(*version).next().is_some())
            .collect();
        Self {
            env,
            lease,
            executor,
            catalog,
            shutdown,
            coordinator: None,
            unsettled: !inherited.is_empty(),
            spreads_from: None,
            data_in_flight_until,
            last_unknown: None,
            warnings: Vec::new(),
            redo: BTreeSet::new(),
            quiet: BTreeSet::new(),
            doubted: inherited,
            begun: BTreeMap::new(),
            applied: Vec::new(),
        }
    }

    /// What this run has applied so far.
    pub(crate) fn applied(&self) -> &[MigrationReport] {
        &self.applied
    }

    /// What should be looked at, although nothing failed.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The ledger as the last known write left it.
    pub(crate) fn ledger(&self) -> &Ledger {
        self.lease.ledger()
    }

    /// Applies everything that is pending, then gives the lease back.
    ///
    /// Where it cannot, the lease is given back all the same, once nothing of this run can land any more.
    pub(crate) async fn work(&mut self) -> Result<(), Halt> {
        let worked = match verify(self.lease.ledger(), self.catalog) {
            Ok(_) => match begun_by_another_image(self.lease.ledger(), self.catalog) {
                None => self.apply_pending().await,
                Some(problem) => Err(Halt::Failed(problem)),
            },
            Err(problem) => Err(Halt::Failed(problem)),
        };
        if matches!(worked, Err(Halt::Failed(_))) && self.lease.is_held() {
            // The error is the caller's whatever becomes of this; an unreleased lease lapses.
            if let Err(halt) = self.release(Vec::new()).await {
                tracing::warn!(?halt, "the lease could not be given back and will lapse");
            }
        }
        worked
    }

    /// The write that takes the lease goes with the first one, unless something has to be looked at under it before.
    async fn take(&mut self) -> Result<Vec<Transition>, Halt> {
        if self.lease.is_held() {
            return Ok(Vec::new());
        }
        let taking = vec![self.lease.taking()];
        if self.doubted.is_empty() {
            return Ok(taking);
        }
        self.commit(&taking).await?;
        Ok(Vec::new())
    }

    /// A successor finds the lease free and does not wait for what this run has sent.
    async fn drain_before_release(&mut self) -> Result<(), Halt> {
        if is_broken(Mutant::NoDrainBeforeRelease) {
            return Ok(());
        }
        self.drain_data().await
    }

    async fn apply_pending(&mut self) -> Result<(), Halt> {
        // What is known and not written yet: it goes into the next write, so that a step costs one write, not two.
        let mut known = self.take().await?;
        loop {
            let ledger = self.lease.after(&known)?;
            let action = decide(&ledger, self.catalog, &self.redo);
            if self.shutdown.is_requested() && matches!(action, Action::Begin { .. } | Action::Resume { .. })
            {
                self.release(known).await?;
                return Err(Halt::Failed(Problem::Shutdown));
            }
            // An operator's command may arrive meanwhile, so that it is decided anew.
            if self.unsettled && self.needs_agreement(&action) {
                self.settle(action.version(), &mut known).await?;
                continue;
            }
            // Before a pause is said to have come too late: a step may have to be run again.
            if let Action::Begin { version, .. } | Action::Complete { version } = action
                && self.doubted.remove(&version)
            {
                self.recheck(version, &ledger).await?;
                continue;
            }
            if let Some(obeyed) = self.obey(&action, &ledger, &mut known).await? {
                known = obeyed;
                continue;
            }
            known = match action {
                Action::Begin { version, n } => self.begin(version, n, known, &ledger).await?,
                Action::Resume { version, n } => self.resume(version, n, known, &ledger).await?,
                Action::Repair { version } => {
                    known.push(Transition::Repair(self.entry(version).claim(&ledger)));
                    if !self.commit_with_step(known, Vec::new()).await? {
                        tracing::info!(version, "a repair was put off by an operator's command");
                    }
                    Vec::new()
                }
                Action::Complete { version } => self.complete(version, known, &ledger).await?,
                Action::Pause { version, n, reason } => {
                    return Err(self.pause(version, n, reason, known).await);
                }
                Action::Blocked { version, reason } => {
                    self.release(known).await?;
                    return Err(Halt::Failed(self.paused(version, reason)));
                }
                Action::Release => return self.release(known).await,
            };
        }
    }

    pub(super) async fn begin(
        &mut self,
        version: i64,
        n: i64,
        known: Vec<Transition>,
        ledger: &Ledger,
    ) -> Result<Vec<Transition>, Halt> {
        let entry = self.entry(version);
        let step = entry.step(n);
        if step.kind == StepKind::Schema && !self.find_coordinator().await? {
            self.release(known).await?;
            return Err(Halt::Failed(no_coordinator(self.env.settings.unreachable_after)));
        }
        let mut write = known.clone();
        if ledger.version_state(version) == VersionState::Queued {
            write.push(Transition::Claim(entry.claim(ledger)));
        }
        write.push(Transition::Intent(self.intent(version, step)));
        self.begun.entry(version).or_insert_with(|| self.env.clock.now());
        if !self.commit_with_step(write, known).await? {
            return Ok(Vec::new());
        }
        self.redo.remove(&(version, n));
        let end = self.perform(version, step).await?;
        let end = match ledger.step(version, n) {
            Some(_) => self.unless_there(step, end).await?,
            None => end,
        };
        self.finish(version, n, end).await
    }

    pub(super) async fn finish(
        &mut self,
        version: i64,
        n: i64,
        end: StepEnd,
    ) -> Result<Vec<Transition>, Halt> {
        match end {
            StepEnd::Done => {
                // A task may succeed by a second try while its first may still land.
                self.drain_before_release().await?;
                Ok(vec![Transition::Done { version, n }])
            }
            StepEnd::Unknown(reason) => {
                tracing::warn!(version, step = n + 1, reason, "the outcome of a step is unknown");
                self.last_unknown = Some(reason);
                Ok(Vec::new())
            }
            StepEnd::Pause(reason) => Err(self.pause(version, n, reason, Vec::new()).await),
            StepEnd::Failed(problem) => {
                // The task's own error is the caller's whatever becomes of the record.
                let recorded = match self.drain_before_release().await {
                    Ok(()) => {
                        let error = problem.for_journal();
                        self.lease.commit(&[Transition::Fail { version, n, error }]).await.map(|_| ())
                    }
                    Err(halt) => Err(halt),
                };
                if let Err(halt) = recorded {
                    tracing::warn!(
                        ?halt,
                        "the failure could not be recorded: the next run finds the step begun"
                    );
                }
                Err(Halt::Failed(problem))
            }
            StepEnd::Stopped => {
                self.release(vec![Transition::Stop { version, n }]).await?;
                Err(Halt::Failed(Problem::Shutdown))
            }
        }
    }

    async fn complete(
        &mut self,
        version: i64,
        mut known: Vec<Transition>,
        ledger: &Ledger,
    ) -> Result<Vec<Transition>, Halt> {
        // A shorter text of a version that had failed: everything in it is done.
        let unclaimed = ledger.version_state(version) == VersionState::Queued;
        if unclaimed {
            known.push(Transition::Claim(self.entry(version).claim(ledger)));
        }
        let now = self.env.clock.now();
        let took = now.saturating_sub(*self.begun.entry(version).or_insert(now));
        let frontier = self.catalog.frontier_with(&self.lease.after(&known)?, version);
        let execution_ms = i64::try_from(took.as_millis()).unwrap_or(i64::MAX);
        known.push(Transition::Complete { version, execution_ms, frontier });
        if unclaimed {
            // One write claims one version, and the next one may be claimed at once.
            self.commit_with_step(known, Vec::new()).await?;
            return Ok(Vec::new());
        }
        Ok(known)
    }

    pub(super) async fn pause(
        &mut self,
        version: i64,
        n: i64,
        reason: String,
        mut known: Vec<Transition>,
    ) -> Halt {
        let reason = match self.last_unknown.take() {
            Some(last) => format!("{reason} ({last})"),
            None => reason,
        };
        if let Err(halt) = self.drain_before_release().await {
            return halt;
        }
        if self.lease.ledger().head().is_some_and(|head| head.pauses(version)) {
            known.push(Transition::ClearCommand);
        }
        known.push(Transition::Pause { version, n, error: reason.clone() });
        match self.commit(&known).await {
            Ok(_) => Halt::Failed(self.paused(version, reason)),
            Err(halt) => halt,
        }
    }

    pub(super) async fn release(&mut self, mut known: Vec<Transition>) -> Result<(), Halt> {
        if !self.lease.is_held() {
            // Nothing was begun, and so nothing was taken.
            return Ok(());
        }
        self.drain_before_release().await?;
        known.push(Transition::Release);
        self.commit(&known).await.map(|_| ())
    }

    /// Writes the begin of a step. False where the step was not begun and everything has to be planned anew.
    async fn commit_with_step(
        &mut self,
        write: Vec<Transition>,
        known: Vec<Transition>,
    ) -> Result<bool, Halt> {
        match self.commit(&write).await? {
            Committed::Applied => Ok(true),
            Committed::CommandArrived => Ok(false),
            Committed::Conflict => {
                let journal = self.journal();
                self.lease.reload(journal).await?;
                if !known.is_empty() {
                    self.commit(&known).await?;
                }
                Ok(false)
            }
        }
    }

    /// The part of the journal that this run works on.
    pub(super) fn journal(&self) -> Journal {
        let first = self.catalog.pending(self.lease.ledger()).next();
        first.map_or(Journal::None, |entry| Journal::From(entry.version().get()))
    }

    pub(super) async fn commit(&mut self, transitions: &[Transition]) -> Result<Committed, Halt> {
        let committed = self.lease.commit(transitions).await?;
        let written = match committed {
            Committed::Applied => transitions,
            Committed::CommandArrived => before_step(transitions),
            Committed::Conflict => &[],
        };
        for transition in written {
            self.tell(transition, committed);
            if let Transition::Complete { version, execution_ms, .. } = transition {
                let entry = self.entry(*version);
                let took = Duration::from_millis(u64::try_from(*execution_ms).unwrap_or_default());
                tracing::info!(version, name = entry.name(), ?took, "applied");
                self.applied.push(MigrationReport {
                    version: entry.version(),
                    name: entry.name().to_owned(),
                    took,
                });
            }
        }
        Ok(committed)
    }

    fn tell(&self, transition: &Transition, committed: Committed) {
        let observer = &self.env.settings.observer;
        match transition {
            Transition::Intent(intent) if committed == Committed::Applied => {
                let entry = self.entry(intent.version);
                observer.tell(Progress::Begun {
                    version: intent.version,
                    name: entry.name().to_owned(),
                    step: intent.n + 1,
                    steps: entry.steps().len(),
                    task: intent.task.clone(),
                });
            }
            Transition::Done { version, n } => {
                observer.tell(Progress::Done { version: *version, step: n + 1 });
            }
            Transition::Complete { version, execution_ms, .. } => observer.tell(Progress::Applied {
                version: *version,
                name: self.entry(*version).name().to_owned(),
                took: Duration::from_millis(u64::try_from(*execution_ms).unwrap_or_default()),
            }),
            _ => {}
        }
    }

    /// Works while the lease is kept.
    pub(super) async fn renewing<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Halt> {
        self.lease.renewing(work).await
    }

    fn intent(&self, version: i64, step: &Step) -> Intent {
        let schema = step.kind == StepKind::Schema;
        Intent {
            version,
            n: step.n,
            task: step.task.clone(),
            step_kind: step.kind.name(),
            flags: step.flags(),
            digest: step.digest.clone(),
            undo: step.undo.clone(),
            coordinator: self.coordinator.as_ref().filter(|_| schema).map(|node| node.0.clone()),
        }
    }

    pub(super) fn paused(&self, version: i64, reason: String) -> Problem {
        let entry = self.entry(version);
        let stuck = stuck(self.lease.ledger(), entry);
        Problem::Paused { version: entry.version(), name: entry.name().to_owned(), reason, stuck }
    }

    pub(super) fn entry(&self, version: i64) -> &'a Entry {
        self.catalog.get(version).expect("decide names versions of the catalog")
    }

    pub(super) fn at(&self, version: i64, step: &Step) -> At {
        let entry = self.entry(version);
        At {
            version: entry.version(),
            name: entry.name().to_owned(),
            step: step.number(),
            steps: entry.steps().len(),
            task: step.task.clone(),
            location: step.location.clone(),
        }
    }

    pub(super) fn pin(&self, version: i64) -> Option<i64> {
        self.lease.ledger().version(version).and_then(|row| row.pin_ts)
    }

    pub(super) fn checkpoint_of(&self, version: i64, n: i64) -> (i64, Option<String>) {
        let row = self.lease.ledger().step(version, n);
        (row.map_or(1, |row| row.attempts), row.and_then(|row| row.position.clone()))
    }

    pub(super) fn guard_with(&mut self, guard: Option<Arc<crate::task::Guard>>) {
        self.lease.guard_with(guard);
    }
}
