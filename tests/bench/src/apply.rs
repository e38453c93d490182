//! Fifty CREATE TABLE, against the bare driver.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kandra_migrate::{Registry, Runner};
use scylla::client::session::Session;

use crate::Error;
use crate::arguments::Arguments;
use crate::catalogue::{self, TABLES_MAX, create_table};
use crate::figure::Figure;
use crate::server::{Keyspace, Server};
use crate::spread::Spread;

const GOAL_DEFAULT: f64 = 1.10;
const GOAL_TUNED: f64 = 0.5;
const GOAL_ONE_VERSION: f64 = 0.25;
const ROUNDS: u16 = 7;
const TABLES_QUICK: usize = 10;

/// How the tables are created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By the driver with its defaults: it awaits agreement after each.
    Bare,
    /// A version each, through a session with the driver's defaults.
    Default,
    /// A version each, through a session that leaves agreement to its user.
    Tuned,
    /// All in one version, through such a session.
    OneVersion,
}

const WAYS: [Way; 4] = [Way::Bare, Way::Default, Way::Tuned, Way::OneVersion];

pub(crate) async fn measure(server: &Server, arguments: &Arguments) -> Result<Vec<Figure>, Error> {
    let tables = if arguments.quick { TABLES_QUICK } else { TABLES_MAX };
    let bench = Bench {
        session: server.session().await?,
        tuned: server.tuned_session().await?,
        versions: catalogue::versions(tables),
        one_version: catalogue::one_version(arguments.quick),
        tables,
    };
    let mut ratios: [Vec<f64>; WAYS.len()] = Default::default();
    for round in 0..arguments.repetitions(ROUNDS) {
        let mut seconds = [0.0; WAYS.len()];
        // Every other round backwards: a machine that gets slower favours neither.
        let mut order: Vec<_> = (0..WAYS.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for way in order {
            seconds[way] = bench.time(WAYS[way]).await?;
        }
        let [bare, default, tuned, one] = seconds;
        println!(
            "{tables} tables: bare {bare:.2} s, default {default:.2} s, tuned {tuned:.2} s, one version {one:.2} s"
        );
        for (ratios, seconds) in ratios.iter_mut().zip(seconds) {
            ratios.push(seconds / bare);
        }
    }
    let [_, default, tuned, one_version] = ratios.map(Spread::of);
    Ok(vec![
        Figure::ratio("apply50_default", default, GOAL_DEFAULT),
        Figure::ratio("apply50_tuned", tuned, GOAL_TUNED),
        Figure::ratio("one_version_50", one_version, GOAL_ONE_VERSION),
    ])
}

struct Bench {
    session: Arc<Session>,
    tuned: Arc<Session>,
    versions: Registry,
    one_version: Registry,
    tables: usize,
}

impl Bench {
    /// How long it takes in a fresh keyspace, in seconds.
    async fn time(&self, way: Way) -> Result<f64, Error> {
        let keyspace = Keyspace::create(&self.session, "bench_apply").await?;
        let start = Instant::now();
        match way {
            Way::Bare => self.bare(&keyspace.name).await?,
            Way::Default => run(&self.session, &self.versions, &keyspace.name).await?,
            Way::Tuned => run(&self.tuned, &self.versions, &keyspace.name).await?,
            Way::OneVersion => run(&self.tuned, &self.one_version, &keyspace.name).await?,
        }
        let took = start.elapsed();
        keyspace.drop().await?;
        Ok(took.as_secs_f64())
    }

    async fn bare(&self, keyspace: &str) -> Result<(), Error> {
        for n in 0..self.tables {
            self.session.query_unpaged(create_table(keyspace, n), ()).await?;
        }
        Ok(())
    }
}

/// With a runner's defaults, so with the ledger's table, but without the pauses that spread a fleet: by chance they take
/// from nothing to two seconds.
async fn run(session: &Arc<Session>, registry: &Registry, keyspace: &str) -> Result<(), Error> {
    let runner = Runner::new(session.clone(), registry).keyspace(keyspace).start_jitter(Duration::ZERO);
    let report = runner.run().await?;
    assert_eq!(report.applied.len(), registry.migrations()?.len(), "this run applies all");
    Ok(())
}
