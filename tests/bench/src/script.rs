//! How fast a script is split: no database takes part.

use std::time::Instant;

use kandra_migrate::__internals::cql::split;

use crate::Error;
use crate::arguments::Arguments;
use crate::figure::Figure;
use crate::spread::Spread;

/// 10 MB.
const BYTES: usize = 10_000_000;
const GOAL_SECS: f64 = 1.0;
const REPETITIONS: u16 = 7;

/// What is hard to split, and what there is most of.
const PART: &str = "\
-- a comment; it's not a statement
CREATE TABLE IF NOT EXISTS shop.\"Order;\" (id uuid PRIMARY KEY, note text, /* ; ' */ at timestamp) WITH comment = 'it''s; --';
INSERT INTO shop.orders (id, note) VALUES (5b8e1b2a-0000-4000-8000-000000000000, $$a; 'b' -- c$$); // end; \"
BEGIN UNLOGGED BATCH UPDATE shop.orders SET note = 'x;' WHERE id = 1; DELETE FROM shop.orders WHERE id = 2; APPLY BATCH;
";

fn seconds(script: &str, statements: usize) -> Result<f64, Error> {
    let begun = Instant::now();
    let found = split(script)?.len();
    let seconds = begun.elapsed().as_secs_f64();
    if found == statements {
        Ok(seconds)
    } else {
        Err(format!("{found} statements, not {statements}").into())
    }
}

/// The time for 10 MB, and how it grows with four times as much.
pub(crate) fn measure(arguments: &Arguments) -> Result<Figure, Error> {
    let parts = BYTES / PART.len();
    let (script, long) = (PART.repeat(parts), PART.repeat(4 * parts));
    let (mut times, mut growths) = (Vec::new(), Vec::new());
    for _ in 0..arguments.repetitions(REPETITIONS) {
        let short = seconds(&script, 3 * parts)?;
        growths.push(seconds(&long, 12 * parts)? / short);
        times.push(short);
    }
    let growth = Spread::of(growths).median;
    let time = Spread::of(times);
    let note = format!("{:.0} MB/s; four times as much takes {growth:.1} times as long", 10.0 / time.median);
    Ok(Figure::seconds("split_10mb", time, GOAL_SECS).with_note(note))
}
