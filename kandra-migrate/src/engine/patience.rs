//! How long a failed version is left alone. Pure.

use std::time::Duration;

use super::catalog::Entry;
use crate::ledger::{Ledger, StepRow, StepState};

const FIRST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(300);

/// A version that failed and is not tried again yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Patience {
    /// How long it is still left alone.
    pub(crate) left: Duration,
    /// How often its step failed.
    pub(crate) failures: i64,
    /// The last error.
    pub(crate) reason: String,
}

/// Whether a version that failed is left alone still: after its n-th failure it is for 5 s · 2^(n-1), at most 5 min,
/// by the server's clock, so that a fleet that restarts does not storm it. An edited text is tried at once.
pub(crate) fn patience(ledger: &Ledger, entry: &Entry, server_ms: Option<i64>) -> Option<Patience> {
    let row = ledger.steps_of(entry.version().get()).find(|row| row.state == StepState::Failed)?;
    if row.checksum.as_deref() != Some(entry.migration.checksum()) {
        return None;
    }
    let age_ms = server_ms? - row.written_us? / 1000;
    let left = pause(row).saturating_sub(Duration::from_millis(u64::try_from(age_ms).unwrap_or_default()));
    let reason = row.error.clone().unwrap_or_default();
    (!left.is_zero()).then_some(Patience { left, failures: row.failures, reason })
}

fn pause(row: &StepRow) -> Duration {
    let doublings = u32::try_from(row.failures.clamp(1, 16) - 1).unwrap_or_default();
    (FIRST * 2_u32.pow(doublings)).min(LONGEST)
}
