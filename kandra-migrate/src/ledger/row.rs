//! The rows of the ledger, typed.

use uuid::Uuid;

use super::FORMAT;
use super::cell::{Cells, Value};
use super::history::LedgerError;
use super::state::{StepState, VersionState};

/// The head of a scope: the lease, the frontier, and what an operator has asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The oldest format that a binary must know to read this ledger.
    pub fmt_read: i32,
    /// The format that a binary must know to write it.
    pub fmt_write: i32,
    /// Counts the holders.
    pub epoch: i64,
    /// Counts the conditional writes.
    pub rev: i64,
    /// The fencing token: new with each conditional write.
    pub op: Uuid,
    /// The run that holds the lease.
    pub owner: Option<Uuid>,
    /// Its host, process and application.
    pub owner_info: Option<String>,
    /// The holder's lease in milliseconds.
    pub lease_ms: i64,
    /// The holder's interval between renewals in milliseconds.
    pub heartbeat_ms: i64,
    /// The serial consistency that all conditional statements of this ledger use.
    pub serial_cl: String,
    /// The version that the last write was about.
    pub active_version: Option<i64>,
    /// What became of it: a [`VersionState`], or `FAILED` where its claim was released.
    pub active_state: Option<String>,
    /// The digest over all completed versions.
    pub frontier: Option<String>,
    /// No version above this one is claimed.
    pub cap: Option<i64>,
    /// An operator's command that no holder has acted on yet; see [`CommandKind`](super::CommandKind).
    pub cmd: Option<String>,
    /// The version that it concerns.
    pub cmd_version: Option<i64>,
    /// New with each command.
    pub cmd_op: Option<Uuid>,
    /// Who gave it.
    pub cmd_by: Option<String>,
    /// Why.
    pub cmd_reason: Option<String>,
    /// No version is claimed before this time of the server's clock, in milliseconds since the epoch.
    pub hold_until: Option<i64>,
    /// Why.
    pub hold_reason: Option<String>,
}

impl Head {
    /// Whether this version of the crate may write the ledger.
    pub fn check_format(&self) -> Result<(), LedgerError> {
        if self.fmt_write > FORMAT { Err(LedgerError::NewerFormat { found: self.fmt_write }) } else { Ok(()) }
    }

    /// From its row; `None` where there is no head yet.
    pub fn from_cells(cells: &Cells) -> Result<Option<Self>, LedgerError> {
        let Some(op) = cells.uuid("op") else { return Ok(None) };
        Ok(Some(Self {
            fmt_read: small(cells, "fmt_read")?,
            fmt_write: small(cells, "fmt_write")?,
            epoch: required(cells.int("epoch"), "head", "epoch")?,
            rev: required(cells.int("rev"), "head", "rev")?,
            op,
            owner: cells.uuid("owner"),
            owner_info: cells.text("owner_info"),
            lease_ms: required(cells.int("lease_ms"), "head", "lease_ms")?,
            heartbeat_ms: required(cells.int("heartbeat_ms"), "head", "heartbeat_ms")?,
            serial_cl: required(cells.text("serial_cl"), "head", "serial_cl")?,
            active_version: cells.int("active_version"),
            active_state: cells.text("active_state"),
            frontier: cells.text("frontier"),
            cap: cells.int("cap"),
            cmd: cells.text("cmd"),
            cmd_version: cells.int("cmd_version"),
            cmd_op: cells.uuid("cmd_op"),
            cmd_by: cells.text("cmd_by"),
            cmd_reason: cells.text("cmd_reason"),
            hold_until: cells.int("hold_until"),
            hold_reason: cells.text("hold_reason"),
        }))
    }

    pub(crate) fn to_cells(&self) -> Cells {
        Cells::new()
            .with("fmt_read", self.fmt_read)
            .with("fmt_write", self.fmt_write)
            .with("epoch", self.epoch)
            .with("rev", self.rev)
            .with("op", self.op)
            .with("owner", self.owner)
            .with("owner_info", self.owner_info.clone())
            .with("lease_ms", self.lease_ms)
            .with("heartbeat_ms", self.heartbeat_ms)
            .with("serial_cl", self.serial_cl.as_str())
            .with("active_version", self.active_version)
            .with("active_state", self.active_state.clone())
            .with("frontier", self.frontier.clone())
            .with("cap", self.cap)
            .with("cmd", self.cmd.clone())
            .with("cmd_version", self.cmd_version)
            .with("cmd_op", self.cmd_op)
            .with("cmd_by", self.cmd_by.clone())
            .with("cmd_reason", self.cmd_reason.clone())
            .with("hold_until", self.hold_until.map(Value::Millis))
            .with("hold_reason", self.hold_reason.clone())
    }
}

/// The claim of a version, and once completed its history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRow {
    /// The version.
    pub version: i64,
    /// The name of the migration.
    pub name: String,
    /// The state.
    pub state: VersionState,
    /// The checksum as the writing binary has it.
    pub checksum: String,
    /// The digest over the plan's steps.
    pub plan_digest: String,
    /// The epoch that claimed it.
    pub epoch: i64,
    /// When it was claimed, by the claiming instance's wall clock, in milliseconds since the epoch.
    pub started_at: i64,
    /// When it was completed, likewise.
    pub applied_at: Option<i64>,
    /// How long the run took that completed it, in milliseconds.
    pub execution_ms: Option<i64>,
    /// The instance that claimed or completed it.
    pub applied_by: String,
    /// Whether a higher version was completed before.
    pub out_of_order: bool,
    /// Why it is paused.
    pub error: Option<String>,
    /// The write time of the claim, in microseconds since the epoch: a server's time, the same for each successor.
    /// `None` until it was read back.
    pub pin_ts: Option<i64>,
}

impl VersionRow {
    pub(crate) fn from_cells(version: i64, cells: &Cells) -> Result<Self, LedgerError> {
        let what = "version";
        let state = required(cells.text("state"), what, "state")?;
        Ok(Self {
            version,
            name: required(cells.text("name"), what, "name")?,
            state: VersionState::from_name(&state)
                .ok_or_else(|| LedgerError::unreadable(what, "state", &state))?,
            checksum: required(cells.text("checksum"), what, "checksum")?,
            plan_digest: cells.text("plan_digest").unwrap_or_default(),
            epoch: cells.int("epoch").unwrap_or_default(),
            started_at: cells.int("started_at").unwrap_or_default(),
            applied_at: cells.int("applied_at"),
            execution_ms: cells.int("execution_ms"),
            applied_by: cells.text("applied_by").unwrap_or_default(),
            out_of_order: cells.bool("out_of_order").unwrap_or_default(),
            error: cells.text("error"),
            pin_ts: cells.int("pin_ts"),
        })
    }

    pub(crate) fn to_cells(&self) -> Cells {
        Cells::new()
            .with("name", self.name.as_str())
            .with("state", self.state.name())
            .with("checksum", self.checksum.as_str())
            .with("plan_digest", self.plan_digest.as_str())
            .with("epoch", self.epoch)
            .with("started_at", Value::Millis(self.started_at))
            .with("applied_at", self.applied_at.map(Value::Millis))
            .with("execution_ms", self.execution_ms)
            .with("applied_by", self.applied_by.as_str())
            .with("out_of_order", self.out_of_order)
            .with("error", self.error.clone())
    }
}

/// The journal of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRow {
    /// The version that it is part of.
    pub version: i64,
    /// Its ordinal in the plan, from 0.
    pub n: i64,
    /// The name of its task.
    pub task: String,
    /// `schema`, `data` or `code`.
    pub step_kind: String,
    /// What a repetition means: `probe`, `idempotent` or `once`; and perhaps `point-of-no-return`.
    pub flags: String,
    /// The state.
    pub state: StepState,
    /// How often it was begun without a known outcome since the last definite one.
    pub attempts: i64,
    /// How often it failed definitely.
    pub failures: i64,
    /// The digest of the CQL that is sent; of a code task's name.
    pub digest: String,
    /// The CQL that takes it back.
    pub undo: Option<String>,
    /// The node that the statement was sent to, as `host-id address:port`.
    pub coordinator: Option<String>,
    /// The checkpoint.
    pub position: Option<String>,
    /// The last error.
    pub error: Option<String>,
    /// The checksum of the migration that failed.
    pub checksum: Option<String>,
    /// When the state was written by the server's clock, in microseconds since the epoch. `None` until read back.
    pub written_us: Option<i64>,
}

impl StepRow {
    /// Whether it is a statement on the schema or on roles, which goes to a node that its begin names.
    #[must_use]
    pub fn is_schema(&self) -> bool {
        self.step_kind == "schema"
    }

    pub(crate) fn from_cells(version: i64, n: i64, cells: &Cells) -> Result<Self, LedgerError> {
        let what = "step";
        let state = required(cells.text("state"), what, "state")?;
        Ok(Self {
            version,
            n,
            task: cells.text("task").unwrap_or_default(),
            step_kind: cells.text("step_kind").unwrap_or_default(),
            flags: cells.text("flags").unwrap_or_default(),
            state: StepState::from_name(&state)
                .ok_or_else(|| LedgerError::unreadable(what, "state", &state))?,
            attempts: cells.int("attempts").unwrap_or_default(),
            failures: cells.int("failures").unwrap_or_default(),
            digest: cells.text("digest").unwrap_or_default(),
            undo: cells.text("undo"),
            coordinator: cells.text("coordinator"),
            position: cells.text("position"),
            error: cells.text("error"),
            checksum: cells.text("checksum"),
            written_us: cells.int("written_us"),
        })
    }

    pub(crate) fn to_cells(&self) -> Cells {
        Cells::new()
            .with("task", self.task.as_str())
            .with("step_kind", self.step_kind.as_str())
            .with("flags", self.flags.as_str())
            .with("state", self.state.name())
            .with("attempts", self.attempts)
            .with("failures", self.failures)
            .with("digest", self.digest.as_str())
            .with("undo", self.undo.clone())
            .with("coordinator", self.coordinator.clone())
            .with("position", self.position.clone())
            .with("error", self.error.clone())
            .with("checksum", self.checksum.clone())
    }
}

fn required<T>(value: Option<T>, what: &'static str, column: &'static str) -> Result<T, LedgerError> {
    value.ok_or_else(|| LedgerError::unreadable(what, column, "null"))
}

fn small(cells: &Cells, column: &'static str) -> Result<i32, LedgerError> {
    let value = required(cells.int(column), "head", column)?;
    i32::try_from(value).map_err(|_| LedgerError::unreadable("head", column, &value.to_string()))
}
