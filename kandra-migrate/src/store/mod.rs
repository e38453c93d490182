//! Where the ledger is kept.

mod answer;
mod bootstrap;
mod cql;
mod definition;
mod elsewhere;
mod literal;
mod memory;
mod render;

use std::time::Duration;

use thiserror::Error;
use uuid::Uuid;

use crate::human::human;
use crate::ledger::{Cells, Key, Transaction};
use crate::port::StoreError;

pub(crate) use cql::{CqlStore, StoreSettings};
pub use memory::MemoryStore;

/// Which rows of a scope a read returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slice {
    /// Of the head, the frontier, the serial consistency and what the last write was about: all that a run which has
    /// nothing to do needs, at a third of the head's cost above a bare read.
    Frontier,
    /// The head's row.
    Head,
    /// The head and all versions.
    Versions,
    /// What was stored of the schema with this version, and nothing else of it.
    Schema(i64),
    /// The journal of all versions from this one on.
    StepsFrom(i64),
    /// The newest events, at most so many.
    Events {
        /// How many.
        rows_max: i32,
    },
}

/// How a slice is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadLevel {
    /// `LOCAL_QUORUM`: enough to see that a decided frontier is there.
    Glance,
    /// `QUORUM`: what a watcher goes by.
    Quorum,
    /// `SERIAL`: finishes writes that are under way, so that what it does not see will not come; what a holder plans by.
    Serial,
}

/// The rows of a slice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    /// Each row with its key. Version rows carry `pin_ts`, step rows `written_us`: write times of the server.
    pub rows: Vec<(Key, Cells)>,
    /// The server's clock, in milliseconds since the epoch, where a row was returned.
    pub server_ms: Option<i64>,
    /// When the head's `op` was written by the server's clock, in microseconds since the epoch.
    pub op_written_us: Option<i64>,
}

impl Rows {
    /// How long ago the head's `op` was written, by the server's clock.
    #[must_use]
    pub fn op_age(&self) -> Option<Duration> {
        let age_ms = self.server_ms? - self.op_written_us? / 1000;
        Some(Duration::from_millis(u64::try_from(age_ms).unwrap_or_default()))
    }
}

/// The definite answer to a conditional write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Whether it was applied just now.
    pub applied: bool,
    /// The head's tokens, where the answer has the head's row; a rejection by another row's condition may not.
    pub head: Option<Tokens>,
}

/// The head's fencing token and the token of the last command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    /// `op`.
    pub op: Option<Uuid>,
    /// `cmd_op`.
    pub cmd_op: Option<Uuid>,
}

/// The ledger of one keyspace and scope.
///
/// Only conditional writes go to it, ever. A store sends each of them once and says what became of it; whether to send
/// it again is the caller's decision.
pub trait Store: Send + Sync {
    /// Reads a slice.
    fn read(&self, slice: Slice, level: ReadLevel) -> impl Future<Output = Result<Rows, StoreError>> + Send;

    /// Sends a conditional write, once.
    fn apply(&self, transaction: &Transaction) -> impl Future<Output = Result<Answer, StoreError>> + Send;

    /// What is there of the ledger: asked when a read is [`StoreError::Invalid`].
    fn inspect(&self) -> impl Future<Output = Result<LedgerTable, StoreError>> + Send;

    /// Creates the ledger's table with its deterministic id and waits until all nodes agree on it, at most so long.
    /// Safe to call from many instances at once.
    fn create(&self, timeout: Duration) -> impl Future<Output = Result<(), CreateError>> + Send;

    /// Whether the keyspace that is migrated is there. Where the ledger is in it, nothing is asked.
    fn has_keyspace(&self) -> impl Future<Output = Result<bool, StoreError>> + Send {
        async { Ok(true) }
    }

    /// The keyspace of another table that has this ledger's history: asked where this one is empty, so that nothing is
    /// applied a second time.
    fn elsewhere(&self) -> impl Future<Output = Result<Option<String>, StoreError>> + Send {
        async { Ok(None) }
    }

    /// Creates the keyspace that is migrated, with this replication, and waits until all nodes agree on it.
    fn create_keyspace(
        &self,
        replication: &str,
        timeout: Duration,
    ) -> impl Future<Output = Result<(), CreateError>> + Send;
}

/// What is there of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerTable {
    /// The table, in the shape that this version of the crate knows.
    Ready,
    /// The keyspace, without the table.
    TableMissing,
    /// No such keyspace.
    KeyspaceMissing,
    /// The keyspace of this name, which is not the one that is migrated and has the ledger, is not there.
    LedgerKeyspaceMissing(String),
    /// A table of this name that is not the ledger: what differs.
    OtherShape(String),
}

/// Why the ledger's table could not be created.
#[derive(Debug, Clone, Error)]
pub enum CreateError {
    /// The server said no, or nothing.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The nodes did not agree on the schema in time.
    #[error("the nodes did not agree on the schema within {}", human(*.0))]
    NoAgreement(Duration),
    /// A table of this name that is not the ledger: what differs.
    #[error("{0}")]
    OtherShape(String),
    /// The server ignored or refused the table's id, so that concurrent creations could make two tables.
    #[error("the server does not take table ids")]
    IdRefused {
        /// The statement that creates the table, to be sent ahead of time.
        statement: String,
    },
}
