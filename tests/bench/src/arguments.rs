//! The command line.

use clap::Parser;

/// What kandra-migrate costs, against the bare driver.
#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    /// Only these figures; without any, all.
    #[arg(value_name = "FIGURE", value_parser = FIGURES)]
    figures: Vec<String>,
    /// A smoke run: few repetitions of less work.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Repetitions of each measurement, in place of each one's own number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    repetitions: Option<u16>,
    /// What `cargo bench` adds.
    #[arg(long, hide = true)]
    bench: bool,
    /// For a process that this one starts: takes the lease of this keyspace and keeps it.
    #[arg(long, hide = true)]
    pub(crate) hold: Option<String>,
    /// The database of such a process.
    #[arg(long, hide = true)]
    pub(crate) hosts: Vec<String>,
}

const FIGURES: [&str; 8] = [
    "noop",
    "apply50_default",
    "apply50_tuned",
    "one_version_50",
    "fleet100",
    "takeover",
    "handover",
    "split_10mb",
];

/// Those that need a database.
pub(crate) const OF_SERVER: [&str; 7] =
    ["noop", "apply50_default", "apply50_tuned", "one_version_50", "fleet100", "takeover", "handover"];

impl Arguments {
    /// Whether one of these figures is asked for.
    pub(crate) fn wants(&self, figures: &[&str]) -> bool {
        self.figures.is_empty() || self.figures.iter().any(|figure| figures.contains(&figure.as_str()))
    }

    /// How often a measurement is repeated, where `full` is its own number.
    pub(crate) fn repetitions(&self, full: u16) -> u16 {
        self.repetitions.unwrap_or(if self.quick { 1 } else { full })
    }
}
