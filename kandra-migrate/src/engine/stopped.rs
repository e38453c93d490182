//! A version that nobody goes on with.

use super::catalog::{Catalog, Entry};
use super::decide::{Stance, stance, stuck};
use super::reader::Reader;
use crate::clock::Clock;
use crate::error::Problem;
use crate::ledger::{Head, Ledger};
use crate::store::{ReadLevel, Slice, Store};

/// The first pending version, and why, if nobody goes on with it.
pub(crate) fn stopped<'a>(
    head: &Head,
    ledger: &'a Ledger,
    catalog: &'a Catalog,
) -> Option<(&'a Entry, String)> {
    let entry = catalog.pending(ledger).next()?;
    let version = entry.version().get();
    match stance(ledger, entry) {
        Stance::Stopped(_) if head.resumes(version) => None,
        Stance::Stopped(reason) => Some((entry, reason)),
        // It is not begun, and nobody is to begin it.
        Stance::Ready if head.pauses(version) && ledger.version(version).is_none() => {
            Some((entry, head.command_text()))
        }
        _ => None,
    }
}

/// The problem of a version that nobody goes on with; its journal tells what it waits for.
pub(crate) async fn paused<S: Store, C: Clock>(
    reader: &Reader<'_, S, C>,
    ledger: &Ledger,
    entry: &Entry,
    reason: String,
) -> Result<Problem, Problem> {
    let (version, name) = (entry.version(), entry.name().to_owned());
    let mut ledger = ledger.clone();
    ledger.steps = reader.ledger(Slice::StepsFrom(version.get()), ReadLevel::Quorum).await?.steps;
    Ok(Problem::Paused { version, name, reason, stuck: stuck(&ledger, entry) })
}
