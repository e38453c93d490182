//! Where a keyspace stands.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::human::human;
use crate::ledger::{Head, Ledger, StepRow, VersionState};
use crate::migration::Migration;

/// Where a keyspace stands: what [`Runner::status`](crate::Runner::status) has read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Status {
    /// Who holds the lease: host, process, application.
    pub holder: Option<String>,
    /// How many runs have held it so far.
    pub epoch: i64,
    /// Until when nothing is begun, in milliseconds since the epoch by the server's clock. It may be over.
    pub hold_until_ms: Option<i64>,
    /// Why.
    pub hold_reason: Option<String>,
    /// What an operator has asked for and no run has acted on yet: `pause of 3 by …: …`.
    pub asked: Option<String>,
    /// Each version that the ledger or the binary knows, ascending.
    pub migrations: Vec<MigrationStatus>,
}

/// Where one version stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MigrationStatus {
    /// The version.
    pub version: i64,
    /// The name.
    pub name: String,
    /// The state: `QUEUED`, `RUNNING`, `PAUSED`, `COMPLETED`, …
    pub state: &'static str,
    /// When it was completed, in milliseconds since the epoch by that instance's clock.
    pub applied_at_ms: Option<i64>,
    /// How long that took.
    pub took: Option<Duration>,
    /// The instance that claimed or completed it.
    pub applied_by: Option<String>,
    /// Whether the binary has this version.
    pub known: bool,
    /// Whether it is not completed and [`Runner::run`](crate::Runner::run) leaves it to
    /// [`Runner::run_deferred`](crate::Runner::run_deferred).
    pub deferred: bool,
    /// Whether the binary's text is the applied one, or declared to be its equal; `None` where nothing is applied, or
    /// the binary does not have it.
    pub unchanged: Option<bool>,
    /// Why it is paused.
    pub error: Option<String>,
    /// Its steps that were begun, in order; empty once it is completed.
    pub steps: Vec<StepStatus>,
}

/// Where a step of a version that is not completed stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StepStatus {
    /// Its number in the plan, from 1.
    pub number: i64,
    /// The task's name.
    pub task: String,
    /// The state: `INTENT` for one that was begun and whose outcome is not known, `DONE`, `FAILED`, …
    pub state: &'static str,
    /// How often it was begun without a known outcome since the last known one.
    pub attempts: i64,
    /// The checkpoint of a code task.
    pub checkpoint: Option<String>,
    /// The last error.
    pub error: Option<String>,
}

impl Status {
    /// From a ledger, and the migrations that the binary has.
    pub(crate) fn of(ledger: &Ledger, known: impl Iterator<Item = &'static Migration>) -> Self {
        let mut versions: BTreeMap<_, _> = ledger.versions().map(|row| (row.version, None)).collect();
        versions.extend(known.map(|migration| (migration.version().get(), Some(migration))));
        let waits = |version: i64, migration: Option<&Migration>| {
            migration.is_some_and(Migration::is_after_start) && !ledger.is_completed(version)
        };
        let mut in_order = versions.iter().map(|(version, migration)| (*version, *migration));
        let first_deferred = in_order.find(|(version, migration)| waits(*version, *migration));
        let first_deferred = first_deferred.map(|(version, _)| version);
        let head = ledger.head();
        Self {
            holder: head.filter(|head| head.owner.is_some()).and_then(|head| head.owner_info.clone()),
            epoch: head.map_or(0, |head| head.epoch),
            hold_until_ms: head.and_then(|head| head.hold_until),
            hold_reason: head.and_then(|head| head.hold_reason.clone()),
            asked: head.and_then(asked),
            migrations: versions
                .into_iter()
                .map(|(version, migration)| {
                    let mut status = MigrationStatus::of(version, migration, ledger);
                    let is_behind = first_deferred.is_some_and(|first| version >= first);
                    status.deferred = is_behind && status.known && !status.is_completed();
                    status
                })
                .collect(),
        }
    }
}

impl MigrationStatus {
    fn of(version: i64, migration: Option<&Migration>, ledger: &Ledger) -> Self {
        let row = ledger.version(version);
        let ours = migration.map(|migration| migration.name().to_owned());
        let name = ours.or_else(|| row.map(|row| row.name.clone()));
        let millis = |ms: i64| Duration::from_millis(u64::try_from(ms).unwrap_or_default());
        Self {
            version,
            name: name.unwrap_or_default(),
            state: ledger.version_state(version).name(),
            applied_at_ms: row.and_then(|row| row.applied_at),
            took: row.and_then(|row| row.execution_ms).map(millis),
            applied_by: row.map(|row| row.applied_by.clone()),
            known: migration.is_some(),
            deferred: false,
            unchanged: row.zip(migration).map(|(row, migration)| migration.accepts(&row.checksum)),
            error: row.and_then(|row| row.error.clone()),
            steps: ledger.steps_of(version).map(StepStatus::of).collect(),
        }
    }

    /// Whether it is completed.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.state == VersionState::Completed.name()
    }
}

impl StepStatus {
    fn of(row: &StepRow) -> Self {
        Self {
            number: row.n + 1,
            task: row.task.clone(),
            state: row.state.name(),
            attempts: row.attempts,
            checkpoint: row.position.clone(),
            error: row.error.clone(),
        }
    }
}

fn asked(head: &Head) -> Option<String> {
    let kind = head.command()?.name();
    let version = head.cmd_version.map(|version| format!(" of {version}")).unwrap_or_default();
    Some(format!("{kind}{version} {}", head.command_text()))
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.holder {
            Some(holder) => write!(f, "lease: held by {holder}")?,
            None => f.write_str("lease: free")?,
        }
        let width = self.migrations.iter().map(|migration| migration.name.len()).max().unwrap_or_default();
        for migration in &self.migrations {
            write!(f, "\n{:>6}  {:width$}  {}", migration.version, migration.name, migration.state)?;
            if let Some((took, by)) = migration.took.zip(migration.applied_by.as_ref()) {
                write!(f, " in {} by {by}", human(took))?;
            }
            if migration.unchanged == Some(false) {
                f.write_str(", edited since")?;
            }
            if migration.deferred {
                f.write_str(", deferred")?;
            }
            if !migration.known {
                f.write_str(", unknown to this binary")?;
            }
            if let Some(error) = &migration.error {
                write!(f, ": {error}")?;
            }
        }
        Ok(())
    }
}
