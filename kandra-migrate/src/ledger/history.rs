//! The state of a scope: a fold of its rows.

use std::collections::BTreeMap;

use thiserror::Error;

use super::FORMAT;
use super::cell::{Cells, Key, Kind};
use super::row::{Head, StepRow, VersionRow};
use super::state::{StepState, VersionState};

/// The state of a scope, folded from its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    pub(crate) head: Option<Head>,
    pub(crate) versions: BTreeMap<i64, VersionRow>,
    pub(crate) steps: BTreeMap<(i64, i64), StepRow>,
}

/// Rows that this version of the crate cannot read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LedgerError {
    /// A newer version of the crate has upgraded the ledger.
    #[error("the ledger's format is {found}, and this binary reads up to {FORMAT}")]
    NewerFormat {
        /// The stored format.
        found: i32,
    },
    /// A row that no version of the crate has written.
    #[error("the ledger's {what} row has {column} = {value}, which is no value of that column")]
    Unreadable {
        /// Which row.
        what: &'static str,
        /// Which column.
        column: &'static str,
        /// What it says.
        value: String,
    },
}

impl LedgerError {
    pub(crate) fn unreadable(what: &'static str, column: &'static str, value: &str) -> Self {
        Self::Unreadable { what, column, value: value.to_owned() }
    }
}

impl Ledger {
    /// Folds rows; those that are not of a head, a version or a step are passed over.
    pub fn from_rows(rows: impl IntoIterator<Item = (Key, Cells)>) -> Result<Self, LedgerError> {
        let mut ledger = Self::default();
        for (key, cells) in rows {
            match key.kind {
                Kind::Head => {
                    ledger.head = Head::from_cells(&cells)?;
                    if let Some(found) =
                        ledger.head.as_ref().map(|head| head.fmt_read).filter(|fmt| *fmt > FORMAT)
                    {
                        return Err(LedgerError::NewerFormat { found });
                    }
                }
                Kind::Version => {
                    ledger.versions.insert(key.version, VersionRow::from_cells(key.version, &cells)?);
                }
                Kind::Step => {
                    let row = StepRow::from_cells(key.version, key.n, &cells)?;
                    ledger.steps.insert((key.version, key.n), row);
                }
                Kind::Event | Kind::Lock => {}
            }
        }
        Ok(ledger)
    }

    /// The head, once there is one.
    #[must_use]
    pub fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// All version rows, ascending.
    #[must_use]
    pub fn versions(&self) -> impl DoubleEndedIterator<Item = &VersionRow> {
        self.versions.values()
    }

    /// The row of a version.
    #[must_use]
    pub fn version(&self, version: i64) -> Option<&VersionRow> {
        self.versions.get(&version)
    }

    /// The state of a version.
    #[must_use]
    pub fn version_state(&self, version: i64) -> VersionState {
        self.versions.get(&version).map_or(VersionState::Queued, |row| row.state)
    }

    /// Whether a version is completed.
    #[must_use]
    pub fn is_completed(&self, version: i64) -> bool {
        self.version_state(version) == VersionState::Completed
    }

    /// The journal of a version, by ordinal.
    #[must_use]
    pub fn steps_of(&self, version: i64) -> impl DoubleEndedIterator<Item = &StepRow> {
        self.steps.range((version, i64::MIN)..=(version, i64::MAX)).map(|(_, row)| row)
    }

    /// The journal row of a step.
    #[must_use]
    pub fn step(&self, version: i64, n: i64) -> Option<&StepRow> {
        self.steps.get(&(version, n))
    }

    /// The state of a step.
    #[must_use]
    pub fn step_state(&self, version: i64, n: i64) -> StepState {
        self.step(version, n).map_or(StepState::Queued, |row| row.state)
    }

    /// Whether a holder that let its lease lapse may have left a data statement under way: one that it had begun, as far as
    /// this journal goes, which is read from a version on.
    #[must_use]
    pub(crate) fn may_have_data_under_way(&self, journal_from: Option<i64>) -> bool {
        let is_unread = |version: i64| journal_from.is_none_or(|from| version < from);
        let mut in_flight = self.versions().filter(|row| row.state != VersionState::Completed);
        in_flight.any(|row| is_unread(row.version))
            || self.steps.values().any(|step| step.state == StepState::Intent && !step.is_schema())
    }

    /// The highest completed version.
    #[must_use]
    pub fn newest_completed(&self) -> Option<i64> {
        self.versions().rev().find(|row| row.state == VersionState::Completed).map(|row| row.version)
    }
}
