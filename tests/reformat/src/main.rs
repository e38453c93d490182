//! How often does rustfmt change a migration's checksum?
//!
//! `cargo run --release -p reformat` fetches published crates, takes each of their functions, formats it in a
//! module of its own at two widths, and compares the checksums. `--changed DIR` writes the two forms of each
//! function that changed to a folder.

#[path = "../../../kandra-migrate-macros/src/canon/mod.rs"]
mod canon;
mod corpus;
mod format;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::format::{Heuristics, format};
use crate::report::{Outcome, Row};

/// The most functions, in percent, whose checksum the formatter may change.
const CHANGED_PERCENT_MAX: f64 = 2.0;
/// Fewer would make the figure worth little.
const FUNCTIONS_MIN: usize = 3_000;
const WIDTHS: [u32; 2] = [80, 100];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the figures, and says whether they meet the bar.
fn run() -> Result<bool> {
    let changed_dir = changed_dir()?;
    let crates = corpus::fetch()?;
    let mut holds = true;
    for heuristics in [Heuristics::Default, Heuristics::Max] {
        let rows = crates.iter().map(|source| measure(source, heuristics, changed_dir.as_ref()));
        let rows = rows.collect::<Result<Vec<Row>>>()?;
        let total = report::print(heuristics, &rows);
        holds &= total.functions >= FUNCTIONS_MIN && total.changed_percent() <= CHANGED_PERCENT_MAX;
    }
    println!("bar: at least {FUNCTIONS_MIN} functions, at most {CHANGED_PERCENT_MAX} % changed");
    Ok(holds)
}

fn changed_dir() -> Result<Option<PathBuf>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => Ok(None),
        (Some("--changed"), Some(dir)) => {
            std::fs::create_dir_all(&dir)?;
            Ok(Some(dir.into()))
        }
        _ => Err("usage: reformat [--changed DIR]".into()),
    }
}

fn measure(source: &corpus::Source, heuristics: Heuristics, changed_dir: Option<&PathBuf>) -> Result<Row> {
    let [narrow, wide] = WIDTHS.map(|width| format(source, width, heuristics));
    let (narrow, wide) = (narrow?, wide?);
    if narrow.len() != source.functions.len() || wide.len() != source.functions.len() {
        return Err(format!("{}: rustfmt returned another number of modules", source.name).into());
    }
    let mut row = Row::new(&source.name);
    for (at, (narrow, wide)) in narrow.iter().zip(&wide).enumerate() {
        let outcome = Outcome::of(narrow, wide);
        row.add(outcome);
        if outcome == Outcome::Changed
            && let Some(dir) = changed_dir
        {
            let stem = format!("{}-{at}", source.name);
            std::fs::write(dir.join(format!("{stem}.80.rs")), &narrow.text)?;
            std::fs::write(dir.join(format!("{stem}.100.rs")), &wide.text)?;
        }
    }
    Ok(row)
}
