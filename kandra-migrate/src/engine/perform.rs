//! Running one step while the lease is kept.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::backoff::Backoff;
use super::executor::{CodeRun, Executor, Send};
use super::halt::Halt;
use super::hold::Holder;
use crate::clock::Clock;
use crate::error::Problem;
use crate::human::human;
use crate::ledger::Transition;
use crate::plan::{OnFailure, Repeat, Step, StepKind, TaskFn, Work};
use crate::port::{Coordinator, Drained, SendError};
use crate::schema::{Effect, SchemaChange};
use crate::store::Store;
use crate::task::{Checkpoint, Guard, TaskError, TaskPanic};

/// How a step ended.
#[derive(Debug)]
pub(crate) enum StepEnd {
    /// Its effect is there.
    Done,
    /// It failed definitely.
    Failed(Problem),
    /// It may have had its effect.
    Unknown(String),
    /// An operator has to look at it.
    Pause(String),
    /// It was stopped on request; it may be run again.
    Stopped,
}

/// Pauses between the retries that a task asks for.
const RETRY_FIRST: Duration = Duration::from_millis(500);
const RETRY_LONGEST: Duration = Duration::from_secs(30);
/// How often something that was never sent is tried again before it counts as a failure.
const PASSING_MAX: u32 = 5;
/// A heartbeat that is so late was kept from being sent.
const BLOCKED_MIN: Duration = Duration::from_secs(1);
/// Reads of `system_schema` that may fail before the run gives up.
const PROBES_MAX: u32 = 10;

impl<S: Store, C: Clock, X: Executor> Holder<'_, S, C, X> {
    /// Runs a step, with the retries that its task asks for after definite failures.
    pub(super) async fn perform(&mut self, version: i64, step: &Step) -> Result<StepEnd, Halt> {
        if step.kind != StepKind::Schema && self.pin(version).is_none() {
            let journal = self.journal();
            self.lease.reload(journal).await?;
        }
        let mut backoff = Backoff::new(RETRY_FIRST, RETRY_LONGEST);
        let mut retries = step.retries;
        loop {
            let end = match &step.work {
                Work::Cql { statement, .. } => self.send(version, step, statement.text()).await?,
                Work::Code(function) => self.run_code(version, step, function.clone()).await?,
            };
            match end {
                StepEnd::Failed(problem) if retries > 0 && !self.shutdown.is_requested() => {
                    tracing::warn!(version, step = step.number(), %problem, retries, "a step failed and is tried again");
                    retries -= 1;
                    self.drain_data().await?;
                    let (clock, pause) = (self.env.clock, backoff.pause(self.env.dice));
                    self.renewing(clock.sleep(pause)).await?;
                }
                StepEnd::Failed(problem) if step.on_failure == OnFailure::Pause => {
                    return Ok(StepEnd::Pause(problem.for_journal()));
                }
                end => return Ok(end),
            }
        }
    }

    async fn send(&mut self, version: i64, step: &Step, text: &str) -> Result<StepEnd, Halt> {
        let timeout = step.timeout.unwrap_or(self.env.settings.statement_timeout);
        let schema = step.kind == StepKind::Schema;
        let coordinator = self.coordinator.clone().filter(|_| schema);
        let seed = self.id_seed(version, step);
        let mut backoff = Backoff::of_writes();
        let mut passing = 0;
        loop {
            // A statement may outlast its lease only if its outcome is waited for, so the common bound counts.
            self.lease.cover(timeout.min(self.env.settings.statement_timeout)).await?;
            if schema {
                self.unsettled = true;
                self.spreads_from.clone_from(&coordinator);
            }
            let statement = Send {
                text,
                id_seed: seed.as_deref(),
                coordinator: coordinator.as_ref(),
                timestamp_us: self.pin(version).filter(|_| step.takes_timestamp()),
                timeout,
            };
            let executor = self.executor;
            // Where the run ends while it waits for the answer, the statement may still land.
            let in_flight_before = self.data_in_flight_until;
            self.data_in_flight_until = self.env.clock.now() + self.env.settings.data_lands_within();
            let answer = self.renewing(executor.send(statement)).await?;
            self.data_in_flight_until = in_flight_before;
            match answer {
                Ok(()) => return Ok(StepEnd::Done),
                Err(SendError::Unknown(cause)) => {
                    self.data_in_flight_until = self.env.clock.now() + self.env.settings.data_lands_within();
                    return Ok(StepEnd::Unknown(cause.to_string()));
                }
                Err(SendError::Passing(_)) if passing < PASSING_MAX => {
                    passing += 1;
                    let (clock, pause) = (self.env.clock, backoff.pause(self.env.dice));
                    self.renewing(clock.sleep(pause)).await?;
                }
                // It was not sent. Another node gets it, once it is settled that nothing is there.
                Err(SendError::Passing(cause))
                    if step.repeat != Repeat::Once && self.is_gone(coordinator.as_ref()) =>
                {
                    return Ok(StepEnd::Unknown(cause.to_string()));
                }
                Err(SendError::Refused(source) | SendError::Passing(source)) => {
                    let cql = Some(crate::cql::mask(text));
                    return Ok(StepEnd::Failed(Problem::StepFailed {
                        at: self.at(version, step),
                        cql,
                        source,
                    }));
                }
            }
        }
    }

    /// The node that gets this run's schema statements: the journal names it before one is sent. False where none is up
    /// for too long.
    pub(super) async fn find_coordinator(&mut self) -> Result<bool, Halt> {
        let begun = self.env.clock.now();
        let mut backoff = Backoff::of_watchers();
        while self.coordinator.is_none() {
            self.coordinator = self.executor.coordinator();
            if self.coordinator.is_some() {
                break;
            }
            if self.env.clock.now().saturating_sub(begun) >= self.env.settings.unreachable_after {
                return Ok(false);
            }
            let (clock, pause) = (self.env.clock, backoff.pause(self.env.dice));
            self.renewing(clock.sleep(pause)).await?;
        }
        Ok(true)
    }

    /// Whether schema statements no longer go to this node.
    fn is_gone(&self, coordinator: Option<&Coordinator>) -> bool {
        coordinator.is_some() && self.executor.coordinator().as_ref() != coordinator
    }

    /// Of the claim, so that a rollback or a failure, after which there is another claim, gives another id: one that
    /// was used before could bring dropped rows back.
    fn id_seed(&self, version: i64, step: &Step) -> Option<String> {
        let claim = self.lease.ledger().version(version)?;
        let object = step.change()?.object()?;
        let (epoch, started_at, n) = (claim.epoch, claim.started_at, step.n);
        Some(format!("{} {version} {n} {epoch} {started_at}", object.name))
    }

    async fn run_code(&mut self, version: i64, step: &Step, function: TaskFn) -> Result<StepEnd, Halt> {
        let (guard, mut checkpoints) = Guard::new();
        let guard = Arc::new(guard);
        self.guard_with(Some(Arc::clone(&guard)));
        let (attempt, checkpoint) = self.checkpoint_of(version, step.n);
        let run = CodeRun {
            name: step.task.clone(),
            function,
            guard: Arc::clone(&guard),
            timestamp_us: self.pin(version),
            idempotent: step.repeat == Repeat::Idempotent,
            attempt,
            checkpoint,
        };
        let executor = self.executor;
        let ended = {
            let task = pin!(executor.run(run));
            self.watch_code(version, step, task, &guard, &mut checkpoints).await
        };
        self.guard_with(None);
        guard.end();
        if guard.has_unknown() {
            self.data_in_flight_until = self.env.clock.now() + self.env.settings.data_lands_within();
        }
        let ended = ended?;
        Ok(match ended {
            CodeEnd::Returned(Ok(())) => StepEnd::Done,
            CodeEnd::Returned(Err(error)) => self.code_failed(version, step, error),
            CodeEnd::Stuck(reason) => StepEnd::Pause(reason),
            CodeEnd::Stopped => StepEnd::Stopped,
        })
    }

    /// An error of a `once` task does not say that nothing was done.
    fn code_failed(&self, version: i64, step: &Step, error: TaskError) -> StepEnd {
        if step.repeat == Repeat::Once {
            return StepEnd::Pause(format!("step {} is marked once and failed: {error}", step.number()));
        }
        let at = self.at(version, step);
        let error = error.into_inner();
        match error.downcast::<TaskPanic>() {
            Ok(panic) => StepEnd::Failed(Problem::StepPanicked { at, message: panic.0 }),
            Err(source) => StepEnd::Failed(Problem::StepFailed { at, cql: None, source: source.into() }),
        }
    }

    async fn watch_code(
        &mut self,
        version: i64,
        step: &Step,
        mut task: std::pin::Pin<&mut impl Future<Output = Result<(), TaskError>>>,
        guard: &Guard,
        checkpoints: &mut tokio::sync::mpsc::Receiver<Checkpoint>,
    ) -> Result<CodeEnd, Halt> {
        let started = self.env.clock.now();
        let stall_timeout = step.stall_timeout.unwrap_or(self.env.settings.stall_timeout);
        let mut signs = (guard.signs_of_life(), started);
        let mut renewed = started;
        loop {
            let now = self.env.clock.now();
            if guard.signs_of_life() != signs.0 {
                signs = (guard.signs_of_life(), now);
            }
            let due = [
                Some((renewed + self.env.settings.heartbeat, Due::Heartbeat)),
                Some((signs.1 + stall_timeout, Due::Stall)),
                step.timeout.map(|timeout| (started + timeout, Due::Timeout)),
            ];
            let (at, due) = due
                .into_iter()
                .flatten()
                .min_by_key(|(at, _)| *at)
                .expect("a heartbeat is always due some time");
            let (clock, shutdown) = (self.env.clock, self.shutdown);
            tokio::select! {
                biased;
                result = &mut task => return Ok(CodeEnd::Returned(result)),
                Some(checkpoint) = checkpoints.recv() => {
                    let position = checkpoint.position;
                    self.lease.commit(&[Transition::Checkpoint { version, n: step.n, position }]).await?;
                    renewed = self.env.clock.now();
                    guard.note_progress();
                    // A task that no longer waits for the answer has what it asked for all the same.
                    let _ = checkpoint.stored.send(());
                }
                () = shutdown.requested(), if step.repeat == Repeat::Idempotent => {
                    guard.close();
                    let quiet = guard.quiet();
                    let mut quiet = pin!(quiet);
                    // What is under way ends; nothing new is let through.
                    let limit = self.env.settings.statement_timeout;
                    tokio::select! {
                        biased;
                        () = &mut quiet => {}
                        result = &mut task => return Ok(CodeEnd::Returned(result)),
                        () = clock.sleep(limit) => {}
                    }
                    return Ok(CodeEnd::Stopped);
                }
                () = clock.sleep(at.saturating_sub(now)) => {
                    self.warn_if_blocked(step, clock.now().saturating_sub(at));
                    match due {
                    Due::Heartbeat => {
                        self.lease.renew().await?;
                        renewed = self.env.clock.now();
                    }
                    Due::Stall if guard.signs_of_life() != signs.0 => {}
                    Due::Stall => {
                        return Ok(stuck(guard, format!(
                            "step {} ({}) gave no sign of progress for {}", step.number(), step.task, human(stall_timeout)
                        )));
                    }
                    Due::Timeout => {
                        return Ok(stuck(guard, format!(
                            "step {} ({}) did not end within its timeout of {}",
                            step.number(), step.task, human(self.env.clock.now().saturating_sub(started))
                        )));
                    }
                    }
                }
            }
        }
    }

    /// A task that computes or waits without yielding keeps the heartbeat from being sent.
    fn warn_if_blocked(&mut self, step: &Step, late: Duration) {
        if late < BLOCKED_MIN {
            return;
        }
        let warning = format!(
            "step {} ({}) has blocked the runtime for {}: use tokio::task::spawn_blocking, or the lease is lost",
            step.number(),
            step.task,
            human(late)
        );
        tracing::warn!("{warning}");
        self.warnings.push(warning);
    }

    /// Waits until no data statement of unknown outcome can land any more.
    pub(super) async fn drain_data(&mut self) -> Result<(), Halt> {
        let left = self.data_in_flight_until.saturating_sub(self.env.clock.now());
        if left.is_zero() {
            return Ok(());
        }
        tracing::info!(left = human(left), "waits until a statement of unknown outcome cannot land any more");
        let clock = self.env.clock;
        self.renewing(clock.sleep(left)).await
    }

    /// Waits until the node that had a schema statement of unknown outcome can no longer be at work on it. One that
    /// stays silent is named and not waited for longer: a stopped node must not hold the fleet up.
    pub(super) async fn drain_schema(&mut self, coordinator: Option<&Coordinator>) -> Result<(), Halt> {
        let Some(node) = coordinator else { return Ok(()) };
        let (executor, timeout) = (self.executor, self.env.settings.drain_schema);
        if self.renewing(executor.drain(node, timeout)).await? == Drained::Silent {
            let remark = format!("undrained {}", node.0);
            tracing::warn!(
                node = node.0,
                "a node that may still hold an earlier schema statement does not answer"
            );
            self.lease.commit(&[Transition::Note(remark)]).await?;
        }
        // The next schema statement goes to a node that answers.
        self.coordinator = None;
        Ok(())
    }

    pub(super) async fn probe(&mut self, change: &SchemaChange) -> Result<Effect, Halt> {
        let mut backoff = Backoff::of_watchers();
        let mut failures = 0;
        loop {
            let executor = self.executor;
            match self.renewing(executor.probe(change)).await? {
                Ok(effect) => return Ok(effect),
                Err(error) if failures < PROBES_MAX => {
                    tracing::warn!(%error, "system_schema could not be read");
                    failures += 1;
                    let (clock, pause) = (self.env.clock, backoff.pause(self.env.dice));
                    self.renewing(clock.sleep(pause)).await?;
                }
                Err(error) => return Err(Halt::Failed(Problem::of_send(error, "read system_schema"))),
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the session has no connection to any node that could coordinate a schema statement")]
struct NoCoordinator;

pub(super) fn no_coordinator(waited: Duration) -> Problem {
    Problem::Unreachable { waited, source: Arc::new(NoCoordinator) }
}

fn stuck(guard: &Guard, reason: String) -> CodeEnd {
    guard.close();
    CodeEnd::Stuck(reason)
}

enum Due {
    Heartbeat,
    Stall,
    Timeout,
}

enum CodeEnd {
    Returned(Result<(), TaskError>),
    Stuck(String),
    Stopped,
}
