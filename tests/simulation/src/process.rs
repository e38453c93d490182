//! Processes: each runs the engine as a future that this module polls, kills and lets stand still.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};

use kandra_migrate::__internals::{
    Catalog, Destination, Dice, Env, Expected, Identity, Operator, Run, Shutdown, Verb,
};
use kandra_migrate::{Error, Report};

use crate::catalogue::KEYSPACE;
use crate::port::Port;
use crate::scenario::Host;
use crate::world::{RunInfo, Shared};

/// The end of a run, or of an operator's edit, which has no report.
pub(crate) type End = Result<Option<Report>, Error>;

type Running = Pin<Box<dyn Future<Output = End>>>;

/// A waker that notes that there is something to do.
#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}

/// A run of the engine, under way.
pub(crate) struct Process {
    pub(crate) run: usize,
    future: Running,
    flag: Arc<Flag>,
    pub(crate) stalled: bool,
    stop: Box<dyn Fn()>,
}

/// What a poll led to.
pub(crate) enum Polled {
    Waits,
    Ended(Box<End>),
    Panicked(String),
}

impl Process {
    /// Starts a run on a host, or an operator's edit.
    pub(crate) fn start(world: &Shared, host: &Host, edit: Option<(Verb, Expected)>) -> Self {
        let mut locked = world.lock();
        let run = locked.runs.len();
        let dice = Dice::seeded(locked.random.bits());
        let owner = dice.nonce();
        let name = format!("{} run {run}", host.name);
        let completed_at_start = locked.checker.completed();
        locked.runs.push(RunInfo {
            name: name.clone(),
            owner: owner.as_u128(),
            binary: host.binary,
            alive: true,
            edits: edit.is_some(),
            defers: host.defers && edit.is_none(),
            completed_at_start,
            request_timeout: host.rate.world(host.settings.request_timeout()),
        });
        let migrations = locked.scenario.binaries[host.binary].clone();
        locked.note(|world| format!("{} starts{}", world.name(run), described(edit.as_ref())));
        drop(locked);
        let (sender, shutdown) = Shutdown::new();
        let port = Port {
            world: world.clone(),
            run,
            rate: host.rate,
            statement_timeout: host.settings.statement_timeout,
            starts: AtomicU64::new(0),
        };
        let settings = host.settings.clone();
        let defers = host.defers && edit.is_none();
        let future = Box::pin(async move {
            let destination = Destination::new(KEYSPACE, Some(KEYSPACE.to_owned()));
            let table = format!("{KEYSPACE}.kandra_migrations");
            let catalog = Catalog::new(&migrations, settings.up_to);
            let catalog = if defers { catalog.before_deferred() } else { catalog };
            let identity = Identity { owner, info: name, reason: None };
            let env = Env { store: &port, clock: &port, dice: &dice, settings: &settings };
            let Some((verb, expected)) = edit else {
                let run = Run::new(env, &port, identity, catalog, destination, shutdown, table);
                return run.run().await.map(Some);
            };
            let mut operator = Operator::new(env, &port, identity, &catalog, KEYSPACE.to_owned(), table);
            operator.operate(&verb, expected).await.map(|()| None)
        });
        let stop = Box::new(move || {
            sender.send_replace(true);
        });
        Self { run, future, flag: Arc::new(Flag(AtomicBool::new(true))), stalled: false, stop }
    }

    pub(crate) fn is_ready(&self) -> bool {
        !self.stalled && self.flag.0.load(Relaxed)
    }

    /// Asks it to stop.
    pub(crate) fn stop(&self) {
        (self.stop)();
    }

    pub(crate) fn poll(&mut self) -> Polled {
        self.flag.0.store(false, Relaxed);
        let waker = Waker::from(Arc::clone(&self.flag));
        let mut context = Context::from_waker(&waker);
        let future = self.future.as_mut();
        match catch_unwind(AssertUnwindSafe(|| future.poll(&mut context))) {
            Ok(Poll::Pending) => Polled::Waits,
            Ok(Poll::Ready(ended)) => Polled::Ended(Box::new(ended)),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                Polled::Panicked(text.unwrap_or_default())
            }
        }
    }
}

fn described(edit: Option<&(Verb, Expected)>) -> String {
    edit.map(|(verb, expected)| format!(" {verb:?} {expected:?}")).unwrap_or_default()
}
