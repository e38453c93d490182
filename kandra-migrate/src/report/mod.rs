//! What a run has done, would do, and has found.

mod audit;
mod planned;
mod status;

use std::fmt;
use std::time::Duration;

pub use audit::AuditEvent;
pub use planned::{PlannedMigration, PlannedStep};
pub use status::{MigrationStatus, Status};

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
                let mut separator = ": ";
                for migration in &self.applied {
                    write!(f, "{separator}{} {}", migration.version, migration.name)?;
                    separator = ", ";
                }
                Ok(())
            }
            Outcome::WaitedFor(holder) => write!(f, "waited {} for {holder}", human(self.waited)),
            Outcome::Pending => write!(f, "{} pending", self.pending.len()),
        }
    }
}

/// A duration as people write it: `850 ms`, `3.2 s`, `41 s`, `2 min 5 s`.
pub(crate) fn human(duration: Duration) -> String {
    let (seconds, millis) = (duration.as_secs(), duration.subsec_millis());
    match seconds {
        0 => format!("{millis} ms"),
        1..10 if millis >= 100 => format!("{seconds}.{} s", millis / 100),
        1..120 => format!("{seconds} s"),
        _ if seconds % 60 == 0 => format!("{} min", seconds / 60),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::human;
    use std::time::Duration;

    #[test]
    fn durations_read_like_speech() {
        for (ms, text) in [
            (0, "0 ms"),
            (850, "850 ms"),
            (3_200, "3.2 s"),
            (3_000, "3 s"),
            (41_900, "41 s"),
            (120_000, "2 min"),
            (125_000, "2 min 5 s"),
        ] {
            assert_eq!(human(Duration::from_millis(ms)), text);
        }
    }
}
