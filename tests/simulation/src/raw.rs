//! The ledger's rows as they are, read without the engine's own types of them.

use std::collections::BTreeMap;

use kandra_migrate::__internals::{Kind, MemoryStore, Slice};

/// The head's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawHead {
    pub(crate) epoch: i64,
    pub(crate) rev: i64,
    pub(crate) op: u128,
    pub(crate) owner: Option<u128>,
    pub(crate) lease_ms: u64,
    pub(crate) cmd: Option<String>,
    pub(crate) cmd_version: Option<i64>,
    pub(crate) cmd_op: Option<u128>,
    pub(crate) hold_until_ms: Option<i64>,
}

impl RawHead {
    /// Whether an operator wants this version to be paused, and nobody has acted on it yet.
    pub(crate) fn pauses(&self, version: i64) -> bool {
        self.cmd.as_deref() == Some("pause") && self.cmd_version == Some(version)
    }
}

/// A version's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawVersion {
    pub(crate) state: String,
    pub(crate) checksum: String,
    pub(crate) pin_us: Option<i64>,
}

/// A step's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawStep {
    pub(crate) state: String,
    pub(crate) task: String,
    pub(crate) position: Option<String>,
    pub(crate) attempts: i64,
    pub(crate) coordinator: Option<String>,
}

/// All rows but the events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Raw {
    pub(crate) head: Option<RawHead>,
    pub(crate) versions: BTreeMap<i64, RawVersion>,
    pub(crate) steps: BTreeMap<(i64, i64), RawStep>,
}

impl Raw {
    pub(crate) fn read(store: &MemoryStore) -> Self {
        let mut raw = Self::default();
        let rows = [Slice::Versions, Slice::StepsFrom(i64::MIN)].map(|slice| store.read_now(slice).rows);
        for (key, cells) in rows.into_iter().flatten() {
            let text = |column| cells.text(column).unwrap_or_default();
            let int = |column| cells.int(column).unwrap_or(-1);
            match key.kind {
                Kind::Head => {
                    raw.head = Some(RawHead {
                        epoch: int("epoch"),
                        rev: int("rev"),
                        op: cells.uuid("op").map_or(0, |op| op.as_u128()),
                        owner: cells.uuid("owner").map(|owner| owner.as_u128()),
                        lease_ms: u64::try_from(int("lease_ms")).unwrap_or_default(),
                        cmd: cells.text("cmd"),
                        cmd_version: cells.int("cmd_version"),
                        cmd_op: cells.uuid("cmd_op").map(|op| op.as_u128()),
                        hold_until_ms: cells.int("hold_until"),
                    });
                }
                Kind::Version => {
                    let row = RawVersion {
                        state: text("state"),
                        checksum: text("checksum"),
                        pin_us: cells.int("pin_ts"),
                    };
                    raw.versions.insert(key.version, row);
                }
                Kind::Step => {
                    let row = RawStep {
                        state: text("state"),
                        task: text("task"),
                        position: cells.text("position"),
                        attempts: int("attempts"),
                        coordinator: cells.text("coordinator"),
                    };
                    raw.steps.insert((key.version, key.n), row);
                }
                Kind::Event | Kind::Lock => {}
            }
        }
        raw
    }

    pub(crate) fn is_completed(&self, version: i64) -> bool {
        self.versions.get(&version).is_some_and(|row| row.state == "COMPLETED")
    }

    pub(crate) fn step_state(&self, key: (i64, i64)) -> &str {
        self.steps.get(&key).map_or("", |row| row.state.as_str())
    }
}
