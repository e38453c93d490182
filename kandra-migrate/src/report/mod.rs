//! What a run has done, would do, and has found.

mod audit;
mod drift;
mod finding;
mod outlook;
mod planned;
mod status;

use std::fmt;
use std::time::Duration;

pub use audit::AuditEvent;
pub use drift::{Difference, Drift};
pub use finding::LintFinding;
pub(crate) use outlook::{Outlook, Seen};
pub(crate) use planned::{Foresight, Literals};
pub use planned::{PlannedMigration, PlannedStep};
pub use status::{MigrationStatus, Status, StepStatus};

use crate::human::human;
use crate::migration::Version;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum Outcome {
    /// Nothing was to be done.
    AlreadyCurrent,
    /// This run applied what was pending, or the last part of it.
    Migrated,
    /// Another instance did, and this run waited for it. The text names the holder: host, process, application.
    WaitedFor(String),
    /// Another instance is at it and this run did not wait, by [`Wait::ReturnPending`](crate::Wait::ReturnPending).
    Pending,
}

/// A migration, in a report.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MigrationReport {
    /// The version.
    pub version: Version,
    /// The name.
    pub name: String,
    /// How long this run worked on it; zero for one that it did not apply.
    pub took: Duration,
}

/// What a run has done, and what it has found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// What this run has applied, in order.
    pub applied: Vec<MigrationReport>,
    /// What is still to be applied, in order.
    pub pending: Vec<MigrationReport>,
    /// What a service does not wait for, in order: the first version that is `after_start` and not applied, and all behind
    /// it. [`Runner::run_deferred`](crate::Runner::run_deferred) applies it.
    pub deferred: Vec<MigrationReport>,
    /// How long this run waited for another one.
    pub waited: Duration,
    /// Who held the lease when this run last saw one: host, process, application.
    pub holder: Option<String>,
    /// What should be looked at, although nothing failed.
    pub warnings: Vec<String>,
}

impl Report {
    pub(crate) fn new() -> Self {
        Self {
            outcome: Outcome::AlreadyCurrent,
            applied: Vec::new(),
            pending: Vec::new(),
            deferred: Vec::new(),
            waited: Duration::ZERO,
            holder: None,
            warnings: Vec::new(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::AlreadyCurrent => f.write_str("already current"),
            Outcome::Migrated => {
                write!(f, "migrated: applied {}", self.applied.len())?;
                list(f, &self.applied)
            }
            Outcome::WaitedFor(holder) => write!(f, "waited {} for {holder}", human(self.waited)),
            Outcome::Pending => write!(f, "{} pending", self.pending.len()),
        }?;
        if self.deferred.is_empty() {
            return Ok(());
        }
        write!(f, "; deferred {}", self.deferred.len())?;
        list(f, &self.deferred)
    }
}

/// `: 1 a, 2 b`
fn list(f: &mut fmt::Formatter<'_>, migrations: &[MigrationReport]) -> fmt::Result {
    let mut separator = ": ";
    for migration in migrations {
        write!(f, "{separator}{} {}", migration.version, migration.name)?;
        separator = ", ";
    }
    Ok(())
}
