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
    /// Rows of the tables of backfills, and so many tenants, in place of each one's own number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(10..=100_000_000))]
    rows: Option<u64>,
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

const FIGURES: [&str; 11] = [
    "noop",
    "apply50_default",
    "apply50_tuned",
    "one_version_50",
    "fleet100",
    "takeover",
    "handover",
    "split_10mb",
    "backfill_1m_one",
    "backfill_1m_three",
    "tenants500",
];

/// Those that need three nodes.
pub(crate) const OF_THREE_NODES: [&str; 8] = [
    "noop",
    "apply50_default",
    "apply50_tuned",
    "one_version_50",
    "fleet100",
    "takeover",
    "handover",
    "backfill_1m_three",
];

/// Those that need one.
pub(crate) const OF_ONE_NODE: [&str; 2] = ["backfill_1m_one", "tenants500"];

impl Arguments {
    /// Whether one of these figures is asked for.
    pub(crate) fn wants(&self, figures: &[&str]) -> bool {
        self.figures.is_empty() || self.figures.iter().any(|figure| figures.contains(&figure.as_str()))
    }

    /// How much there is of what is measured, where `full` is its own number.
    pub(crate) fn rows(&self, full: u64) -> u64 {
        self.rows.unwrap_or(full)
    }

    /// How often a measurement is repeated, where `full` is its own number.
    pub(crate) fn repetitions(&self, full: u16) -> u16 {
        self.repetitions.unwrap_or(if self.quick { 1 } else { full })
    }
}
