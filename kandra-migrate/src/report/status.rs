//! Where a keyspace stands.

use std::fmt;
use std::time::Duration;

use super::human;
use crate::engine::Catalog;
use crate::ledger::{Ledger, VersionState};

/// Where a keyspace stands: what [`Runner::status`](crate::Runner::status) has read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Status {
    /// Who holds the lease: host, process, application.
    pub holder: Option<String>,
    /// How many runs have held it so far.
    pub epoch: i64,
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
    /// Whether the binary's text is the applied one, or declared to be its equal; `None` where nothing is applied, or
    /// the binary does not have it.
    pub unchanged: Option<bool>,
    /// Why it is paused.
    pub error: Option<String>,
}

impl Status {
    pub(crate) fn of(ledger: &Ledger, catalog: &Catalog) -> Self {
        let known = catalog.entries().map(|entry| entry.version().get());
        let mut versions: Vec<_> = ledger.versions().map(|row| row.version).chain(known).collect();
        versions.sort_unstable();
        versions.dedup();
        let head = ledger.head();
        Self {
            holder: head.filter(|head| head.owner.is_some()).and_then(|head| head.owner_info.clone()),
            epoch: head.map_or(0, |head| head.epoch),
            migrations: versions
                .into_iter()
                .map(|version| MigrationStatus::of(version, ledger, catalog))
                .collect(),
        }
    }
}

impl MigrationStatus {
    fn of(version: i64, ledger: &Ledger, catalog: &Catalog) -> Self {
        let row = ledger.version(version);
        let entry = catalog.get(version);
        let name = entry.map(|entry| entry.name().to_owned()).or_else(|| row.map(|row| row.name.clone()));
        let millis = |ms: i64| Duration::from_millis(u64::try_from(ms).unwrap_or_default());
        Self {
            version,
            name: name.unwrap_or_default(),
            state: ledger.version_state(version).name(),
            applied_at_ms: row.and_then(|row| row.applied_at),
            took: row.and_then(|row| row.execution_ms).map(millis),
            applied_by: row.map(|row| row.applied_by.clone()),
            known: entry.is_some(),
            unchanged: row.zip(entry).map(|(row, entry)| entry.migration.accepts(&row.checksum)),
            error: row.and_then(|row| row.error.clone()),
        }
    }

    /// Whether it is completed.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.state == VersionState::Completed.name()
    }
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
