//! What the engine does to the database besides writing the ledger.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::ledger::SchemaRecord;
use crate::plan::TaskFn;
use crate::schema::{Effect, SchemaChange};
use crate::store::Cause;
use crate::task::{Guard, TaskResult};

/// A node that schema statements are sent to, as the journal names it: `host-id address:port`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coordinator(pub String);

/// A statement to be sent once.
#[derive(Debug, Clone, Copy)]
pub struct Send<'a> {
    /// The text: one statement, without comments at its ends.
    pub text: &'a str,
    /// The node that must coordinate it, for a schema statement.
    pub coordinator: Option<&'a Coordinator>,
    /// What the id of a table or view that it creates is made from: the same for each attempt of one claim, so that one
    /// that lands late changes nothing.
    pub id_seed: Option<&'a str>,
    /// The write time, in microseconds since the epoch, for a data statement that may have one.
    pub timestamp_us: Option<i64>,
    /// When its outcome counts as unknown.
    pub timeout: Duration,
}

/// Why a statement has no known success.
#[derive(Debug, Clone, Error)]
pub enum SendError {
    /// It may have had its effect, or may still have it.
    #[error("{0}")]
    Unknown(Cause),
    /// It had none; the same may work later.
    #[error("{0}")]
    Passing(Cause),
    /// It had none and will not.
    #[error("{0}")]
    Refused(Cause),
}

/// What became of a node that a statement with an unknown outcome was sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// A fresh connection to it was answered: what it had to do, it has done.
    Answered,
    /// Its process is gone, or runs anew: what it had to do, it will not do.
    Gone,
    /// Neither, within the time: what it had to do may still come.
    Silent,
}

/// How far the nodes are with the build of an index or view.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Built {
    /// Nodes that are up.
    pub nodes: usize,
    /// Of these, those that have built it.
    pub built: usize,
    /// Nodes that are down: they build it when they come back.
    pub down: usize,
    /// How far the others are, as the servers say it: for people, and as a sign of progress.
    pub progress: String,
}

/// The nodes did not agree on one schema version.
#[derive(Debug, Clone, Error)]
#[error("no schema agreement within {}: {disagreeing}", crate::report::human(*.waited))]
pub struct NoAgreement {
    /// How long was waited.
    pub waited: Duration,
    /// The nodes that differ or do not answer.
    pub disagreeing: String,
}

/// A code task to be run.
#[derive(Debug)]
pub struct CodeRun {
    /// The task's name.
    pub name: String,
    /// Its function.
    pub(crate) function: TaskFn,
    /// The lease's guard.
    pub guard: Arc<Guard>,
    /// The write time of everything it writes, in microseconds since the epoch.
    pub timestamp_us: Option<i64>,
    /// Whether the task may run twice.
    pub idempotent: bool,
    /// Which attempt this is, from 1.
    pub attempt: i64,
    /// The last stored checkpoint.
    pub checkpoint: Option<String>,
}

/// The database that is migrated, behind the engine.
pub trait Executor: std::marker::Send + Sync {
    /// The node to send this run's schema statements to; `None` where no node is up.
    fn coordinator(&self) -> Option<Coordinator>;

    /// Sends a statement, once.
    fn send(&self, statement: Send<'_>) -> impl Future<Output = Result<(), SendError>> + std::marker::Send;

    /// Waits until all nodes that are up have one schema version.
    fn agree(&self, timeout: Duration) -> impl Future<Output = Result<(), NoAgreement>> + std::marker::Send;

    /// Asks whether a node can still be at work on an earlier statement.
    fn drain(
        &self,
        coordinator: &Coordinator,
        timeout: Duration,
    ) -> impl Future<Output = Drained> + std::marker::Send;

    /// Looks whether the effect of a schema statement is there.
    fn probe(
        &self,
        change: &SchemaChange,
    ) -> impl Future<Output = Result<Effect, SendError>> + std::marker::Send;

    /// What is to be kept of the keyspace's schema as it is now; `None` where there is nothing to keep.
    fn schema(&self) -> impl Future<Output = Result<Option<SchemaRecord>, SendError>> + std::marker::Send;

    /// Which nodes have built an index or view that the statement creates.
    fn built(
        &self,
        change: &SchemaChange,
    ) -> impl Future<Output = Result<Built, SendError>> + std::marker::Send;

    /// What should be looked at in the keyspace, although everything works: its replication, for one.
    fn advice(&self) -> impl Future<Output = Vec<String>> + std::marker::Send;

    /// Runs a code task. A panic in it is an error.
    fn run(&self, task: CodeRun) -> impl Future<Output = TaskResult> + std::marker::Send;
}
