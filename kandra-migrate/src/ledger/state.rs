//! The states of versions and steps, and which may follow which.

use std::fmt;

use thiserror::Error;

/// The state of a version's row. A version without a row is queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VersionState {
    /// No row: known to the binary or not, nobody has claimed it.
    Queued,
    /// Claimed; its steps run or will be resumed.
    Running,
    /// Stopped until an operator, or a repaired binary, goes on.
    Paused,
    /// All steps are done.
    Completed,
    /// Its steps are being undone.
    RollbackRunning,
    /// An undo failed or is forbidden.
    RollbackPaused,
    /// All steps are undone; the same checksum is refused.
    RollbackCompleted,
}

impl VersionState {
    const NAMES: [(Self, &'static str); 7] = [
        (Self::Queued, "QUEUED"),
        (Self::Running, "RUNNING"),
        (Self::Paused, "PAUSED"),
        (Self::Completed, "COMPLETED"),
        (Self::RollbackRunning, "ROLLBACK_RUNNING"),
        (Self::RollbackPaused, "ROLLBACK_PAUSED"),
        (Self::RollbackCompleted, "ROLLBACK_COMPLETED"),
    ];

    /// The stored name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(state, _)| *state == self).map_or("?", |(_, name)| name)
    }

    /// The state with this stored name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, stored)| *stored == name).map(|(state, _)| *state)
    }

    fn may_become(self, next: Self) -> bool {
        use VersionState::{
            Completed, Paused, Queued, RollbackCompleted, RollbackPaused, RollbackRunning, Running,
        };
        match self {
            Queued => matches!(next, Running | Completed),
            Running => matches!(next, Queued | Running | Paused | Completed | RollbackRunning),
            Paused => matches!(next, Queued | Running | Completed | RollbackRunning),
            Completed => matches!(next, Completed | RollbackRunning),
            RollbackRunning => matches!(next, RollbackPaused | RollbackCompleted),
            RollbackPaused => matches!(next, RollbackRunning | Queued),
            RollbackCompleted => matches!(next, Running | Queued),
        }
    }

    pub(crate) fn become_state(self, version: i64, next: Self) -> Result<Self, IllegalTransition> {
        if self.may_become(next) {
            return Ok(next);
        }
        Err(IllegalTransition { what: format!("version {version}"), from: self.name(), to: next.name() })
    }
}

impl fmt::Display for VersionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The state of a step's journal row. A step without a row has not been begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepState {
    /// No row.
    Queued,
    /// Begun: what it did is unknown until it is done.
    Intent,
    /// Its effect is there.
    Done,
    /// It failed definitely, without effect as far as its kind can promise that.
    Failed,
    /// Its undo is begun.
    UndoIntent,
    /// It was undone.
    Undone,
}

impl StepState {
    const NAMES: [(Self, &'static str); 6] = [
        (Self::Queued, "QUEUED"),
        (Self::Intent, "INTENT"),
        (Self::Done, "DONE"),
        (Self::Failed, "FAILED"),
        (Self::UndoIntent, "UNDO_INTENT"),
        (Self::Undone, "UNDONE"),
    ];

    /// The stored name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(state, _)| *state == self).map_or("?", |(_, name)| name)
    }

    /// The state with this stored name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, stored)| *stored == name).map(|(state, _)| *state)
    }

    fn may_become(self, next: Self) -> bool {
        use StepState::{Done, Failed, Intent, Queued, UndoIntent, Undone};
        match self {
            Intent => matches!(next, Intent | Done | Failed | UndoIntent),
            Done => matches!(next, Intent | UndoIntent),
            Failed => matches!(next, Intent | Done | Failed | UndoIntent),
            UndoIntent => matches!(next, UndoIntent | Undone),
            Queued | Undone => matches!(next, Intent),
        }
    }

    pub(crate) fn become_state(self, version: i64, n: i64, next: Self) -> Result<Self, IllegalTransition> {
        if self.may_become(next) {
            return Ok(next);
        }
        Err(IllegalTransition {
            what: format!("step {} of version {version}", n + 1),
            from: self.name(),
            to: next.name(),
        })
    }
}

impl fmt::Display for StepState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A change of the ledger that the protocol does not know.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what} cannot go from {from} to {to}")]
pub struct IllegalTransition {
    pub(crate) what: String,
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
}
