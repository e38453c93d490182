//! The world: its time, what is going to happen in it, and what is true.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use tokio::sync::oneshot;

use crate::checker::Checker;
use crate::coverage::{Coverage, Seen};
use crate::database::Database;
use crate::ledger::LedgerServer;
use crate::random::Random;
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::time::{Nanos, SECOND};

/// What is going to happen.
pub(crate) enum Event {
    /// In the world.
    World(Box<dyn FnOnce(&mut World) + Send>),
    /// To a process that waits.
    Wake(Waker),
    /// A process starts.
    Start(usize),
    /// A process that stood still goes on.
    GoOn(usize),
    /// A process is asked to stop.
    Shutdown(usize),
    /// An operator edits.
    Edit,
    /// No more faults.
    FaultsEnd,
}

struct Scheduled {
    at: Nanos,
    /// Of what happens at one moment, chance says what comes first.
    order: u64,
    event: Event,
}

impl Scheduled {
    fn key(&self) -> Reverse<(Nanos, u64)> {
        Reverse((self.at, self.order))
    }
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Scheduled {}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// One run of the engine, as the world knows it.
#[derive(Debug, Clone)]
pub(crate) struct RunInfo {
    /// In messages: the host and the run's number.
    pub(crate) name: String,
    /// What it writes as `owner`.
    pub(crate) owner: u128,
    pub(crate) binary: usize,
    pub(crate) alive: bool,
    /// Whether it is an operator's edit.
    pub(crate) edits: bool,
    /// Whether it leaves what is deferred.
    pub(crate) defers: bool,
    /// The versions that were completed when it began.
    pub(crate) completed_at_start: BTreeSet<i64>,
    /// When it gives up an answer of the ledger, in the world's time.
    pub(crate) request_timeout: Nanos,
}

/// The world.
pub(crate) struct World {
    pub(crate) now: Nanos,
    pub(crate) random: Random,
    queue: BinaryHeap<Scheduled>,
    pub(crate) scenario: Scenario,
    pub(crate) faults: bool,
    pub(crate) broken: Option<Rule>,
    pub(crate) ledger: LedgerServer,
    pub(crate) database: Database,
    pub(crate) checker: Checker,
    pub(crate) runs: Vec<RunInfo>,
    /// A deadly step has been sent by this run.
    pub(crate) doomed: Option<usize>,
    pub(crate) seen: Coverage,
    pub(crate) trace: Option<Vec<String>>,
}

/// The world, as its processes share it. One thread runs them all.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<World>>);

impl Shared {
    pub(crate) fn new(world: World) -> Self {
        Self(Arc::new(Mutex::new(world)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where an answer goes. The first one counts: a client that gave up no longer listens.
pub(crate) struct Answering<T>(Arc<Mutex<Option<oneshot::Sender<T>>>>);

impl<T> Clone for Answering<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Answering<T> {
    pub(crate) fn new() -> (Self, oneshot::Receiver<T>) {
        let (sender, receiver) = oneshot::channel();
        (Self(Arc::new(Mutex::new(Some(sender)))), receiver)
    }

    /// False where nobody waits for it any more.
    pub(crate) fn answer(&self, answer: T) -> bool {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        sender.is_some_and(|sender| sender.send(answer).is_ok())
    }
}

impl World {
    pub(crate) fn new(seed: u64, broken: Option<Rule>, traced: bool) -> Self {
        let mut random = Random::new(seed);
        let scenario = Scenario::new(&mut random);
        let mut world = Self {
            now: SECOND,
            ledger: LedgerServer::new(scenario.ledger_exists),
            database: Database::new(),
            checker: Checker::default(),
            queue: BinaryHeap::new(),
            random,
            scenario,
            faults: true,
            broken,
            runs: Vec::new(),
            doomed: None,
            seen: Coverage::default(),
            trace: traced.then(Vec::new),
        };
        world.plan();
        world
    }

    /// Schedules what does not depend on what the processes do.
    fn plan(&mut self) {
        for host in 0..self.scenario.hosts.len() {
            let at = self.scenario.hosts[host].starts_at;
            self.at(at, Event::Start(host));
        }
        let end = self.scenario.faults_end;
        self.at(end, Event::FaultsEnd);
        self.plan_nodes(end);
        self.plan_quorum(end);
        self.plan_operator(end);
    }

    pub(crate) fn at(&mut self, at: Nanos, event: Event) {
        let order = self.random.bits();
        self.queue.push(Scheduled { at: at.max(self.now), order, event });
    }

    /// Does something in the world after a time.
    pub(crate) fn after(&mut self, delay: Nanos, action: impl FnOnce(&mut World) + Send + 'static) {
        self.at(self.now + delay, Event::World(Box::new(action)));
    }

    /// The next event; the time goes on to it.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let scheduled = self.queue.pop()?;
        self.now = self.now.max(scheduled.at);
        Some(scheduled.event)
    }

    /// Whether a fault of this rate happens now.
    pub(crate) fn strikes(&mut self, rate: u64) -> bool {
        self.faults && self.random.per_mille(rate)
    }

    pub(crate) fn count(&mut self, what: Seen) {
        self.seen.count(what);
    }

    /// Notes a line of the schedule.
    pub(crate) fn note(&mut self, line: impl FnOnce(&Self) -> String) {
        if self.trace.is_some() {
            let line = format!("{:>9.3} s  {}", self.now as f64 / 1e9, line(self));
            if let Some(trace) = &mut self.trace {
                trace.push(line);
            }
        }
    }

    pub(crate) fn name(&self, run: usize) -> &str {
        &self.runs[run].name
    }

    /// What an answer takes on its way: mostly milliseconds, sometimes so long that later ones overtake it.
    pub(crate) fn latency(&mut self) -> Nanos {
        let us = if self.random.per_mille(30) {
            self.random.between(50_000, 700_000)
        } else {
            self.random.between(500, 8000)
        };
        us * 1000
    }
}
