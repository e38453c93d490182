//! Processes: each runs the engine as a future that this module polls, kills and lets stand still.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};

use kandra_migrate::__internals::{Catalog, Destination, Dice, Env, Identity, Run, Shutdown};
use kandra_migrate::{Error, Report};

use crate::catalogue::KEYSPACE;
use crate::port::Port;
use crate::scenario::Host;
use crate::world::{RunInfo, Shared};

type Running = Pin<Box<dyn Future<Output = Result<Report, Error>>>>;

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
    Ended(Box<Result<Report, Error>>),
    Panicked(String),
}

impl Process {
    /// Starts a run on a host.
    pub(crate) fn start(world: &Shared, host: &Host) -> Self {
        let mut locked = world.lock();
        let run = locked.runs.len();
        let dice = Dice::seeded(locked.random.bits());
        let owner = dice.nonce();
        let name = format!("{} run {run}", host.name);
        locked.runs.push(RunInfo {
            name: name.clone(),
            owner: owner.as_u128(),
            binary: host.binary,
            alive: true,
            request_timeout: host.rate.world(host.settings.request_timeout()),
        });
        let migrations = locked.scenario.binaries[host.binary].clone();
        locked.note(|world| format!("{} starts", world.name(run)));
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
        let future = Box::pin(async move {
            let destination = Destination::new(KEYSPACE, Some(KEYSPACE.to_owned()));
            let table = format!("{KEYSPACE}.kandra_migrations");
            let catalog = Catalog::new(&migrations, settings.up_to);
            let identity = Identity { owner, info: name, reason: None };
            let env = Env { store: &port, clock: &port, dice: &dice, settings: &settings };
            Run::new(env, &port, identity, catalog, destination, shutdown, table).run().await
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
