//! What must always be true, judged by the raw rows and by the effects that the world itself has recorded.

mod ends;
mod sends;

use std::collections::{BTreeMap, BTreeSet};

use crate::catalogue::{CATALOGUE, StepSpec, Work};
use crate::coverage::Seen;
use crate::raw::{Raw, RawHead};
use crate::time::{MS, Nanos, SECOND, server_ms};
use crate::world::World;

/// Ambiguous starts of one step, after which it is left to an operator.
const STARTS_MAX: i32 = 3;

/// By how much a run may be wrong about the end of a hold, in milliseconds.
const HOLD_SLACK_MS: i64 = 10_000;

/// A broken promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which promise.
    pub invariant: &'static str,
    /// What happened.
    pub detail: String,
}

/// What the checker remembers.
#[derive(Debug, Default)]
pub(crate) struct Checker {
    raw: Raw,
    last_write_at: Nanos,
    /// Which run took the lease in which epoch.
    holders: BTreeMap<i64, usize>,
    epochs: BTreeMap<usize, i64>,
    /// Steps whose begin was recorded, with the epoch.
    intents: BTreeSet<(i64, u32)>,
    /// How often each step was started since its last recorded or definite outcome.
    open_starts: BTreeMap<u32, i32>,
    /// Code tasks whose last start by this run has returned success.
    returned: BTreeSet<(usize, u32)>,
    /// Steps that have failed definitely.
    failed: BTreeSet<u32>,
    /// Schema steps that all nodes knew that were up, at some agreement.
    spread: BTreeSet<u32>,
    /// The node that a run's schema statements went to since it last found agreement.
    groups: BTreeMap<usize, usize>,
    /// Steps that an operator has marked done.
    marked: BTreeSet<u32>,
    /// Versions that an operator has restamped or baselined.
    edited: BTreeSet<i64>,
    pub(crate) violation: Option<Violation>,
}

impl Checker {
    pub(crate) fn head(&self) -> Option<&RawHead> {
        self.raw.head.as_ref()
    }

    /// The versions that are completed now.
    pub(crate) fn completed(&self) -> BTreeSet<i64> {
        let versions = self.raw.versions.iter();
        versions.filter(|(_, row)| row.state == "COMPLETED").map(|(version, _)| *version).collect()
    }

    /// The run that the head names as the lease's holder.
    pub(crate) fn holder(&self) -> Option<usize> {
        let head = self.head()?;
        head.owner?;
        self.holders.get(&head.epoch).copied()
    }

    /// The epoch in which a run took the lease last; 0 where it never did.
    pub(crate) fn epoch_of(&self, run: usize) -> i64 {
        self.epochs.get(&run).copied().unwrap_or_default()
    }

    /// The version that is paused.
    pub(crate) fn paused(&self) -> Option<i64> {
        self.raw.versions.iter().find(|(_, row)| row.state == "PAUSED").map(|(version, _)| *version)
    }

    /// The version that is claimed and not completed.
    pub(crate) fn in_flight(&self) -> Option<i64> {
        self.raw.versions.iter().find(|(_, row)| row.state != "COMPLETED").map(|(version, _)| *version)
    }

    /// A version of which something is in the journal, and that is not completed.
    pub(crate) fn begun_version(&self) -> Option<i64> {
        self.raw.steps.keys().map(|(version, _)| *version).find(|version| !self.raw.is_completed(*version))
    }

    /// The step of a version that has failed, or whose outcome is unknown, with its task.
    pub(crate) fn step_in_doubt(&self, version: i64) -> Option<(i64, String)> {
        let mut rows = self.raw.steps.range((version, i64::MIN)..=(version, i64::MAX));
        let found = rows.find(|(_, row)| row.state == "INTENT" || row.state == "FAILED");
        found.map(|((_, n), row)| (*n, row.task.clone()))
    }

    pub(crate) fn has_edited(&self) -> bool {
        !self.edited.is_empty()
    }

    fn start(&mut self, step: u32) -> i32 {
        let starts = self.open_starts.entry(step).or_default();
        *starts += 1;
        *starts
    }
}

impl World {
    pub(crate) fn violate(&mut self, invariant: &'static str, detail: String) {
        self.note(|_| format!("VIOLATION {invariant}: {detail}"));
        self.checker.violation.get_or_insert(Violation { invariant, detail });
    }

    /// After a conditional write of a run was applied.
    pub(crate) fn check_write(&mut self, run: usize) {
        let new = Raw::read(&self.ledger.store);
        let old = std::mem::replace(&mut self.checker.raw, new.clone());
        self.check_head(run, &old, &new);
        self.check_versions(run, &old, &new);
        self.check_steps(run, &old, &new);
        if self.runs[run].edits {
            self.check_edit(run, &old, &new);
        }
        self.checker.last_write_at = self.now;
    }

    /// After an operator's command was applied: it changes nothing but what is the operator's.
    pub(crate) fn check_command(&mut self) {
        let new = Raw::read(&self.ledger.store);
        let old = std::mem::replace(&mut self.checker.raw, new.clone());
        let (Some(before), Some(after)) = (&old.head, &new.head) else {
            self.violate("the head stays", "a command removed it".to_owned());
            return;
        };
        let kept = RawHead {
            rev: before.rev + 1,
            cmd: after.cmd.clone(),
            cmd_version: after.cmd_version,
            cmd_op: after.cmd_op,
            hold_until_ms: after.hold_until_ms,
            ..before.clone()
        };
        if *after != kept
            || after.cmd_op == before.cmd_op
            || (&old.versions, &old.steps) != (&new.versions, &new.steps)
        {
            self.violate("a command changes what is the operator's", format!("{before:?} to {after:?}"));
        }
    }

    fn check_head(&mut self, run: usize, old: &Raw, new: &Raw) {
        let Some(head) = &new.head else {
            self.violate("the head stays", format!("{} removed it", self.name(run)));
            return;
        };
        let before = old.head.as_ref();
        let (epoch, rev) = before.map_or((0, 0), |head| (head.epoch, head.rev));
        if head.rev != rev + 1 {
            let detail = format!("{} wrote revision {} after {rev}", self.name(run), head.rev);
            self.violate("revisions count up", detail);
        }
        if before.is_some_and(|before| before.op == head.op) {
            let detail = format!("{} wrote the operation that was there", self.name(run));
            self.violate("each write is an operation of its own", detail);
        }
        if head.epoch == epoch + 1 {
            // Taken and given back by one write, it has no owner.
            if head.owner.is_some_and(|owner| owner != self.runs[run].owner) {
                let detail = format!("{} began epoch {} for another", self.name(run), head.epoch);
                self.violate("an epoch is begun by its holder", detail);
            }
            self.check_takeover(run, before);
            self.checker.holders.insert(head.epoch, run);
            self.checker.epochs.insert(run, head.epoch);
            self.checker.groups.remove(&run);
        } else if head.epoch != epoch || self.checker.holders.get(&epoch) != Some(&run) {
            let holder = self.checker.holders.get(&epoch).map(|holder| self.name(*holder));
            let detail = format!("{} wrote in epoch {epoch} of {holder:?}", self.name(run));
            self.violate("one writer an epoch", detail);
        }
        let given_back = before.is_some_and(|before| before.owner.is_some()) && head.owner.is_none();
        if given_back && self.scenario.timing_holds() {
            let left = self.database.pending.iter().find(|pending| {
                let statement = &self.database.statements[**pending];
                // The journal names the node of a schema statement, and whoever goes on asks it first.
                !CATALOGUE.step(statement.step).is_schema()
            });
            if let Some(left) = left.copied() {
                let detail = format!("{} gave it back while #{left} may still land", self.name(run));
                self.violate("the lease is given back with nothing under way", detail);
            }
        }
    }

    fn check_takeover(&mut self, run: usize, before: Option<&RawHead>) {
        let Some(before) = before.filter(|before| before.owner.is_some()) else { return };
        self.count(if self.runs[run].edits { Seen::EditOfTheDead } else { Seen::Takeover });
        let silent = self.now - self.checker.last_write_at;
        if silent > before.lease_ms * MS + 60 * SECOND {
            self.count(Seen::TakeoverLate);
        }
        if silent < before.lease_ms * MS * 1000 / self.scenario.fastest {
            let detail = format!(
                "{} took over {} ms after the last write of a lease of {} ms",
                self.name(run),
                silent / MS,
                before.lease_ms
            );
            self.violate("a lease is taken over only once it has lapsed", detail);
        }
    }

    fn check_versions(&mut self, run: usize, old: &Raw, new: &Raw) {
        for (version, before) in &old.versions {
            match new.versions.get(version) {
                Some(after)
                    if self.runs[run].edits
                        && (&*before.state, &*after.state) == ("COMPLETED", "COMPLETED") =>
                {
                    if before != after {
                        self.count(Seen::Restamped);
                        self.checker.edited.insert(*version);
                    }
                }
                Some(after) if before.state == "COMPLETED" && after != before => {
                    self.violate("what is completed stays so", format!("version {version} changed"));
                }
                Some(after) => {
                    if before.checksum != after.checksum {
                        self.count(Seen::Repaired);
                        self.forget_starts(*version, new);
                    }
                }
                None if before.state == "COMPLETED" => {
                    self.violate("what is completed stays so", format!("version {version} is gone"));
                }
                None if self.runs[run].edits => {}
                None => self.count(Seen::Failed),
            }
        }
        let open: Vec<_> = new.versions.iter().filter(|(_, row)| row.state != "COMPLETED").collect();
        if open.len() > 1 {
            self.violate("one version at a time", format!("{open:?} are in flight"));
        }
        for (version, row) in &new.versions {
            let before = old.versions.get(version).map(|row| row.state.as_str());
            if before == Some(row.state.as_str()) {
                continue;
            }
            match row.state.as_str() {
                "PAUSED" => {
                    self.count(Seen::Paused);
                    if old.head.as_ref().is_some_and(|head| head.pauses(*version)) {
                        self.count(Seen::CommandObeyed);
                    }
                }
                "RUNNING" if before == Some("PAUSED") => {
                    self.count(Seen::Resumed);
                    self.forget_starts(*version, new);
                }
                "RUNNING" if before.is_none() => self.check_claimed(*version, old),
                "COMPLETED" => self.check_completed(run, *version, &row.checksum, new),
                _ => {}
            }
        }
    }

    fn check_claimed(&mut self, version: i64, old: &Raw) {
        let Some(until) = old.head.as_ref().and_then(|head| head.hold_until_ms) else { return };
        let left = until - server_ms(self.now);
        // Servers' clocks differ, and a run counts on with its own between two looks.
        let slack = 2 * self.scenario.server_skew_ms.abs() + HOLD_SLACK_MS;
        if left > slack {
            self.violate("a hold is kept", format!("{version} is claimed {left} ms before its end"));
        }
    }

    fn check_completed(&mut self, run: usize, version: i64, checksum: &str, new: &Raw) {
        if let Some(lower) = (1..version).find(|lower| !new.is_completed(*lower)) {
            let detail = format!("{} completed {version} before {lower}", self.name(run));
            self.violate("versions complete in order", detail);
        }
        let Some(steps) = CATALOGUE.steps_of(checksum) else {
            self.violate("a version completes with its own checksum", format!("{version} has {checksum}"));
            return;
        };
        if self.runs[run].edits {
            self.count(Seen::Baselined);
            self.checker.edited.insert(version);
            return;
        }
        for step in steps {
            let row = new.steps.get(&(version, step.n));
            if !row.is_some_and(|row| row.state == "DONE" && row.task == step.name) {
                let detail = format!("{version} without {}: {row:?}", step.name);
                self.violate("a version completes with all its steps done", detail);
            }
            let is_there = if step.is_schema() {
                self.checker.spread.contains(&step.id)
            } else {
                self.database.has_effect(step)
            };
            if !is_there && !self.checker.marked.contains(&step.id) {
                let detail = format!("{version} without the effect of {}", step.name);
                self.violate("a version completes with all its effects", detail);
            }
        }
    }

    fn check_steps(&mut self, run: usize, old: &Raw, new: &Raw) {
        let epoch = self.checker.epoch_of(run);
        for (key, row) in &new.steps {
            let before = old.steps.get(key);
            let Some(step) = CATALOGUE.find(&row.task) else {
                self.violate("the journal names what is run", format!("{key:?} is {row:?}"));
                continue;
            };
            if row.state == "INTENT" {
                self.checker.intents.insert((epoch, step.id));
            }
            if before == Some(row) {
                continue;
            }
            // Fewer attempts than before: what one write said to be done, it began again.
            let anew = before
                .is_some_and(|before| before.position != row.position || row.attempts < before.attempts);
            if row.state != "INTENT" || anew {
                self.checker.open_starts.remove(&step.id);
            }
            if row.state == "INTENT"
                && row.attempts == 0
                && row.position == before.and_then(|b| b.position.clone())
            {
                self.count(Seen::Stopped);
            }
            let state_before = before.map_or("", |before| before.state.as_str());
            match (state_before, row.state.as_str()) {
                ("INTENT", "INTENT") if before.is_some_and(|before| row.attempts > before.attempts) => {
                    self.check_pause(run, *key, old);
                }
                ("INTENT", "INTENT") => {}
                (_, "INTENT") => {
                    self.check_pause(run, *key, old);
                    self.check_begun(*key, state_before, new);
                }
                ("INTENT" | "FAILED", "DONE") if self.runs[run].edits => {
                    self.count(Seen::MarkedDone);
                    self.checker.marked.insert(step.id);
                }
                ("INTENT" | "FAILED", "FAILED") if self.runs[run].edits => self.count(Seen::ToBeRerun),
                ("INTENT", "DONE") => self.check_done(run, step),
                // A failed schema statement may turn out to have had its effect.
                ("FAILED", "DONE") if step.is_schema() => self.check_done(run, step),
                (_, "DONE") if state_before != "DONE" => {
                    self.violate("a step is begun before it is done", format!("{} was not", step.name));
                }
                _ => {}
            }
        }
        for key in old.steps.keys().filter(|key| !new.steps.contains_key(key)) {
            if let Some(step) = CATALOGUE.find(&old.steps[key].task) {
                self.checker.open_starts.remove(&step.id);
            }
        }
    }

    /// What an edit is about has nothing under way: afterwards nobody looks for it any more. What an abandoned version has
    /// done is taken back by hand.
    fn check_edit(&mut self, run: usize, old: &Raw, new: &Raw) {
        let gone = |key: &(i64, i64)| !new.steps.contains_key(key);
        let changed: Vec<_> = old.steps.iter().filter(|(key, row)| new.steps.get(key) != Some(row)).collect();
        let abandoned = changed.iter().any(|(key, _)| gone(key));
        for (key, row) in changed {
            let Some(step) = CATALOGUE.find(&row.task) else { continue };
            let left = self.database.pending.iter().find(|at| {
                let statement = &self.database.statements[**at];
                statement.step == step.id && !statement.written_off
            });
            if let Some(left) = left.copied().filter(|_| self.scenario.timing_holds()) {
                let detail = format!("{} edits {} while #{left} may still land", self.name(run), step.name);
                self.violate("an edit leaves nothing under way", detail);
            }
            if gone(key) {
                self.database.take_back(step.id);
                self.checker.spread.remove(&step.id);
                self.checker.marked.remove(&step.id);
            }
        }
        if abandoned {
            self.count(Seen::Abandoned);
        }
    }

    fn check_pause(&mut self, run: usize, (version, n): (i64, i64), old: &Raw) {
        if old.head.as_ref().is_some_and(|head| head.pauses(version)) {
            let detail = format!("{} begins {version}/{n}", self.name(run));
            self.violate("no step begins after a pause", detail);
        }
    }

    fn check_begun(&mut self, (version, n): (i64, i64), before: &str, new: &Raw) {
        if before == "DONE" {
            self.count(Seen::Redone);
            return;
        }
        let state = new.versions.get(&version).map(|row| row.state.as_str());
        if state != Some("RUNNING") {
            self.violate("a step is begun in a running version", format!("{version}/{n} in {state:?}"));
        }
        if let Some(earlier) = (0..n).find(|earlier| new.step_state((version, *earlier)) != "DONE") {
            let detail = format!("{version}/{n} was begun before {version}/{earlier} was done");
            self.violate("steps are begun in order", detail);
        }
    }

    fn check_done(&mut self, run: usize, step: &StepSpec) {
        if !self.database.has_effect(step) {
            self.violate("what is recorded as done had its effect", format!("{} had none", step.name));
        }
        let code = matches!(step.work, Work::Code { .. });
        if code && !self.checker.returned.contains(&(run, step.id)) {
            self.violate("what is recorded as done returned success", format!("{} did not", step.name));
        }
    }

    fn forget_starts(&mut self, version: i64, new: &Raw) {
        for (_, row) in new.steps.range((version, i64::MIN)..=(version, i64::MAX)) {
            if let Some(step) = CATALOGUE.find(&row.task) {
                self.checker.open_starts.remove(&step.id);
            }
        }
    }
}
