//! A start that has nothing to do, against a bare read of one row.

use std::time::{Duration, Instant};

use kandra_migrate::{Outcome, Runner};
use scylla::client::session::Session;

use crate::Error;
use crate::arguments::Arguments;
use crate::catalogue;
use crate::figure::Figure;
use crate::server::{Keyspace, Server};
use crate::spread::Spread;

const GOAL: f64 = 1.2;
const REPETITIONS: u16 = 40;
/// A single read takes milliseconds and is at the mercy of the scheduler.
const PAIRS_A_REPETITION: usize = 25;
const PAIRS_FIRST: usize = 50;
const VERSIONS: usize = catalogue::TABLES_MAX;
const VERSIONS_QUICK: usize = 5;

pub(crate) async fn measure(server: &Server, arguments: &Arguments) -> Result<Figure, Error> {
    let session = server.session().await?;
    let keyspace = Keyspace::create(&session, "bench_noop").await?;
    let registry = catalogue::versions(if arguments.quick { VERSIONS_QUICK } else { VERSIONS });
    let runner = || Runner::new(session.clone(), &registry).keyspace(&keyspace.name);
    println!("noop: prepares {} versions", registry.migrations()?.len());
    runner().run().await?;
    let text = bare_row(&session, &keyspace.name).await?;

    let mut ratios = Vec::new();
    // Caches and the server's compiler settle.
    pairs(&session, &text, runner, PAIRS_FIRST).await?;
    for _ in 0..arguments.repetitions(REPETITIONS) {
        let (bare, ours) = pairs(&session, &text, runner, PAIRS_A_REPETITION).await?;
        println!("noop: bare read {:.2} ms, run {:.2} ms", bare * 1000.0, ours * 1000.0);
        ratios.push(ours / bare);
    }
    keyspace.drop().await?;
    Ok(Figure::ratio("noop", Spread::of(ratios), GOAL))
}

/// Makes a row and returns the read of it. Its key is that of the ledger's partition, so that both are at the same
/// nodes: which nodes a key is at makes a read up to half as long again.
async fn bare_row(session: &Session, keyspace: &str) -> Result<String, Error> {
    let create = format!("CREATE TABLE {keyspace}.bare (id text PRIMARY KEY, name text, at timestamp)");
    session.query_unpaged(create, ()).await?;
    let insert = format!("INSERT INTO {keyspace}.bare (id, name, at) VALUES ('{keyspace}', 'a', 0)");
    session.query_unpaged(insert, ()).await?;
    Ok(format!("SELECT id, name, at FROM {keyspace}.bare WHERE id = '{keyspace}'"))
}

/// The medians of so many reads and as many runs, in seconds.
async fn pairs<'r>(
    session: &Session,
    text: &str,
    runner: impl Fn() -> Runner<'r>,
    count: usize,
) -> Result<(f64, f64), Error> {
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let start = Instant::now();
        let rows = session.query_unpaged(text, ()).await?.into_rows_result()?;
        bare.push(start.elapsed());
        assert_eq!(rows.rows_num(), 1, "the row that was inserted");

        let start = Instant::now();
        let report = runner().run().await?;
        ours.push(start.elapsed());
        assert_eq!(report.outcome, Outcome::AlreadyCurrent, "nothing is left to be done");
    }
    let median = |times: Vec<Duration>| Spread::of(times.iter().map(Duration::as_secs_f64)).median;
    Ok((median(bare), median(ours)))
}
