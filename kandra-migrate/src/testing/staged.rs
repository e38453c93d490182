//! What a test does to a run, between the engine and the database.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::engine::{CodeRun, Executor, Send};
use crate::executor::CqlExecutor;
use crate::ledger::SchemaRecord;
use crate::plan::{Repeat, Step};
use crate::port::{Agreed, BuildState, Coordinator, Drained, NoAgreement, SendError};
use crate::schema::{Effect, SchemaChange};
use crate::task::TaskResult;

/// What is done to a run.
pub(super) enum Stage {
    /// It is stopped gracefully once a step has succeeded.
    StopAfter { work: What, request: watch::Sender<bool> },
    /// The first answer to each statement is lost, and each code task is run a second time; not those that say that they
    /// must not be.
    LoseAnswers { once: BTreeSet<String>, lost: Mutex<BTreeSet<String>> },
}

/// How a step is known where it is sent.
#[derive(PartialEq, Eq)]
pub(super) enum What {
    Cql(String),
    Code(String),
}

impl What {
    fn of(step: &Step) -> Self {
        match step.cql() {
            Some(text) => Self::Cql(text.to_owned()),
            None => Self::Code(step.task.clone()),
        }
    }
}

impl Stage {
    pub(super) fn stop_after(step: &Step, request: watch::Sender<bool>) -> Self {
        Self::StopAfter { work: What::of(step), request }
    }

    /// Of a run of these steps.
    pub(super) fn lose_answers<'a>(steps: impl Iterator<Item = &'a Step>) -> Self {
        let once = steps.filter(|step| step.repeat == Repeat::Once).filter_map(Step::cql).map(str::to_owned);
        Self::LoseAnswers { once: once.collect(), lost: Mutex::default() }
    }

    fn succeeded(&self, what: &What) {
        if let Self::StopAfter { work, request } = self
            && work == what
        {
            request.send_replace(true);
        }
    }

    /// Whether the answer to this statement is to be lost, now that it has succeeded.
    fn loses(&self, text: &str) -> bool {
        let Self::LoseAnswers { once, lost } = self else { return false };
        let mut lost = lost.lock().unwrap_or_else(PoisonError::into_inner);
        !once.contains(text) && lost.insert(text.to_owned())
    }

    fn repeats(&self, task: &CodeRun) -> bool {
        matches!(self, Self::LoseAnswers { .. }) && task.idempotent
    }
}

/// The runner's own executor, on stage.
pub(super) struct Staged {
    executor: CqlExecutor,
    stage: Stage,
}

impl Staged {
    pub(super) fn new(executor: CqlExecutor, stage: Stage) -> Self {
        Self { executor, stage }
    }
}

impl Executor for Staged {
    fn coordinator(&self) -> Option<Coordinator> {
        self.executor.coordinator()
    }

    async fn send(&self, statement: Send<'_>) -> Result<(), SendError> {
        self.executor.send(statement).await?;
        if self.stage.loses(statement.text) {
            return Err(SendError::Unknown(Arc::new(io::Error::other("the answer was lost, for a test"))));
        }
        self.stage.succeeded(&What::Cql(statement.text.to_owned()));
        Ok(())
    }

    async fn agree(&self, with: Option<&Coordinator>, timeout: Duration) -> Result<Agreed, NoAgreement> {
        self.executor.agree(with, timeout).await
    }

    async fn drain(&self, coordinator: &Coordinator, timeout: Duration) -> Drained {
        self.executor.drain(coordinator, timeout).await
    }

    async fn probe(&self, change: &SchemaChange) -> Result<Effect, SendError> {
        self.executor.probe(change).await
    }

    async fn schema(&self) -> Result<Option<SchemaRecord>, SendError> {
        self.executor.schema().await
    }

    async fn built(&self, change: &SchemaChange) -> Result<BuildState, SendError> {
        self.executor.built(change).await
    }

    async fn advice(&self) -> Vec<String> {
        self.executor.advice().await
    }

    async fn run(&self, task: CodeRun) -> TaskResult {
        let what = What::Code(task.name.clone());
        if self.stage.repeats(&task) {
            // From its start, as after a crash before the first checkpoint was stored.
            self.executor.run(again(&task, task.attempt)).await?;
            return self.executor.run(again(&task, task.attempt + 1)).await;
        }
        self.executor.run(task).await?;
        self.stage.succeeded(&what);
        Ok(())
    }
}

fn again(task: &CodeRun, attempt: i64) -> CodeRun {
    CodeRun {
        name: task.name.clone(),
        function: task.function.clone(),
        guard: Arc::clone(&task.guard),
        checkpoint: task.checkpoint.clone(),
        attempt,
        ..*task
    }
}
