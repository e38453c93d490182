//! The audit trail.

use super::cell::{Cells, Value};

/// One conditional write, as the audit trail keeps it. It outlives a claim that was released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The revision of the head that the write made.
    pub rev: i64,
    /// When, by the writer's wall clock, in milliseconds since the epoch.
    pub at: i64,
    /// Who: host, process and application.
    pub actor: String,
    /// What, a line for each transition.
    pub text: String,
    /// With which error.
    pub error: Option<String>,
    /// Why, where a person wrote it.
    pub reason: Option<String>,
}

impl Event {
    pub(crate) fn to_cells(&self) -> Cells {
        Cells::new()
            .with("at", Value::Millis(self.at))
            .with("actor", self.actor.as_str())
            .with("event", self.text.as_str())
            .with("error", self.error.clone())
            .with("reason", self.reason.clone())
    }

    /// Whether a claim was released by it because a step had failed.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.text.lines().any(|line| line.starts_with("failed "))
    }

    /// From its row.
    #[must_use]
    pub fn from_cells(rev: i64, cells: &Cells) -> Self {
        Self {
            rev,
            at: cells.int("at").unwrap_or_default(),
            actor: cells.text("actor").unwrap_or_default(),
            text: cells.text("event").unwrap_or_default(),
            error: cells.text("error"),
            reason: cells.text("reason"),
        }
    }
}
