//! The table of what was measured.

use proc_macro2::TokenStream;

use crate::canon;
use crate::format::{Heuristics, Module};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The formatter leaves the tokens alone at both widths.
    Alike,
    /// The tokens differ, the checksum does not.
    Absorbed,
    /// The checksum differs.
    Changed,
}

impl Outcome {
    pub(crate) fn of(narrow: &Module, wide: &Module) -> Self {
        let [first, second] =
            [narrow, wide].map(|module| canon::checksum(TokenStream::new(), module.content.clone()));
        if first != second {
            Self::Changed
        } else if narrow.content.to_string() != wide.content.to_string() {
            Self::Absorbed
        } else {
            Self::Alike
        }
    }
}

/// What was measured of one crate.
pub(crate) struct Row {
    name: String,
    pub(crate) functions: usize,
    absorbed: usize,
    changed: usize,
}

impl Row {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), functions: 0, absorbed: 0, changed: 0 }
    }

    pub(crate) fn add(&mut self, outcome: Outcome) {
        self.functions += 1;
        match outcome {
            Outcome::Alike => {}
            Outcome::Absorbed => self.absorbed += 1,
            Outcome::Changed => self.changed += 1,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "there are thousands of functions, not 2^52")]
    fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.functions.max(1) as f64
    }

    pub(crate) fn changed_percent(&self) -> f64 {
        self.percent(self.changed)
    }
}

/// Prints a table, and returns its last line.
pub(crate) fn print(heuristics: Heuristics, rows: &[Row]) -> Row {
    let mut total = Row::new("all");
    for row in rows {
        total.functions += row.functions;
        total.absorbed += row.absorbed;
        total.changed += row.changed;
    }
    println!("rustfmt, width 80 and 100, use_small_heuristics = {heuristics:?}");
    println!("{:<16}{:>10}{:>16}{:>18}", "crate", "functions", "tokens differ", "checksum differs");
    for row in rows.iter().chain([&total]) {
        let differ = row.absorbed + row.changed;
        let (tokens, checksum) = (row.percent(differ), row.changed_percent());
        println!(
            "{:<16}{:>10}{differ:>8} {tokens:>5.1} %{:>10} {checksum:>5.2} %",
            row.name, row.functions, row.changed
        );
    }
    println!();
    total
}
