//! How a holder goes on where another run, or its own unknown outcome, has left a step.

use super::decide::Action;
use super::executor::Executor;
use super::halt::Halt;
use super::hold::Holder;
use super::perform::StepEnd;
use crate::clock::Clock;
use crate::error::Problem;
use crate::ledger::{Ledger, StepState, Transition};
use crate::mutant::{Mutant, is_broken};
use crate::plan::{Step, StepKind};
use crate::port::{Agreed, Coordinator};
use crate::schema::Effect;
use crate::store::Store;

impl<S: Store, C: Clock, X: Executor> Holder<'_, S, C, X> {
    /// Settles a step of unknown outcome, and begins it again if it has to be. The journal names the node that may still
    /// be at work on it until that is drained, and an operator's command may have arrived meanwhile.
    pub(super) async fn resume(
        &mut self,
        version: i64,
        n: i64,
        known: Vec<Transition>,
        ledger: &Ledger,
    ) -> Result<Vec<Transition>, Halt> {
        if self.quiet.remove(&(version, n)) {
            return self.begin(version, n, known, ledger).await;
        }
        if !known.is_empty() {
            self.commit(&known).await?;
        }
        self.begun.entry(version).or_insert_with(|| self.env.clock.now());
        let earlier = self.drain_step(version, n).await?;
        let step = self.entry(version).step(n);
        let is_schema = step.kind == StepKind::Schema;
        if is_schema {
            self.unsettled = true;
            self.settle(Some(version), &mut Vec::new()).await?;
        }
        // Only now: a step that is done again must not meet what was still to land of this one.
        if self.doubted.remove(&version) {
            self.recheck(version, ledger).await?;
            return Ok(Vec::new());
        }
        let ended = if is_broken(Mutant::BegunIsDone) {
            Some(StepEnd::Done)
        } else if is_schema {
            self.look(step).await?
        } else {
            None
        };
        // Of a step that has failed, only that its effect is there after all ends it; the rest the server says again.
        let failed = ledger.step_state(version, n) == StepState::Failed;
        if let Some(end) = ended.filter(|end| !failed || matches!(end, StepEnd::Done)) {
            // It may have landed after the nodes agreed, in one of them that was silent.
            self.unsettled |= is_schema;
            self.spreads_from = earlier;
            return self.finish(version, n, end).await;
        }
        self.quiet.insert((version, n));
        Ok(Vec::new())
    }

    /// Waits until nothing of a step can land any more. Returns the node that had it.
    async fn drain_step(&mut self, version: i64, n: i64) -> Result<Option<Coordinator>, Halt> {
        let row = self.lease.ledger().step(version, n);
        let earlier = row.and_then(|row| row.coordinator.clone()).map(Coordinator);
        if !is_broken(Mutant::NoDrainBeforeRerun) {
            self.drain_data().await?;
            self.drain_schema(earlier.as_ref()).await?;
        }
        Ok(earlier)
    }

    /// A schema statement whose first sending stayed unknown, and that is refused when it is sent again, may have landed
    /// late in between: then its effect is there.
    pub(super) async fn unless_there(&mut self, step: &Step, end: StepEnd) -> Result<StepEnd, Halt> {
        if step.kind != StepKind::Schema || !matches!(end, StepEnd::Failed(_)) {
            return Ok(end);
        }
        let seen = self.look(step).await?;
        Ok(seen.filter(|seen| matches!(seen, StepEnd::Done)).unwrap_or(end))
    }

    /// How a step ended by what `system_schema` says; `None` where it has to be run.
    async fn look(&mut self, step: &Step) -> Result<Option<StepEnd>, Halt> {
        let Some(change) = step.change() else { return Ok(None) };
        Ok(match self.probe(change).await? {
            Effect::There | Effect::Grown { .. } => Some(StepEnd::Done),
            Effect::Absent => None,
            // What says IF [NOT] EXISTS may be sent again whatever is there.
            Effect::Unknown { .. } if step.is_repeatable() => None,
            effect => Some(StepEnd::Pause(format!(
                "step {} was begun and its outcome is unknown: {effect}",
                step.number()
            ))),
        })
    }

    /// Looks whether the schema steps that are recorded as done are in effect: agreement was not awaited between them.
    pub(super) async fn recheck(&mut self, version: i64, ledger: &Ledger) -> Result<(), Halt> {
        self.settle(Some(version), &mut Vec::new()).await?;
        // What this agreement has cast into doubt is looked at now.
        self.doubted.remove(&version);
        let entry = self.entry(version);
        let mut seen = Vec::new();
        let done: Vec<_> =
            ledger.steps_of(version).filter(|row| row.state == StepState::Done).map(|row| row.n).collect();
        for n in done.into_iter().rev() {
            let Some(step) = entry.steps().find(n).filter(|step| step.kind == StepKind::Schema) else {
                continue;
            };
            let Some(change) = step.change() else { continue };
            // An object that a later step has changed again no longer looks as this step left it.
            if seen.contains(&change.object()) {
                continue;
            }
            seen.push(change.object());
            if self.probe(change).await? == Effect::Absent {
                tracing::warn!(
                    version,
                    step = n + 1,
                    "a step recorded as done is not in effect and is run again"
                );
                self.redo.insert((version, n));
            }
        }
        // A node that came back since the nodes agreed may be the only one where it was seen.
        self.unsettled = true;
        Ok(())
    }

    /// Whether the nodes have to agree before this: only the next schema statement to the same node does without.
    pub(super) fn needs_agreement(&self, action: &Action) -> bool {
        match *action {
            Action::Begin { version, n } => self.entry(version).step(n).kind != StepKind::Schema,
            Action::Complete { .. } | Action::Release => true,
            _ => false,
        }
    }

    /// Waits until the nodes agree, if a schema statement was sent since they last did. Where they do not, what is
    /// known is written and the lease is given back. Where they do without the node that has carried the statements out,
    /// it may have told nobody: what is recorded of this version is in doubt.
    pub(super) async fn settle(
        &mut self,
        version: Option<i64>,
        known: &mut Vec<Transition>,
    ) -> Result<(), Halt> {
        if !self.unsettled {
            return Ok(());
        }
        let executor = self.executor;
        let timeout = self.env.settings.agreement_timeout;
        let from = self.spreads_from.take();
        match self.renewing(executor.agree(from.as_ref(), timeout)).await? {
            Ok(Agreed::All) => {}
            Ok(Agreed::WithoutIt) => self.doubted.extend(version),
            Err(source) => {
                self.release(std::mem::take(known)).await?;
                return Err(Halt::Failed(Problem::no_agreement("after a schema statement", source)));
            }
        }
        self.unsettled = false;
        Ok(())
    }
}
