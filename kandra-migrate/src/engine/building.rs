//! Waiting until an index or view is built.

use std::time::Duration;

use super::executor::Executor;
use super::halt::Halt;
use super::hold::Holder;
use super::perform::StepEnd;
use crate::clock::Clock;
use crate::human::human;
use crate::plan::Step;
use crate::port::BuildState;
use crate::schema::Effect;
use crate::store::Store;

/// Between two looks at the nodes.
const LOOK_MS: Duration = Duration::from_millis(500);

impl<S: Store, C: Clock, X: Executor> Holder<'_, S, C, X> {
    /// The end of a step whose effect is there: where it says `.wait_built()`, once each node that is up has built it.
    /// The step stays begun meanwhile, so that the next run waits on where this one dies.
    pub(super) async fn once_built(
        &mut self,
        version: i64,
        step: &Step,
        end: StepEnd,
    ) -> Result<StepEnd, Halt> {
        let Some(change) = step.change().filter(|_| step.wait_built && matches!(end, StepEnd::Done)) else {
            return Ok(end);
        };
        // A node that does not know of it yet has none to build.
        self.unsettled = true;
        self.settle(Some(version), &mut Vec::new()).await?;
        if self.doubted.contains(&version) && self.probe(change).await? == Effect::Absent {
            return Ok(StepEnd::Unknown("it went with the node that had carried it out".to_owned()));
        }
        let (executor, clock) = (self.executor, self.env.clock);
        let stall_timeout = step.stall_timeout.unwrap_or(self.env.settings.stall_timeout);
        let begun = clock.now();
        let (mut last, mut last_change) = (BuildState::default(), begun);
        loop {
            match self.renewing(executor.built(change)).await? {
                Ok(now) if now.nodes > 0 && now.built == now.nodes => {
                    self.warn_of_down(step, now.down);
                    return Ok(StepEnd::Done);
                }
                Ok(now) if now != last => {
                    let BuildState { nodes, built, progress, .. } = &now;
                    tracing::info!(step = step.number(), built, nodes, progress, "waits until it is built");
                    (last, last_change) = (now, clock.now());
                }
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "the nodes do not say whether it is built"),
            }
            if self.shutdown.is_requested() {
                return Ok(StepEnd::Stopped);
            }
            let now = clock.now();
            if now.saturating_sub(last_change) >= stall_timeout {
                let reason = format!("came no further for {}", human(stall_timeout));
                return Ok(unbuilt(step, &last, &reason));
            }
            if let Some(timeout) = step.timeout.filter(|timeout| now.saturating_sub(begun) >= *timeout) {
                return Ok(unbuilt(
                    step,
                    &last,
                    &format!("did not end within its timeout of {}", human(timeout)),
                ));
            }
            self.renewing(clock.sleep(LOOK_MS)).await?;
        }
    }

    fn warn_of_down(&mut self, step: &Step, down: usize) {
        if down > 0 {
            let (number, task) = (step.number(), &step.task);
            self.warnings.push(format!(
                "step {number} ({task}) is built on all nodes that are up; {down} are down and build it when they are back"
            ));
        }
    }
}

fn unbuilt(step: &Step, built: &BuildState, reason: &str) -> StepEnd {
    let (number, task, BuildState { nodes, built, progress, .. }) = (step.number(), &step.task, built);
    let progress = if progress.is_empty() { String::new() } else { format!(" ({progress})") };
    StepEnd::Pause(format!(
        "step {number} ({task}) exists, and its build {reason}: {built} of {nodes} nodes have built it{progress}"
    ))
}
