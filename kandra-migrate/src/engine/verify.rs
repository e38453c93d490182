//! Whether the ledger's history and the binary's migrations fit. Pure.

use super::catalog::{Catalog, Entry};
use crate::error::Problem;
use crate::ledger::{FAILED, Ledger, VersionRow, VersionState};

/// Compares the completed versions with the binary's migrations.
///
/// Returns what should be looked at although it is accepted: an older image after a newer one must start.
pub(crate) fn verify(ledger: &Ledger, catalog: &Catalog) -> Result<Vec<String>, Problem> {
    let mut warnings = Vec::new();
    for row in ledger.versions() {
        match catalog.get(row.version) {
            // What is in flight may be repaired by an edit; what is completed may not be edited.
            Some(entry) if row.state == VersionState::Completed => warnings.extend(same(row, entry)?),
            Some(_) => {}
            None if catalog.knows(row.version) => {}
            None => warnings.extend(unknown(row, catalog)?),
        }
    }
    warnings.extend(gone(ledger, catalog));
    if let Some(newest) = ledger.newest_completed() {
        let late =
            catalog.open(ledger).find(|entry| entry.version().get() < newest && !may_be_late(ledger, entry));
        if let Some(entry) = late {
            return Err(Problem::BelowFrontier {
                version: entry.version(),
                name: entry.name().to_owned(),
                location: entry.migration.location(),
                newest,
                is_file: entry.migration.is_file(),
            });
        }
    }
    warnings.extend(catalog.entries().filter_map(|entry| {
        let why = entry.migration.reaches_outside()?;
        let at = entry.migration.location();
        Some(format!(
            "version {} {} ({at}) reaches outside of its module, where an edit does not change its checksum: {why}",
            entry.version(),
            entry.name()
        ))
    }));
    Ok(warnings)
}

/// A version that another image has begun and this binary does not have: over it, nothing is begun.
pub(crate) fn begun_by_another_image(ledger: &Ledger, catalog: &Catalog) -> Option<Problem> {
    let row = ledger.versions().find(|row| {
        !matches!(row.state, VersionState::Completed | VersionState::RollbackCompleted)
            && !catalog.knows(row.version)
    })?;
    Some(Problem::UnknownInFlight {
        version: row.version,
        name: row.name.clone(),
        state: row.state,
        by: row.applied_by.clone(),
    })
}

/// A version that has failed, left its journal, and is gone from the code.
fn gone(ledger: &Ledger, catalog: &Catalog) -> Option<String> {
    let head = ledger.head().filter(|head| head.active_state.as_deref() == Some(FAILED))?;
    let version = head.active_version.filter(|version| !catalog.knows(*version))?;
    Some(format!(
        "version {version} has failed, is unknown to this binary, and what its steps have done is still there: say abandon \
         once that is taken back"
    ))
}

/// A version that was claimed when nothing newer was completed may finish.
fn may_be_late(ledger: &Ledger, entry: &Entry) -> bool {
    entry.migration.is_out_of_order() || ledger.version(entry.version().get()).is_some()
}

fn same(row: &VersionRow, entry: &Entry) -> Result<Option<String>, Problem> {
    if entry.migration.accepts(&row.checksum) {
        return Ok(None);
    }
    if !entry.migration.knows_format_of(&row.checksum) {
        return Ok(Some(format!(
            "version {} {} was applied with checksum {}, whose format this binary does not know: it was not compared",
            row.version, row.name, row.checksum
        )));
    }
    Err(Problem::ChecksumMismatch {
        version: entry.version(),
        name: entry.name().to_owned(),
        location: entry.migration.location(),
        stored: row.checksum.clone(),
        ours: entry.migration.checksum().to_owned(),
        is_file: entry.migration.is_file(),
    })
}

fn unknown(row: &VersionRow, catalog: &Catalog) -> Result<Option<String>, Problem> {
    let newest = catalog.newest().filter(|newest| newest.get() > row.version);
    match newest {
        Some(newest) if row.state == VersionState::Completed && !row.out_of_order => {
            Err(Problem::DivergentHistory { version: row.version, name: row.name.clone(), newest })
        }
        _ => Ok(Some(format!(
            "version {} {} is {} and unknown to this binary",
            row.version, row.name, row.state
        ))),
    }
}
