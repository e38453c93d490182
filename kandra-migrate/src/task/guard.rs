//! The lease as a task sees it: whether it may still send, and how it tells the run of its progress.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

use crate::clock::Clock;

/// A checkpoint that a task wants stored; answered once it is.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub(crate) position: String,
    pub(crate) stored: oneshot::Sender<()>,
}

/// Shared by a run and its task.
#[derive(Debug)]
pub struct Guard {
    /// Nothing is sent that may end after this time of the run's clock; zero while the lease is in doubt.
    deadline: watch::Sender<Duration>,
    unknown: AtomicBool,
    signs_of_life: AtomicU64,
    checkpoints: mpsc::Sender<Checkpoint>,
}

/// The run has stopped answering: it lost the lease, or it ended.
#[derive(Debug, thiserror::Error)]
#[error("the run that this task is part of no longer holds the lease")]
pub(crate) struct RunEnded;

impl Guard {
    /// A guard, closed until [`Guard::open`], and where its checkpoints arrive.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Checkpoint>) {
        // A task saves one checkpoint at a time; several are there when it does so from parallel branches.
        let (checkpoints, receiver) = mpsc::channel(1);
        let guard = Self {
            deadline: watch::Sender::new(Duration::ZERO),
            unknown: AtomicBool::new(false),
            signs_of_life: AtomicU64::new(0),
            checkpoints,
        };
        (guard, receiver)
    }

    /// Statements that end before `deadline` may be sent.
    pub(crate) fn open(&self, deadline: Duration) {
        self.deadline.send_replace(deadline);
    }

    /// No statement may be sent.
    pub(crate) fn close(&self) {
        self.deadline.send_replace(Duration::ZERO);
    }

    /// Waits until a statement that takes at most `timeout` ends within the lease. The run's heartbeat moves the
    /// deadline on; a run that loses the lease drops the task that waits here.
    pub(crate) async fn admit(&self, clock: &impl Clock, timeout: Duration) -> Result<(), RunEnded> {
        let mut deadline = self.deadline.subscribe();
        deadline.wait_for(|deadline| clock.now() + timeout <= *deadline).await.map_err(|_| RunEnded)?;
        Ok(())
    }

    /// A statement of the task has an unknown outcome: it may still land.
    pub(crate) fn note_unknown(&self) {
        self.unknown.store(true, SeqCst);
    }

    pub(crate) fn has_unknown(&self) -> bool {
        self.unknown.load(SeqCst)
    }

    /// The task is getting on.
    pub(crate) fn note_progress(&self) {
        self.signs_of_life.fetch_add(1, SeqCst);
    }

    pub(crate) fn signs_of_life(&self) -> u64 {
        self.signs_of_life.load(SeqCst)
    }

    /// Returns once the checkpoint is in the ledger.
    pub(crate) async fn save(&self, position: String) -> Result<(), RunEnded> {
        let (stored, answer) = oneshot::channel();
        self.checkpoints.send(Checkpoint { position, stored }).await.map_err(|_| RunEnded)?;
        answer.await.map_err(|_| RunEnded)
    }
}
