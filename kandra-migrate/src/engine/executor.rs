//! What the engine does to the database besides writing the ledger.

use std::sync::Arc;
use std::time::Duration;

use crate::plan::TaskFn;
use crate::port::{Agreed, Coordinator, Drained, NoAgreement, SendError};
use crate::schema::{Effect, SchemaChange};
use crate::task::{Guard, TaskResult};

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

    /// Waits until all nodes that are up have one schema version, and says whether this node is one of them.
    fn agree(
        &self,
        with: Option<&Coordinator>,
        timeout: Duration,
    ) -> impl Future<Output = Result<Agreed, NoAgreement>> + std::marker::Send;

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

    /// What should be looked at in the keyspace, although everything works: its replication, for one.
    fn advice(&self) -> impl Future<Output = Vec<String>> + std::marker::Send;

    /// Runs a code task. A panic in it is an error.
    fn run(&self, task: CodeRun) -> impl Future<Output = TaskResult> + std::marker::Send;
}
