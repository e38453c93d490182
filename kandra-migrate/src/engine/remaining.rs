//! What is not applied, for a report: pending, or left to a run that does what is deferred too.

use std::time::Duration;

use super::catalog::{Catalog, Entry};
use super::reader::Reader;
use crate::clock::Clock;
use crate::error::Problem;
use crate::ledger::{FAILED, Head, Ledger, StepState, VersionState};
use crate::report::{MigrationReport, Report};
use crate::store::{ReadLevel, Slice, Store};

/// Says in a report what a ledger lacks.
pub(crate) fn tell_remaining(report: &mut Report, catalog: &Catalog, ledger: &Ledger) {
    report.pending = catalog.pending(ledger).map(migration_report).collect();
    report.deferred = catalog.deferred(ledger).map(migration_report).collect();
}

pub(super) fn migration_report(entry: &Entry) -> MigrationReport {
    MigrationReport { version: entry.version(), name: entry.name().to_owned(), took: Duration::ZERO }
}

/// Whether a head that was last written about this version tells that something is wrong with it.
pub(super) fn is_in_trouble(version: i64, active_version: Option<i64>, active_state: Option<&str>) -> bool {
    let is_bad = |state: &str| state == FAILED || state == VersionState::Paused.name();
    active_version == Some(version) && active_state.is_some_and(is_bad)
}

/// That the first deferred version is paused or has failed. It holds no start up, so that it is only said.
pub(crate) async fn trouble_of_deferred<S: Store, C: Clock>(
    reader: &Reader<'_, S, C>,
    catalog: &Catalog,
    ledger: &Ledger,
) -> Result<Option<String>, Problem> {
    let Some(entry) = catalog.deferred(ledger).next() else { return Ok(None) };
    let version = entry.version().get();
    let told = |state: &str, why: Option<String>| {
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        Some(format!("version {version} {}, which is deferred, {state}{why}", entry.name()))
    };
    if let Some(row) = ledger.version(version) {
        let is_paused = row.state == VersionState::Paused;
        return Ok(told("is paused", row.error.clone()).filter(|_| is_paused));
    }
    let failed = |head: &Head| is_in_trouble(version, head.active_version, head.active_state.as_deref());
    if !ledger.head().is_some_and(failed) {
        return Ok(None);
    }
    let journal = reader.ledger(Slice::StepsFrom(version), ReadLevel::Quorum).await?;
    let failed = journal.steps_of(version).find(|step| step.state == StepState::Failed);
    Ok(told("has failed", failed.and_then(|step| step.error.clone())))
}
