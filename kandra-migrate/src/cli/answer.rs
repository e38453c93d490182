//! What a command has found or done, and the exit code of that.

use super::exit::Exit;
use crate::report::{AuditEvent, Drift, LintFinding, MigrationStatus, PlannedMigration, Report, Status};

/// What a command has found or done.
#[derive(Debug)]
pub(super) enum Answer {
    Status(Status),
    Plan {
        migrations: Vec<PlannedMigration>,
        /// As a script with all literals.
        as_cql: bool,
    },
    Verified(Report),
    /// How many migrations there are, and what was found in them.
    Linted {
        migrations: usize,
        findings: Vec<LintFinding>,
    },
    Compared {
        report: Report,
        drift: Drift,
    },
    Ran(Report),
    Waited(Report),
    Changes {
        changes: Vec<String>,
        outcome: Changed,
    },
    Events(Vec<AuditEvent>),
}

/// What became of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Changed {
    Made,
    OnlyShown,
    Declined,
}

/// Whether this binary needs a version before it is ready, and does not have it yet.
pub(super) fn is_pending(migration: &MigrationStatus) -> bool {
    migration.known && !migration.is_completed() && !migration.deferred
}

/// Whether an applied version has another text here.
pub(super) fn is_edited(migration: &MigrationStatus) -> bool {
    migration.is_completed() && migration.unchanged == Some(false)
}

/// Whether somebody has to look at it.
pub(super) fn is_paused(migration: &MigrationStatus) -> bool {
    migration.state == "PAUSED"
}

impl Answer {
    /// `wanted`: whether what is found counts, and not only that it was found.
    pub(super) fn exit(&self, wanted: bool) -> Exit {
        match self {
            Self::Waited(report) if !report.pending.is_empty() => Exit::Pending,
            Self::Changes { outcome: Changed::Declined, .. } => Exit::Failure,
            Self::Linted { findings, .. } if !findings.is_empty() => Exit::Failure,
            Self::Compared { drift, .. } if !drift.differences.is_empty() => Exit::Mismatch,
            _ if !wanted => Exit::Success,
            Self::Status(status) => {
                let any = |is: fn(&MigrationStatus) -> bool| status.migrations.iter().any(is);
                match () {
                    () if any(is_paused) => Exit::OperatorNeeded,
                    () if any(is_edited) => Exit::Mismatch,
                    () if any(is_pending) => Exit::Pending,
                    () => Exit::Success,
                }
            }
            Self::Plan { migrations, .. } if migrations.iter().any(|one| !one.deferred) => Exit::Pending,
            Self::Verified(report) | Self::Compared { report, .. } if !report.pending.is_empty() => {
                Exit::Pending
            }
            _ => Exit::Success,
        }
    }

    /// What the person at the terminal should know besides.
    pub(super) fn remarks(&self, verb: &str, prefix: &str) -> Vec<String> {
        match self {
            Self::Verified(report)
            | Self::Compared { report, .. }
            | Self::Ran(report)
            | Self::Waited(report) => {
                let warnings = report.warnings.iter().map(|warning| format!("warning: {warning}"));
                let is_next = matches!(self, Self::Ran(_)) && !report.deferred.is_empty();
                let next = is_next.then(|| format!("Next: {prefix} run --deferred"));
                warnings.chain(next).collect()
            }
            Self::Changes { outcome: Changed::Made, .. } => match verb {
                "mark-done" | "rerun" | "abandon" | "resume" => vec![format!("Next: {prefix} run")],
                "restamp" | "baseline" => vec![format!("Next: {prefix} verify")],
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}
