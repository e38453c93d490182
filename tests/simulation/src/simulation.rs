//! One simulation, from its seed to its end.

use kandra_migrate::__internals::break_rule;
use kandra_migrate::{Code, Wait};

use crate::checker::Violation;
use crate::coverage::{Coverage, Seen};
use crate::database::{NODES, NodeState};
use crate::process::{End, Polled, Process};
use crate::rules::Rule;
use crate::scenario::{Host, Poison};
use crate::time::{Nanos, SECOND, nanos};
use crate::world::{Event, Shared, World};

/// How long runs may go on once the faults have ended.
const END_WITHIN: Nanos = 600 * SECOND;
/// How long each of the last runs may take.
const LAST_RUN_WITHIN: Nanos = 1200 * SECOND;
/// Of so many last runs, one after the other and without faults, one must come to an end that stays.
const LAST_RUNS_MAX: u32 = 8;
/// More polls than that are a loop that does not end.
const POLLS_MAX: u64 = 300_000;

/// What came of a seed.
#[derive(Debug)]
pub struct Ended {
    /// The first broken promise.
    pub violation: Option<Violation>,
    /// What has occurred.
    pub seen: Coverage,
    /// How often a process was polled.
    pub polls: u64,
    /// The schedule, if it was asked for.
    pub trace: Vec<String>,
}

/// Runs the world of a seed to its end, with one rule broken or none.
#[must_use]
pub fn simulate(seed: u64, broken: Option<Rule>, traced: bool) -> Ended {
    break_rule(broken.and_then(Rule::mutant));
    let mut simulation = Simulation::new(World::new(seed, broken, traced));
    simulation.run();
    break_rule(None);
    simulation.into_ended()
}

struct Simulation {
    world: Shared,
    hosts: Vec<Host>,
    processes: Vec<Option<Process>>,
    /// Starts that are going to happen.
    starts_ahead: usize,
    last_runs: u32,
    done: bool,
    deadline: Nanos,
    polls: u64,
}

impl Simulation {
    fn new(world: World) -> Self {
        let hosts = world.scenario.hosts.clone();
        Self {
            processes: hosts.iter().map(|_| None).collect(),
            starts_ahead: hosts.len(),
            hosts,
            world: Shared::new(world),
            last_runs: 0,
            done: false,
            deadline: Nanos::MAX,
            polls: 0,
        }
    }

    fn run(&mut self) {
        while !self.done && self.world.lock().checker.violation.is_none() {
            let ready: Vec<_> = (0..self.processes.len())
                .filter(|host| self.processes[*host].as_ref().is_some_and(Process::is_ready))
                .collect();
            if ready.is_empty() {
                if self.is_quiet() {
                    self.start_last();
                } else {
                    self.next_event();
                }
            } else {
                let host = *self.world.lock().random.pick(&ready);
                self.poll(host);
            }
            self.check_bounds();
        }
    }

    fn into_ended(mut self) -> Ended {
        self.processes.clear();
        let mut world = self.world.lock();
        Ended {
            violation: world.checker.violation.take(),
            seen: world.seen.clone(),
            polls: self.polls,
            trace: world.trace.take().unwrap_or_default(),
        }
    }

    fn is_quiet(&self) -> bool {
        self.starts_ahead == 0 && self.processes.iter().all(Option::is_none) && !self.world.lock().faults
    }

    fn check_bounds(&mut self) {
        let mut world = self.world.lock();
        if world.now > self.deadline || self.polls > POLLS_MAX {
            let running: Vec<_> =
                self.processes.iter().flatten().map(|process| world.name(process.run).to_owned()).collect();
            let detail = format!("after {} polls there still are {running:?}", self.polls);
            world.violate("everything ends once the faults have ended", detail);
        }
    }

    fn next_event(&mut self) {
        let event = self.world.lock().next();
        match event {
            None => {
                let mut world = self.world.lock();
                world.violate("everything ends once the faults have ended", "nothing happens".to_owned());
            }
            Some(Event::World(action)) => action(&mut self.world.lock()),
            Some(Event::Wake(waker)) => waker.wake(),
            Some(Event::Start(host)) => {
                self.starts_ahead -= 1;
                self.processes[host] = Some(Process::start(&self.world, &self.hosts[host], None));
            }
            Some(Event::GoOn(host)) => {
                if let Some(process) = &mut self.processes[host] {
                    process.stalled = false;
                    self.world.lock().note(|world| format!("{} goes on", world.name(process.run)));
                }
            }
            Some(Event::Shutdown(host)) => {
                if let Some(process) = &self.processes[host] {
                    let mut world = self.world.lock();
                    world.count(Seen::Shutdown);
                    world.note(|world| format!("{} is asked to stop", world.name(process.run)));
                    process.stop();
                }
            }
            Some(Event::Edit) => self.edit(),
            Some(Event::FaultsEnd) => self.end_faults(),
        }
    }

    /// An operator edits from a host of its own, that is killed and stands still as others are.
    fn edit(&mut self) {
        let mut world = self.world.lock();
        let Some(edit) = world.any_edit() else { return };
        let number = self.hosts.len();
        let mut host = world.random.pick(&self.hosts).clone();
        drop(world);
        (host.name, host.restarts) = (format!("operator-{number}"), 0);
        self.processes.push(Some(Process::start(&self.world, &host, Some(edit))));
        self.hosts.push(host);
    }

    fn end_faults(&mut self) {
        let mut world = self.world.lock();
        world.note(|_| "the faults end".to_owned());
        for node in 0..NODES {
            world.set_node(node, NodeState::Up);
        }
        world.faults = false;
        world.set_quorum(true);
        self.deadline = world.now + END_WITHIN;
    }

    fn poll(&mut self, host: usize) {
        self.polls += 1;
        let Some(process) = &mut self.processes[host] else { return };
        let run = process.run;
        match process.poll() {
            Polled::Waits => self.trouble(host),
            Polled::Panicked(message) => {
                self.processes[host] = None;
                let mut world = self.world.lock();
                let detail = format!("{}: {message}", world.name(run));
                world.violate("the engine does not panic", detail);
            }
            Polled::Ended(ended) => {
                self.processes[host] = None;
                self.ended(host, run, &ended);
            }
        }
    }

    /// What may happen to a process between two polls.
    fn trouble(&mut self, host: usize) {
        let Some(process) = &mut self.processes[host] else { return };
        let mut world = self.world.lock();
        let holds = world.checker.holder() == Some(process.run);
        // Watchers are polled much more often than holders are.
        let often = if holds { 1 } else { 10 };
        let (crash, stall, shutdown) =
            (world.scenario.rates.crash, world.scenario.rates.stall, world.scenario.rates.shutdown);
        let doomed = world.doomed.take_if(|doomed| *doomed == process.run).is_some();
        if doomed || world.strikes(crash / often) {
            drop(world);
            self.kill(host);
        } else if world.strikes(stall / often) {
            let lease = nanos(self.hosts[host].settings.lease);
            let long = world.random.below(lease * 3);
            world.count(Seen::Stall);
            if holds && long > lease {
                world.count(Seen::StallPastLease);
            }
            process.stalled = true;
            world.note(|world| format!("{} stands still", world.name(process.run)));
            let until = world.now + long;
            world.at(until, Event::GoOn(host));
        } else if world.strikes(shutdown) {
            let now = world.now;
            world.at(now, Event::Shutdown(host));
        }
    }

    fn kill(&mut self, host: usize) {
        let Some(process) = self.processes[host].take() else { return };
        let run = process.run;
        // Dropped without the lock: what the run leaves may look at the world.
        drop(process);
        let mut world = self.world.lock();
        world.count(Seen::Crash);
        if world.checker.holder() == Some(run) {
            world.count(Seen::CrashOfHolder);
            if world.database.pending.iter().any(|at| world.database.statements[*at].run == run) {
                world.count(Seen::CrashDuringStatement);
            }
        }
        world.runs[run].alive = false;
        world.note(|world| format!("{} is killed", world.name(run)));
        drop(world);
        self.restart(host);
    }

    fn restart(&mut self, host: usize) {
        if self.last_runs > 0 || self.hosts[host].restarts == 0 {
            return;
        }
        self.hosts[host].restarts -= 1;
        self.starts_ahead += 1;
        let mut world = self.world.lock();
        world.count(Seen::Restart);
        let after = world.random.below(15 * SECOND);
        let at = world.now + after;
        world.at(at, Event::Start(host));
    }

    fn ended(&mut self, host: usize, run: usize, ended: &End) {
        let mut world = self.world.lock();
        world.note(|world| match ended {
            Ok(Some(report)) => format!("{} ends: {report}", world.name(run)),
            Ok(None) => format!("{} has edited", world.name(run)),
            Err(error) => format!("{} ends: {error}", world.name(run)),
        });
        world.runs[run].alive = false;
        world.check_end(run, ended);
        let again = ended.is_err() || world.random.per_mille(300);
        let last = self.last_runs > 0;
        if last {
            self.done = stays(&world, ended);
            if !self.done && self.last_runs >= LAST_RUNS_MAX {
                let detail = format!("the last run ended with {ended:?}");
                world.violate("everything ends once the faults have ended", detail);
            }
        }
        drop(world);
        if again && !last {
            self.restart(host);
        }
    }

    /// Starts one more run, of a binary that has all versions, when everything else has ended.
    fn start_last(&mut self) {
        self.last_runs += 1;
        let mut world = self.world.lock();
        let newest = world.scenario.binaries.iter().map(Vec::len).max().unwrap_or_default();
        let full: Vec<_> = (0..world.scenario.binaries.len())
            .filter(|at| world.scenario.binaries[*at].len() == newest)
            .collect();
        let mut host = self.hosts[0].clone();
        host.name = format!("last-{}", self.last_runs);
        host.binary = *world.random.pick(&full);
        host.defers = false;
        host.settings.wait = Wait::UpTo(std::time::Duration::from_secs(400));
        self.deadline = world.now + LAST_RUN_WITHIN;
        drop(world);
        self.hosts[0] = host;
        self.processes[0] = Some(Process::start(&self.world, &self.hosts[0], None));
    }
}

/// Whether an end is one that more runs would not change.
fn stays(world: &World, ended: &End) -> bool {
    match ended {
        Ok(_) => true,
        Err(error) if error.code() == Code::Paused => true,
        Err(error) if error.is_mismatch() => world.scenario.edited || world.checker.has_edited(),
        Err(error) => {
            error.code() == Code::StepFailed
                && world.scenario.poison.is_some_and(|(_, poison)| poison == Poison::Refused)
        }
    }
}
