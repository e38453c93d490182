//! What the holder of the lease does next. Pure: the ledger's state and the binary's migrations decide.

use std::collections::BTreeSet;

use super::catalog::{Catalog, Entry};
use crate::error::Stuck;
use crate::ledger::{Ledger, StepRow, StepState, VersionState};
use crate::plan::{Repeat, Step, StepKind};

/// Ambiguous starts of one step before it is left to an operator: a step that kills each process that runs it must
/// not be run for ever.
pub(crate) const ATTEMPTS_MAX: i64 = 3;

/// The holder's next action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// A step that has no effect yet begins.
    Begin {
        /// The version.
        version: i64,
        /// The step's ordinal.
        n: i64,
    },
    /// A step of unknown outcome is settled: its effect is looked for, or it is run again. So is a schema statement that
    /// has failed.
    Resume {
        /// The version.
        version: i64,
        /// The step's ordinal.
        n: i64,
    },
    /// An edited migration goes on where its earlier text stopped.
    Repair {
        /// The version.
        version: i64,
    },
    /// All steps are done.
    Complete {
        /// The version.
        version: i64,
    },
    /// An operator has to look at it.
    Pause {
        /// The version.
        version: i64,
        /// The step's ordinal.
        n: i64,
        /// Why.
        reason: String,
    },
    /// It is paused already, or cannot be gone on with.
    Blocked {
        /// The version.
        version: i64,
        /// Why.
        reason: String,
    },
    /// Nothing is left to do.
    Release,
}

impl Action {
    /// The version that it is about.
    pub(crate) fn version(&self) -> Option<i64> {
        match self {
            Self::Begin { version, .. }
            | Self::Resume { version, .. }
            | Self::Repair { version }
            | Self::Complete { version }
            | Self::Pause { version, .. }
            | Self::Blocked { version, .. } => Some(*version),
            Self::Release => None,
        }
    }

    /// The ordinal of the step that it is about.
    pub(crate) fn step(&self) -> Option<i64> {
        match self {
            Self::Begin { n, .. } | Self::Resume { n, .. } | Self::Pause { n, .. } => Some(*n),
            _ => None,
        }
    }
}

/// The next action on `ledger`. `redo` are steps whose effect was recorded and is not there.
pub(crate) fn decide(ledger: &Ledger, catalog: &Catalog, redo: &BTreeSet<(i64, i64)>) -> Action {
    let Some(entry) = catalog.pending(ledger).next() else { return Action::Release };
    let version = entry.version().get();
    match stance(ledger, entry) {
        Stance::Ready => {}
        Stance::Repairable => return Action::Repair { version },
        Stance::Stopped(reason) => return Action::Blocked { version, reason },
        Stance::Unrepairable(reason) => return Action::Pause { version, n: 0, reason },
    }
    for step in entry.steps().iter() {
        let n = step.n;
        match ledger.step(version, n) {
            None => return Action::Begin { version, n },
            Some(row) => match row.state {
                StepState::Done if redo.contains(&(version, n)) => return Action::Begin { version, n },
                StepState::Done => {}
                // What an earlier attempt had left in a silent node may have landed since.
                StepState::Failed if step.kind == StepKind::Schema => return Action::Resume { version, n },
                StepState::Queued | StepState::Failed | StepState::Undone => {
                    return Action::Begin { version, n };
                }
                StepState::UndoIntent => {
                    return Action::Blocked { version, reason: format!("step {} is being undone", n + 1) };
                }
                StepState::Intent => return ambiguous(row, step.repeat),
            },
        }
    }
    Action::Complete { version }
}

/// How a pending version stands to this binary's text of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stance {
    /// It can be begun or gone on with.
    Ready,
    /// It is in flight with an earlier text, and this one goes on where that one stopped.
    Repairable,
    /// It is in flight with another text, of which something is done that this one does not begin with.
    Unrepairable(String),
    /// An operator, or an edited migration, has to get it going again.
    Stopped(String),
}

/// The rule of repair: each step that is done, or may have run, is an unchanged prefix of the plan.
pub(crate) fn stance(ledger: &Ledger, entry: &Entry) -> Stance {
    let version = entry.version().get();
    let Some(row) = ledger.version(version) else { return released(ledger, entry) };
    let why = row.error.clone().unwrap_or_default();
    let edited = !entry.migration.accepts(&row.checksum);
    match row.state {
        VersionState::Running if !edited => Stance::Ready,
        VersionState::Running | VersionState::Paused if edited => match foreign_step(ledger, entry) {
            None => Stance::Repairable,
            Some(step) if row.state == VersionState::Running => Stance::Unrepairable(format!(
                "it was edited in flight: step {} ({}) is {} and is not the same in this binary",
                step.n + 1,
                step.task,
                step.state
            )),
            Some(_) => Stance::Stopped(why),
        },
        _ => Stance::Stopped(why),
    }
}

/// The stance to a version whose claim was released after a failure, or that was never claimed.
fn released(ledger: &Ledger, entry: &Entry) -> Stance {
    match foreign_step(ledger, entry) {
        None => Stance::Ready,
        Some(step) => Stance::Stopped(format!(
            "it has failed with another text, of which step {} ({}) is {} and is not the same in this binary: restore \
             that text, or abandon the version to begin it anew",
            step.n + 1,
            step.task,
            step.state
        )),
    }
}

/// A step that is done or may have run, and that this binary's plan does not have unchanged in its place.
fn foreign_step<'a>(ledger: &'a Ledger, entry: &Entry) -> Option<&'a StepRow> {
    ledger
        .steps_of(entry.version().get())
        .filter(|step| matches!(step.state, StepState::Done | StepState::Intent))
        .find(|step| !entry.steps().find(step.n).is_some_and(|planned| is_same(planned, step)))
}

/// What a paused version waits for. `ledger` has its journal.
pub(crate) fn stuck(ledger: &Ledger, entry: &Entry) -> Stuck {
    let version = entry.version().get();
    let is_edited = match ledger.version(version) {
        Some(row) => !entry.migration.accepts(&row.checksum),
        // Its claim was released by a failure, and its journal tells what this text has to begin with.
        None => foreign_step(ledger, entry).is_some(),
    };
    if is_edited {
        return Stuck::Edited;
    }
    let in_doubt = ledger.steps_of(version).any(|step| step.state == StepState::Intent);
    if in_doubt { Stuck::InDoubt } else { Stuck::Between }
}

fn is_same(planned: &Step, row: &StepRow) -> bool {
    planned.task == row.task
        && planned.kind.name() == row.step_kind
        && planned.flags() == row.flags
        && planned.digest == row.digest
}

fn ambiguous(row: &StepRow, repeat: Repeat) -> Action {
    let (version, n) = (row.version, row.n);
    let last = row.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
    if repeat == Repeat::Once {
        let reason = format!("step {} was begun and its outcome is unknown; it is marked once{last}", n + 1);
        return Action::Pause { version, n, reason };
    }
    if row.attempts >= ATTEMPTS_MAX {
        let reason = format!("step {} was begun {} times without a known outcome{last}", n + 1, row.attempts);
        return Action::Pause { version, n, reason };
    }
    Action::Resume { version, n }
}
