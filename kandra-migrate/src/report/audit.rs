//! The audit trail, for people.

use std::fmt;

use crate::ledger::Event;

/// One entry of the audit trail: a conditional write of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AuditEvent {
    /// Its number; ascending, with gaps where a lease was only renewed.
    pub revision: i64,
    /// When, in milliseconds since the epoch by the writer's clock.
    pub at_ms: i64,
    /// Who: host, process, application.
    pub actor: String,
    /// What, in order: `acquired`, `claimed 3 split_user_name`, `begun 3/1 …`, `done 3/1`, `completed 3`, …
    pub transitions: Vec<String>,
    /// With which error.
    pub error: Option<String>,
    /// Why, where a person did it.
    pub reason: Option<String>,
}

impl From<Event> for AuditEvent {
    fn from(event: Event) -> Self {
        Self {
            revision: event.rev,
            at_ms: event.at,
            actor: event.actor,
            transitions: event.text.lines().map(str::to_owned).collect(),
            error: event.error,
            reason: event.reason,
        }
    }
}

impl fmt::Display for AuditEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>6}  {}  {}", self.revision, self.transitions.join(", "), self.actor)?;
        if let Some(reason) = &self.reason {
            write!(f, "  ({reason})")?;
        }
        if let Some(error) = &self.error {
            write!(f, "  {error}")?;
        }
        Ok(())
    }
}
