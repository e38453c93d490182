//! Runs seeds and says what they have found.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use simulation::{Coverage, Rule, simulate};

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
    /// Break a rule of the protocol (M1 to M12): the simulation is expected to find it
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
    match options.seed {
        Some(seed) => replay(seed, options.mutant),
        None => run(&options),
    }
}

fn replay(seed: u64, mutant: Option<Rule>) -> ExitCode {
    let ended = simulate(seed, mutant, true);
    ended.trace.iter().for_each(|line| println!("{line}"));
    match ended.violation {
        Some(violation) => {
            println!("seed {seed}: {}: {}", violation.invariant, violation.detail);
            ExitCode::FAILURE
        }
        None => {
            println!("seed {seed}: every promise was kept, in {} polls", ended.polls);
            ExitCode::SUCCESS
        }
    }
}

fn run(options: &Options) -> ExitCode {
    let begun = Instant::now();
    let mut seen = Coverage::default();
    let mut violations: BTreeMap<&'static str, Vec<u64>> = BTreeMap::new();
    let (mut polls, mut seeds) = (0, 0);
    for seed in options.first..options.first + options.seeds {
        let ended = simulate(seed, options.mutant, false);
        seen.add(&ended.seen);
        polls += ended.polls;
        seeds += 1;
        if let Some(violation) = ended.violation {
            if violations.is_empty() {
                show(seed, options.mutant);
            }
            println!("seed {seed}: {}: {}", violation.invariant, violation.detail);
            violations.entry(violation.invariant).or_default().push(seed);
            if violations.values().map(Vec::len).sum::<usize>() >= VIOLATIONS_MAX {
                break;
            }
        }
    }
    print!("{seen}");
    let seconds = begun.elapsed().as_secs_f64();
    println!("{seeds} seeds, {polls} polls, {seconds:.1} s, {:.0} seeds a second", seeds as f64 / seconds);
    if !violations.is_empty() {
        println!("broken promises, with their seeds: {violations:?}");
        return ExitCode::FAILURE;
    }
    let missing = seen.missing();
    if seeds >= SEEDS_FOR_COVERAGE && !missing.is_empty() {
        println!("never seen: {}", missing.join("; "));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The end of a seed's schedule.
fn show(seed: u64, mutant: Option<Rule>) {
    let trace = simulate(seed, mutant, true).trace;
    let lines = trace.len().saturating_sub(LAST_LINES);
    trace[lines..].iter().for_each(|line| println!("{line}"));
    println!("The whole schedule: cargo run --release -p simulation -- --seed {seed}");
}
