//! What a holder does about an operator's command.

use std::time::Duration;

use super::decide::Action;
use super::executor::Executor;
use super::halt::Halt;
use super::hold::Holder;
use crate::clock::Clock;
use crate::error::Problem;
use crate::ledger::{Ledger, Transition, VersionState};
use crate::store::Store;

impl<S: Store, C: Clock, X: Executor> Holder<'_, S, C, X> {
    /// Does what an operator has asked for, if that concerns the next action. `Some` where it is to be decided anew.
    pub(super) async fn obey(
        &mut self,
        action: &Action,
        ledger: &Ledger,
        known: &mut Vec<Transition>,
    ) -> Result<Option<Vec<Transition>>, Halt> {
        let Some(head) = ledger.head() else { return Ok(None) };
        match *action {
            Action::Complete { version } if head.pauses(version) => {
                // All its steps are done: there is nothing left to pause.
                let note = format!("pause of {version} came too late");
                known.extend([Transition::ClearCommand, Transition::Note(note)]);
                Ok(None)
            }
            Action::Begin { version, .. } | Action::Resume { version, .. } | Action::Repair { version }
                if head.pauses(version) =>
            {
                let reason = head.command_text();
                let write = std::mem::take(known);
                // What is not begun, or is paused already, stays as it is; the command stays too, until resume.
                if ledger.version_state(version) != VersionState::Running {
                    self.release(write).await?;
                    return Err(Halt::Failed(self.paused(version, reason)));
                }
                let n = action.step().unwrap_or_default();
                Err(self.pause(version, n, reason, write).await)
            }
            Action::Blocked { version, .. } if head.resumes(version) => {
                let mut write = std::mem::take(known);
                write.extend([Transition::Unpause { version }, Transition::ClearCommand]);
                self.commit(&write).await?;
                Ok(Some(Vec::new()))
            }
            Action::Begin { version, .. } | Action::Resume { version, .. }
                if ledger.version_state(version) == VersionState::Queued =>
            {
                let left_ms =
                    head.hold_until.zip(self.lease.server_ms()).map_or(0, |(until, now)| until - now);
                if left_ms <= 0 {
                    return Ok(None);
                }
                let reason = head.hold_reason.clone().unwrap_or_default();
                self.release(std::mem::take(known)).await?;
                let left = Duration::from_millis(u64::try_from(left_ms).unwrap_or_default());
                Err(Halt::Failed(Problem::OnHold { left, reason }))
            }
            _ => Ok(None),
        }
    }
}
