//! The figures, for people and for programs.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::Error;
use crate::spread::Spread;

/// One figure: the median of its repetitions, with the smallest and the largest.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    name: &'static str,
    #[serde(flatten)]
    median: Median,
    /// At most this.
    goal: f64,
    min: f64,
    max: f64,
    n: usize,
    /// What else was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Median {
    Ratio(f64),
    Seconds(f64),
}

impl Figure {
    /// How many times longer than what it is compared with.
    pub(crate) fn ratio(name: &'static str, spread: Spread, goal: f64) -> Self {
        Self::new(name, Median::Ratio(rounded(spread.median)), spread, goal)
    }

    pub(crate) fn seconds(name: &'static str, spread: Spread, goal: f64) -> Self {
        Self::new(name, Median::Seconds(rounded(spread.median)), spread, goal)
    }

    fn new(name: &'static str, median: Median, spread: Spread, goal: f64) -> Self {
        let Spread { min, max, n, .. } = spread;
        Self { name, median, goal, min: rounded(min), max: rounded(max), n, note: None }
    }

    pub(crate) fn with_note(self, note: String) -> Self {
        Self { note: Some(note), ..self }
    }

    fn line(&self) -> String {
        let (median, unit) = match self.median {
            Median::Ratio(ratio) => (ratio, "×"),
            Median::Seconds(seconds) => (seconds, "s"),
        };
        let verdict = if median <= self.goal { "met" } else { "MISSED" };
        let Self { name, goal, min, max, n, .. } = self;
        let note = self.note.as_deref().unwrap_or_default();
        format!(
            "{name:<18} {median:>8.2} {unit} {goal:>7.2} {verdict:<6} {min:>8.2} {max:>8.2} {n:>4}  {note}"
        )
    }
}

/// Thousandths: what is beyond them is noise.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// The figures as people read them.
pub(crate) fn table(figures: &[Figure]) -> String {
    let mut table = "figure               median      goal             min      max    n  note\n".to_owned();
    for figure in figures {
        writeln!(table, "{}", figure.line().trim_end()).expect("a string takes everything");
    }
    table
}

/// The figures as programs read them.
pub(crate) fn write(figures: &[Figure], file: &Path) -> Result<(), Error> {
    let named = |error: std::io::Error| format!("{}: {error}", file.display());
    fs::create_dir_all(file.parent().unwrap_or(Path::new("."))).map_err(named)?;
    fs::write(file, serde_json::to_string_pretty(figures)? + "\n").map_err(named)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_find_the_names_that_were_agreed() {
        let ratio = Figure::ratio("noop", Spread::of([1.0, 1.1, 1.2]), 1.2);
        let seconds = Figure::seconds("handover", Spread::of([0.5]), 2.0).with_note("a note".to_owned());
        let found = serde_json::to_value([ratio, seconds]).unwrap();
        let wanted = serde_json::json!([
            {"name": "noop", "ratio": 1.1, "goal": 1.2, "min": 1.0, "max": 1.2, "n": 3},
            {"name": "handover", "seconds": 0.5, "goal": 2.0, "min": 0.5, "max": 0.5, "n": 1, "note": "a note"},
        ]);
        assert_eq!(found, wanted);
    }

    #[test]
    fn people_see_what_was_missed() {
        let met = Figure::ratio("a", Spread::of([1.2]), 1.2);
        let missed = Figure::ratio("b", Spread::of([1.21]), 1.2);
        let table = table(&[met, missed]);
        let lines: Vec<_> = table.lines().collect();
        assert!(lines[1].contains(" met ") && lines[2].contains(" MISSED "), "{table}");
    }
}
