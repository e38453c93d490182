//! A conditional write: what it needs, what it changes, and the state after it.

use uuid::Uuid;

use super::cell::{Cells, Key, Kind};
use super::event::Event;
use super::history::Ledger;
use super::row::{Head, StepRow, VersionRow};
use super::state::{IllegalTransition, StepState, VersionState};
use super::transition::{Claim, Intent, SchemaRecord, Takeover, Transition};
use super::{FAILED, FORMAT};
use crate::mutant::{Mutant, is_broken};

/// Longest error text that is stored, in bytes.
const ERROR_BYTES_MAX: usize = 4096;

/// Who writes.
#[derive(Debug, Clone)]
pub struct Writer {
    /// The run.
    pub owner: Uuid,
    /// Its host, process and application.
    pub info: String,
    /// Why, where a person writes.
    pub reason: Option<String>,
    /// Its wall clock, in milliseconds since the epoch; for people only.
    pub wall_ms: i64,
}

/// What the head and the claimed row must be for the write to apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// The fencing token that was seen; `None` where there was no head.
    pub op: Option<Uuid>,
    /// The command that was seen.
    pub cmd_op: Option<Uuid>,
    /// A row that must not exist.
    pub absent: Option<Key>,
}

/// One change of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mutation {
    /// These cells are set; others stay.
    Put(Key, Cells),
    /// The row goes.
    Delete(Key),
    /// The journal of this version goes, however long it is.
    DeleteSteps(i64),
}

/// A conditional write, ready to be sent. It is sent as it is until the answer is definite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// The nonce of this write: the head's `op` once it is applied.
    pub op: Uuid,
    /// The condition.
    pub condition: Condition,
    /// The changes; the head's first.
    pub mutations: Vec<Mutation>,
    /// The state of the scope once it is applied.
    pub next: Ledger,
}

impl Ledger {
    /// The state after these transitions, without a write: to plan what goes into it.
    pub fn after(&self, writer: &Writer, transitions: &[Transition]) -> Result<Self, IllegalTransition> {
        // The nonce is not looked at by anyone who plans.
        self.transact(writer, Uuid::nil(), transitions).map(|transaction| transaction.next)
    }

    /// The write that says these transitions at once.
    pub fn transact(
        &self,
        writer: &Writer,
        op: Uuid,
        transitions: &[Transition],
    ) -> Result<Transaction, IllegalTransition> {
        let mut draft = Draft {
            before: self,
            next: self.clone(),
            writer,
            absent: None,
            touched: Vec::new(),
            abandoned: Vec::new(),
            schemas: Vec::new(),
        };
        let mut head = self.head.clone().unwrap_or_else(|| new_head(op));
        head.rev += 1;
        head.op = op;
        for transition in transitions {
            draft.apply(&mut head, transition)?;
        }
        let seen = self.head.as_ref();
        let condition = Condition {
            op: seen.map(|head| head.op),
            cmd_op: seen.and_then(|head| head.cmd_op),
            absent: draft.absent,
        };
        let head_cells = changed(seen.map(Head::to_cells).as_ref(), head.to_cells());
        let mut mutations = vec![Mutation::Put(Key::HEAD, head_cells)];
        mutations.extend(draft.mutations());
        mutations.extend(event(head.rev, writer, transitions));
        draft.next.head = Some(head);
        Ok(Transaction { op, condition, mutations, next: draft.next })
    }
}

fn new_head(op: Uuid) -> Head {
    Head {
        fmt_read: FORMAT,
        fmt_write: FORMAT,
        epoch: 0,
        rev: 0,
        op,
        owner: None,
        owner_info: None,
        lease_ms: 0,
        heartbeat_ms: 0,
        serial_cl: String::new(),
        active_version: None,
        active_state: None,
        frontier: None,
        cap: None,
        cmd: None,
        cmd_version: None,
        cmd_op: None,
        cmd_by: None,
        cmd_reason: None,
        hold_until: None,
        hold_reason: None,
    }
}

fn event(rev: i64, writer: &Writer, transitions: &[Transition]) -> Option<Mutation> {
    let lines: Vec<_> = transitions.iter().filter_map(Transition::describe).collect();
    if lines.is_empty() {
        return None;
    }
    let error = transitions.iter().find_map(Transition::error).map(clip);
    let event = Event {
        rev,
        at: writer.wall_ms,
        actor: writer.info.clone(),
        text: lines.join("\n"),
        error,
        reason: writer.reason.clone(),
    };
    Some(Mutation::Put(Key::event(rev), event.to_cells()))
}

fn clip(text: &str) -> String {
    let end = (0..=ERROR_BYTES_MAX.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text[..end.unwrap_or(0)].to_owned()
}

/// The cells that differ. A cell that is not written keeps its write time: that of a version's `name` is the pinned
/// timestamp of everything that the version writes.
pub(super) fn changed(before: Option<&Cells>, after: Cells) -> Cells {
    match before {
        Some(before) => after.different_from(before),
        None => after,
    }
}

struct Draft<'a> {
    before: &'a Ledger,
    next: Ledger,
    writer: &'a Writer,
    absent: Option<Key>,
    touched: Vec<Key>,
    /// Versions whose whole journal goes.
    abandoned: Vec<i64>,
    /// What goes with a version's row and is not read again with it: it is long.
    schemas: Vec<(Key, SchemaRecord)>,
}

impl Draft<'_> {
    fn apply(&mut self, head: &mut Head, transition: &Transition) -> Result<(), IllegalTransition> {
        match transition {
            Transition::Acquire(takeover) => self.acquire(head, takeover),
            Transition::Renew | Transition::Note(_) => {}
            Transition::Claim(claim) => {
                self.claim(head.epoch, claim)?;
                activate(head, claim.version, VersionState::Running.name());
            }
            Transition::Repair(claim) => {
                self.repair(claim)?;
                activate(head, claim.version, VersionState::Running.name());
            }
            Transition::Intent(intent) => self.intent(intent)?,
            Transition::Stop { version, n } => self.step(*version, *n, StepState::Intent)?.attempts = 0,
            Transition::Checkpoint { version, n, position } => {
                let row = self.step(*version, *n, StepState::Intent)?;
                row.position = Some(position.clone());
                row.attempts = 0;
            }
            Transition::Done { version, n } => {
                let row = self.step(*version, *n, StepState::Done)?;
                row.attempts = 0;
                row.error = None;
            }
            Transition::Complete { version, execution_ms, frontier, schema } => {
                self.schemas.extend(schema.clone().map(|schema| (Key::version(*version), schema)));
                let wall_ms = self.writer.wall_ms;
                let info = self.writer.info.clone();
                let row = self.version(*version, VersionState::Completed)?;
                row.applied_at = Some(wall_ms);
                row.execution_ms = Some(*execution_ms);
                row.applied_by = info;
                row.error = None;
                head.frontier = Some(frontier.clone());
                activate(head, *version, VersionState::Completed.name());
            }
            Transition::Fail { version, n, error } => {
                let checksum = self.next.version(*version).map(|row| row.checksum.clone());
                let row = self.step(*version, *n, StepState::Failed)?;
                row.checksum = checksum;
                row.failures += 1;
                row.attempts = 0;
                row.error = Some(clip(error));
                self.version(*version, VersionState::Queued)?;
                self.next.versions.remove(version);
                activate(head, *version, FAILED);
                release(head);
            }
            Transition::Pause { version, n, error } => {
                if let Some(row) = self.next.steps.get_mut(&(*version, *n)) {
                    row.error = Some(clip(error));
                    self.touch(Key::step(*version, *n));
                }
                self.version(*version, VersionState::Paused)?.error = Some(clip(error));
                activate(head, *version, VersionState::Paused.name());
                release(head);
            }
            Transition::Release => release(head),
            Transition::Unpause { version } => {
                self.version(*version, VersionState::Running)?.error = None;
                self.start_anew(*version);
                activate(head, *version, VersionState::Running.name());
            }
            Transition::MarkDone { version, n } => {
                let row = self.step(*version, *n, StepState::Done)?;
                (row.attempts, row.error) = (0, None);
                self.go_on(head, *version)?;
            }
            Transition::Rerun { version, n } => {
                let row = self.step(*version, *n, StepState::Failed)?;
                (row.attempts, row.failures, row.checksum) = (0, 0, None);
                self.go_on(head, *version)?;
            }
            Transition::Abandon { version } => self.abandon(head, *version)?,
            Transition::Restamp { version, name, checksum } => {
                let row = self.version(*version, VersionState::Completed)?;
                row.name.clone_from(name);
                row.checksum.clone_from(checksum);
            }
            Transition::Baseline(claim) => self.baseline(head.epoch, claim)?,
            Transition::Advance { frontier } => head.frontier = Some(frontier.clone()),
            Transition::ClearCommand => clear_command(head),
        }
        Ok(())
    }

    fn acquire(&self, head: &mut Head, takeover: &Takeover) {
        head.epoch += 1;
        head.owner = Some(self.writer.owner);
        head.owner_info = Some(self.writer.info.clone());
        head.lease_ms = takeover.lease_ms;
        head.heartbeat_ms = takeover.heartbeat_ms;
        takeover.serial_cl.clone_into(&mut head.serial_cl);
    }

    fn claim(&mut self, epoch: i64, claim: &Claim) -> Result<(), IllegalTransition> {
        self.next.version_state(claim.version).become_state(claim.version, VersionState::Running)?;
        self.next.versions.insert(claim.version, self.claimed(epoch, claim));
        let key = Key::version(claim.version);
        assert!(self.absent.is_none(), "one write claims one version");
        self.absent = Some(key);
        self.touch(key);
        Ok(())
    }

    fn claimed(&self, epoch: i64, claim: &Claim) -> VersionRow {
        VersionRow {
            version: claim.version,
            name: claim.name.clone(),
            state: VersionState::Running,
            checksum: claim.checksum.clone(),
            plan_digest: claim.plan_digest.clone(),
            epoch,
            started_at: self.writer.wall_ms,
            applied_at: None,
            execution_ms: None,
            applied_by: self.writer.info.clone(),
            out_of_order: claim.out_of_order,
            error: None,
            pin_ts: None,
        }
    }

    fn repair(&mut self, claim: &Claim) -> Result<(), IllegalTransition> {
        let row = self.version(claim.version, VersionState::Running)?;
        row.checksum.clone_from(&claim.checksum);
        row.plan_digest.clone_from(&claim.plan_digest);
        row.error = None;
        self.start_anew(claim.version);
        // How far the earlier text of a task came says nothing of the new one.
        for step in self.next.steps.values_mut().filter(|step| step.version == claim.version) {
            step.position = None;
        }
        Ok(())
    }

    /// Attempts and failures of a version's steps count from here.
    fn start_anew(&mut self, version: i64) {
        for n in self.ordinals(version) {
            if let Some(step) = self.next.steps.get_mut(&(version, n)) {
                (step.attempts, step.failures) = (0, 0);
            }
            self.touch(Key::step(version, n));
        }
    }

    /// A paused version goes on with the next run; one whose claim was released stays so.
    fn go_on(&mut self, head: &mut Head, version: i64) -> Result<(), IllegalTransition> {
        if self.next.version(version).is_some() {
            self.version(version, VersionState::Running)?.error = None;
        }
        activate(head, version, self.next.version_state(version).name());
        forget_command(head, version);
        Ok(())
    }

    fn abandon(&mut self, head: &mut Head, version: i64) -> Result<(), IllegalTransition> {
        forget_command(head, version);
        if self.next.version(version).is_some() {
            self.version(version, VersionState::Queued)?;
            self.next.versions.remove(&version);
        }
        self.next.steps.retain(|(of, _), _| *of != version);
        self.abandoned.push(version);
        Ok(())
    }

    fn baseline(&mut self, epoch: i64, claim: &Claim) -> Result<(), IllegalTransition> {
        let state =
            self.next.version_state(claim.version).become_state(claim.version, VersionState::Completed)?;
        let mut row = self.claimed(epoch, claim);
        row.state = state;
        row.applied_at = Some(self.writer.wall_ms);
        self.next.versions.insert(claim.version, row);
        self.touch(Key::version(claim.version));
        Ok(())
    }

    fn ordinals(&self, version: i64) -> Vec<i64> {
        self.next.steps_of(version).map(|step| step.n).collect()
    }

    fn intent(&mut self, intent: &Intent) -> Result<(), IllegalTransition> {
        let (version, n) = (intent.version, intent.n);
        // An edited migration may have another task in this place: what was there is not its history.
        let same = |row: &&StepRow| row.task == intent.task && row.digest == intent.digest;
        let old = self.next.step(version, n).filter(same);
        let state = self.next.step_state(version, n).become_state(version, n, StepState::Intent)?;
        let text = self.next.version(version).map(|row| &row.checksum);
        let same_text = |row: &&StepRow| row.checksum.is_none() || row.checksum.as_ref() == text;
        let row = StepRow {
            version,
            n,
            task: intent.task.clone(),
            step_kind: intent.step_kind.to_owned(),
            flags: intent.flags.clone(),
            state,
            attempts: old.map_or(0, |row| row.attempts) + i64::from(!is_broken(Mutant::NoAttempts)),
            failures: old.map_or(0, |row| row.failures),
            digest: intent.digest.clone(),
            undo: intent.undo.clone(),
            coordinator: intent.coordinator.clone(),
            position: old.filter(same_text).and_then(|row| row.position.clone()),
            error: old.and_then(|row| row.error.clone()),
            checksum: None,
            written_us: None,
        };
        self.next.steps.insert((version, n), row);
        self.touch(Key::step(version, n));
        Ok(())
    }

    fn step(&mut self, version: i64, n: i64, next: StepState) -> Result<&mut StepRow, IllegalTransition> {
        let state = self.next.step_state(version, n).become_state(version, n, next)?;
        self.touch(Key::step(version, n));
        match self.next.steps.get_mut(&(version, n)) {
            Some(row) => {
                row.state = state;
                Ok(row)
            }
            None => Err(IllegalTransition {
                what: format!("step {} of version {version}", n + 1),
                from: StepState::Queued.name(),
                to: next.name(),
            }),
        }
    }

    fn version(&mut self, version: i64, next: VersionState) -> Result<&mut VersionRow, IllegalTransition> {
        let state = self.next.version_state(version).become_state(version, next)?;
        self.touch(Key::version(version));
        match self.next.versions.get_mut(&version) {
            Some(row) => {
                row.state = state;
                Ok(row)
            }
            None => Err(IllegalTransition {
                what: format!("version {version}"),
                from: VersionState::Queued.name(),
                to: next.name(),
            }),
        }
    }

    fn touch(&mut self, key: Key) {
        if !self.touched.contains(&key) {
            self.touched.push(key);
        }
    }

    /// The rows that changed: a write of several transitions sets each cell once.
    fn mutations(&self) -> impl Iterator<Item = Mutation> {
        let rows = self.touched.iter().map(|key| match (cells(self.before, *key), cells(&self.next, *key)) {
            (_, None) => Mutation::Delete(*key),
            (before, Some(after)) => {
                let mut cells = changed(before.as_ref(), after);
                for (_, schema) in self.schemas.iter().filter(|(of, _)| of == key) {
                    cells.set("schema_digest", schema.digest.as_str());
                    cells.set("schema_text", schema.text.clone());
                }
                Mutation::Put(*key, cells)
            }
        });
        rows.chain(self.abandoned.iter().map(|version| Mutation::DeleteSteps(*version)))
    }
}

fn cells(ledger: &Ledger, key: Key) -> Option<Cells> {
    match key.kind {
        Kind::Version => ledger.version(key.version).map(VersionRow::to_cells),
        _ => ledger.step(key.version, key.n).map(StepRow::to_cells),
    }
}

fn activate(head: &mut Head, version: i64, state: &str) {
    head.active_version = Some(version);
    head.active_state = Some(state.to_owned());
}

/// A command for a version that an operator has decided about otherwise is void.
fn forget_command(head: &mut Head, version: i64) {
    if head.cmd_version == Some(version) {
        clear_command(head);
    }
}

fn clear_command(head: &mut Head) {
    (head.cmd, head.cmd_version, head.cmd_by, head.cmd_reason) = (None, None, None, None);
}

fn release(head: &mut Head) {
    head.owner = None;
    head.owner_info = None;
}
