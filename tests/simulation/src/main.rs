//! Runs seeds and says what they have found.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use clap::Parser;
use simulation::{Coverage, Rule, Violation, simulate};

/// So many seeds must have seen every fault and every state at least once.
const SEEDS_FOR_COVERAGE: u64 = 10_000;
/// Lines of the schedule that are shown with a violation.
const LAST_LINES: usize = 40;
/// Violations after which no more seeds are run.
const VIOLATIONS_MAX: usize = 5;

/// Simulates the engine over a cluster, clock and network that fail.
#[derive(Debug, Parser)]
struct Options {
    /// How many seeds to run
    #[arg(long, default_value_t = 1000)]
    seeds: u64,
    /// The first of them
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Run just this one and print its schedule
    #[arg(long)]
    seed: Option<u64>,
    /// Break a rule of the protocol (M1 to M13): the simulation is expected to find it
    #[arg(long, value_parser = rule)]
    mutant: Option<Rule>,
}

fn rule(number: &str) -> Result<Rule, String> {
    Rule::find(number).ok_or_else(|| {
        let known: Vec<_> = Rule::ALL.iter().map(|(number, _)| *number).collect();
        format!("no such rule; known are {}", known.join(", "))
    })
}

fn main() -> ExitCode {
    let options = Options::parse();
    // A panic of the engine is reported as a broken promise, with its seed.
    std::panic::set_hook(Box::new(|_| {}));
    match options.seed {
        Some(seed) => replay(seed, options.mutant),
        None => run(&options),
    }
}

fn replay(seed: u64, mutant: Option<Rule>) -> ExitCode {
    let ended = simulate(seed, mutant, true);
    ended.trace.iter().for_each(|line| println!("{line}"));
    if let Some(violation) = ended.violation {
        println!("seed {seed}: {}: {}", violation.invariant, violation.detail);
        return ExitCode::FAILURE;
    }
    println!("seed {seed}: every promise was kept, in {} polls", ended.polls);
    ExitCode::SUCCESS
}

fn run(options: &Options) -> ExitCode {
    let begun = Instant::now();
    let found = run_all(options);
    let broken: Vec<_> = found.violations.iter().collect();
    if let Some((seed, _)) = broken.first() {
        show(**seed, options.mutant);
    }
    for (seed, violation) in broken.iter().take(VIOLATIONS_MAX) {
        println!("seed {seed}: {}: {}", violation.invariant, violation.detail);
    }
    print!("{}", found.seen);
    let seconds = begun.elapsed().as_secs_f64();
    let Found { seeds, polls, .. } = found;
    let rate = u32::try_from(seeds).map_or(f64::NAN, f64::from) / seconds;
    println!("{seeds} seeds, {polls} polls, {seconds:.1} s, {rate:.0} seeds a second");
    if !broken.is_empty() {
        println!("{} seeds broke a promise", broken.len());
        return ExitCode::FAILURE;
    }
    let missing = found.seen.missing();
    if seeds >= SEEDS_FOR_COVERAGE && !missing.is_empty() {
        println!("never seen: {}", missing.join("; "));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// What the seeds have shown.
#[derive(Debug, Default)]
struct Found {
    seen: Coverage,
    violations: BTreeMap<u64, Violation>,
    seeds: u64,
    polls: u64,
}

/// Runs the seeds, on all processors; each seed is one thread's.
fn run_all(options: &Options) -> Found {
    let next = AtomicU64::new(options.first);
    let found = Mutex::new(Found::default());
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Relaxed);
                    if seed >= options.first + options.seeds {
                        break;
                    }
                    let ended = simulate(seed, options.mutant, false);
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.seen.add(&ended.seen);
                    found.polls += ended.polls;
                    found.seeds += 1;
                    found.violations.extend(ended.violation.map(|violation| (seed, violation)));
                    if found.violations.len() >= VIOLATIONS_MAX {
                        break;
                    }
                }
            });
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The end of a seed's schedule.
fn show(seed: u64, mutant: Option<Rule>) {
    let trace = simulate(seed, mutant, true).trace;
    let lines = trace.len().saturating_sub(LAST_LINES);
    trace[lines..].iter().for_each(|line| println!("{line}"));
    println!("The whole schedule: cargo run --release -p simulation -- --seed {seed}");
}
