//! The lease as a task sees it: whether it may still send, and how it tells the run of its progress.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::Term;
use crate::clock::Clock;
use crate::mutant::{Mutant, is_broken};

/// A checkpoint that a task wants stored; answered once it is.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub(crate) position: String,
    pub(crate) stored: oneshot::Sender<()>,
}

/// Shared by a run and its task.
#[derive(Debug)]
pub struct Guard {
    /// Nothing is sent that may end outside of it; over from the start while the lease is in doubt.
    term: watch::Sender<Term>,
    /// How many statements of the task are under way.
    under_way: AtomicUsize,
    /// None is.
    is_quiet: Notify,
    /// The run no longer waits for the task.
    over: AtomicBool,
    unknown: AtomicBool,
    signs_of_life: AtomicU64,
    far: watch::Sender<Far>,
    checkpoints: mpsc::Sender<Checkpoint>,
}

/// How far a task says it is: so many of so many, in a unit of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Far {
    pub(crate) done: u64,
    pub(crate) total: Option<u64>,
}

/// The run has stopped answering: it lost the lease, or it ended.
#[derive(Debug, thiserror::Error)]
#[error("the run that this task is part of no longer holds the lease")]
pub struct RunEnded;

/// A statement that is under way until this is dropped. One that is dropped without [`Permit::ended`] may still land.
#[derive(Debug)]
pub struct Permit<'a> {
    guard: &'a Guard,
    ended: bool,
}

impl Permit<'_> {
    /// The statement has a definite outcome.
    pub fn ended(mut self) {
        self.ended = true;
        self.guard.note_progress();
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.guard.unknown.store(true, SeqCst);
        }
        self.guard.leave();
    }
}

impl Guard {
    /// A guard, closed until [`Guard::open`], and where its checkpoints arrive.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Checkpoint>) {
        // A task saves one checkpoint at a time; several are there when it does so from parallel branches.
        let (checkpoints, receiver) = mpsc::channel(1);
        let guard = Self {
            term: watch::Sender::new(Term::default()),
            under_way: AtomicUsize::new(0),
            is_quiet: Notify::new(),
            over: AtomicBool::new(false),
            unknown: AtomicBool::new(false),
            signs_of_life: AtomicU64::new(0),
            far: watch::Sender::new(Far::default()),
            checkpoints,
        };
        (guard, receiver)
    }

    /// Statements that end within this term may be sent.
    pub(crate) fn open(&self, term: Term) {
        self.term.send_replace(term);
    }

    /// No statement may be sent.
    pub(crate) fn close(&self) {
        self.term.send_replace(Term::default());
    }

    /// The task has ended, or is not waited for: what it has left behind sends nothing any more.
    pub(crate) fn end(&self) {
        self.over.store(true, SeqCst);
        self.close();
    }

    /// Waits until a statement that takes at most `timeout` ends within the lease. The run's heartbeat begins a new
    /// term; a run that loses the lease drops the task that waits here.
    pub async fn admit(&self, clock: &impl Clock, timeout: Duration) -> Result<Permit<'_>, RunEnded> {
        let fits = |term: &Term| {
            self.over.load(SeqCst) || term.covers(clock, timeout) || is_broken(Mutant::NoDeadline)
        };
        loop {
            // Before the look at the term: whoever closes it and then waits for quiet has either closed it for this one, or
            // waits for it.
            self.under_way.fetch_add(1, SeqCst);
            let is_let_through = fits(&self.term.borrow());
            if is_let_through && !self.over.load(SeqCst) {
                return Ok(Permit { guard: self, ended: false });
            }
            self.leave();
            if is_let_through {
                return Err(RunEnded);
            }
            self.term.subscribe().wait_for(fits).await.map_err(|_| RunEnded)?;
        }
    }

    fn leave(&self) {
        if self.under_way.fetch_sub(1, SeqCst) == 1 {
            self.is_quiet.notify_waiters();
        }
    }

    /// Ends once no statement is under way.
    pub(crate) async fn quiet(&self) {
        loop {
            // Before the count is looked at: a notice that comes after that is not missed.
            let is_quiet = self.is_quiet.notified();
            if self.under_way.load(SeqCst) == 0 {
                return;
            }
            is_quiet.await;
        }
    }

    /// Whether a statement of the task has an unknown outcome: it may still land.
    pub(crate) fn has_unknown(&self) -> bool {
        self.unknown.load(SeqCst)
    }

    /// The task is getting on.
    pub fn note_progress(&self) {
        self.signs_of_life.fetch_add(1, SeqCst);
    }

    /// The task says how far it is.
    pub(crate) fn note_far(&self, far: Far) {
        self.note_progress();
        self.far.send_replace(far);
    }

    /// What it says from now on; of what is said in between two looks, the last counts.
    pub(crate) fn follow(&self) -> watch::Receiver<Far> {
        self.far.subscribe()
    }

    pub(crate) fn signs_of_life(&self) -> u64 {
        self.signs_of_life.load(SeqCst)
    }

    /// Returns once the checkpoint is in the ledger.
    pub async fn save(&self, position: String) -> Result<(), RunEnded> {
        let (stored, answer) = oneshot::channel();
        self.checkpoints.send(Checkpoint { position, stored }).await.map_err(|_| RunEnded)?;
        answer.await.map_err(|_| RunEnded)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicI64;

    use super::*;

    /// One that only a test moves, with a wall clock that can jump.
    #[derive(Debug, Default)]
    struct Hands {
        own_ms: AtomicI64,
        wall_ms: AtomicI64,
    }

    impl Clock for Hands {
        fn now(&self) -> Duration {
            Duration::from_millis(self.own_ms.load(SeqCst).unsigned_abs())
        }

        fn wall_ms(&self) -> i64 {
            self.wall_ms.load(SeqCst)
        }

        async fn sleep(&self, _duration: Duration) {}
    }

    impl Hands {
        fn pass(&self, own_ms: i64, wall_ms: i64) {
            self.own_ms.fetch_add(own_ms, SeqCst);
            self.wall_ms.fetch_add(wall_ms, SeqCst);
        }
    }

    const LENGTH: Duration = Duration::from_secs(40);
    const TIMEOUT: Duration = Duration::from_secs(10);

    async fn is_admitted(guard: &Guard, clock: &Hands) -> bool {
        tokio::time::timeout(Duration::from_millis(1), guard.admit(clock, TIMEOUT)).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_statement_is_let_through_only_if_it_ends_within_the_lease() {
        let (clock, (guard, _checkpoints)) = (Hands::default(), Guard::new());
        assert!(!is_admitted(&guard, &clock).await, "the guard is closed until it is opened");
        guard.open(Term::beginning(&clock, LENGTH));
        clock.pass(30_000, 30_000);
        assert!(is_admitted(&guard, &clock).await);
        clock.pass(1, 1);
        assert!(!is_admitted(&guard, &clock).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_jump_of_the_wall_clock_keeps_statements_back_until_the_lease_is_renewed() {
        for jump_ms in [3_600_000, -3_600_000] {
            let (clock, (guard, _checkpoints)) = (Hands::default(), Guard::new());
            guard.open(Term::beginning(&clock, LENGTH));
            clock.pass(1_000, 1_000 + jump_ms);
            assert!(!is_admitted(&guard, &clock).await, "the machine may have stood still");
            guard.open(Term::beginning(&clock, LENGTH));
            assert!(is_admitted(&guard, &clock).await);
        }
    }
}
