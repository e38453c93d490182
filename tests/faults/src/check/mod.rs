//! Decides whether a history is right. Pure: rows in, violations out.
//!
//! What is promised, of every history whatever the faults: one writer at a time; versions complete once, in order, and
//! only after each of their steps was done; no step is done without its effect; a `once` step has its effect at most
//! once; nothing is executed that was not begun in the journal; a failure is never recorded as success; who was told
//! `Ok` has all its versions; the rows that applications wrote are there.

mod replay;
mod spec;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

pub use replay::Replay;
pub use spec::{Effect, Spec, StepSpec, VersionSpec};

/// The ledger and the effects, as read after all instances have ended.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The head.
    pub head: Option<Head>,
    /// The states of the versions' rows.
    pub versions: BTreeMap<i64, String>,
    /// The states of the steps' rows.
    pub steps: BTreeMap<(i64, i64), String>,
    /// The audit trail, ascending.
    pub events: Vec<Event>,
    /// The tables by name, with their ids, as each node has them.
    pub tables: BTreeMap<String, BTreeSet<Uuid>>,
    /// Tables and their columns, as all nodes have them.
    pub columns: BTreeSet<(String, String)>,
    /// The indexes, likewise.
    pub indexes: BTreeSet<String>,
    /// The names of the rows of `items`.
    pub items: BTreeMap<i32, Option<String>>,
    /// The executions of each code task.
    pub executions: BTreeMap<String, BTreeSet<Uuid>>,
}

/// The head's row, as far as it is checked.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// How many runs have held the lease.
    pub epoch: i64,
    /// How many conditional writes there were.
    pub rev: i64,
    /// Who holds the lease.
    pub owner: Option<String>,
}

/// One row of the audit trail.
#[derive(Clone, Debug)]
pub struct Event {
    /// The revision.
    pub rev: i64,
    /// Who.
    pub actor: String,
    /// What, a line for each transition.
    pub text: String,
    /// With which error.
    pub error: Option<String>,
}

/// How a run ended, by its own word.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Ended {
    /// The run's name.
    pub run: String,
    /// The versions of its binary.
    pub versions: Vec<i64>,
    /// The code of its error; `None` for `Ok`.
    pub code: Option<String>,
    /// Its report, or its error.
    pub text: String,
}

impl Ended {
    /// Whether it was `Ok`.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.code.is_none()
    }
}

/// What is wrong; nothing if all is right.
#[must_use]
pub fn check(spec: &Spec, record: &Record, ended: &[Ended], written: &BTreeMap<i32, String>) -> Vec<String> {
    let mut wrong = Vec::new();
    let replay = Replay::of(spec, &record.events, &mut wrong);
    rows(record, &replay, &mut wrong);
    effects(spec, record, &replay, &mut wrong);
    for ended in ended.iter().filter(|ended| ended.is_ok()) {
        let missing = |version: &&i64| record.versions.get(version).is_none_or(|state| state != COMPLETED);
        let missing: Vec<_> = ended.versions.iter().filter(missing).collect();
        if !missing.is_empty() {
            wrong.push(format!("{} was told Ok, and versions {missing:?} are not completed", ended.run));
        }
    }
    for (id, name) in written {
        match record.items.get(id) {
            Some(Some(found)) if found == name => {}
            found => wrong.push(format!("the application wrote item {id} = {name:?}; found {found:?}")),
        }
    }
    wrong
}

const COMPLETED: &str = "COMPLETED";

/// The rows say the same as the events.
fn rows(record: &Record, replay: &Replay, wrong: &mut Vec<String>) {
    let head = record.head.clone().unwrap_or_default();
    if head.epoch != replay.epochs() {
        wrong.push(format!(
            "the head's epoch is {}, and the lease was taken {} times",
            head.epoch,
            replay.epochs()
        ));
    }
    if head.owner.as_deref() != replay.owner() {
        wrong.push(format!("the head's owner is {:?}, by the events {:?}", head.owner, replay.owner()));
    }
    if record.events.last().is_some_and(|event| event.rev > head.rev) {
        wrong.push(format!("an event is newer than the head's revision {}", head.rev));
    }
    if record.versions != *replay.versions() {
        wrong.push(format!("the versions are {:?}, by the events {:?}", record.versions, replay.versions()));
    }
    if record.steps != *replay.steps() {
        wrong.push(format!("the steps are {:?}, by the events {:?}", record.steps, replay.steps()));
    }
}

fn effects(spec: &Spec, record: &Record, replay: &Replay, wrong: &mut Vec<String>) {
    for (version, n, step) in spec.steps() {
        let name = format!("step {version}/{} ({:?})", n + 1, step.effect);
        let is_done = replay.is_done(version, n);
        if is_done && step.fails {
            wrong.push(format!("{name} never succeeds, and is recorded as done"));
        }
        if is_done && !step.effect.is_in(record) {
            wrong.push(format!("{name} is recorded as done, and its effect is not there"));
        }
        let Effect::Execution(task) = step.effect else { continue };
        let executed = record.executions.get(task).map_or(0, BTreeSet::len);
        if step.is_once && executed > 1 {
            wrong.push(format!("{name} is marked once and was executed {executed} times"));
        }
        if executed > replay.begun(version, n) {
            let begun = replay.begun(version, n);
            wrong.push(format!("{name} was executed {executed} times and begun {begun} times"));
        }
    }
    for (table, ids) in &record.tables {
        if ids.len() > 1 {
            wrong.push(format!("table {table} has several ids: {ids:?}"));
        }
    }
}
