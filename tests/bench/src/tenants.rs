//! Many keyspaces with nothing to do, against as many bare reads at the same concurrency.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use kandra_migrate::{Outcome, Plan, RunEach, Runner, code};
use scylla::client::session::Session;

use crate::Error;
use crate::arguments::Arguments;
use crate::catalogue;
use crate::figure::Figure;
use crate::server::{Keyspace, Server};
use crate::spread::Spread;

const GOAL: f64 = 2.0;
const REPETITIONS: u16 = 20;
const TENANTS: u64 = 500;
const TENANTS_QUICK: u64 = 20;
/// Repetitions that are not counted: caches and the server's compiler settle.
const REPETITIONS_FIRST: usize = 5;

/// The tenants' versions change nothing: what is measured is a start that has nothing to do.
pub(crate) const PLANS: &[fn() -> Plan] = &[plan, plan, plan];

fn plan() -> Plan {
    Plan::new([code("nothing", |_| async { Ok(()) }).idempotent()])
}

pub(crate) async fn measure(server: &Server, arguments: &Arguments) -> Result<Figure, Error> {
    let session = server.tuned_session().await?;
    let count = arguments.rows(if arguments.quick { TENANTS_QUICK } else { TENANTS });
    let each = RunEach::default();
    let tenants = Tenants::create(&session, count).await?;
    let mut ratios = Vec::new();
    for n in 0..REPETITIONS_FIRST + usize::from(arguments.repetitions(REPETITIONS)) {
        let bare = tenants.read(each.concurrency).await?;
        let ours = tenants.run(each).await?;
        if n >= REPETITIONS_FIRST {
            println!("tenants500: {count} bare reads {bare:.3} s, {count} runs {ours:.3} s");
            ratios.push(ours / bare);
        }
    }
    let note = format!("{count} keyspaces, {} at once, on one node", each.concurrency);
    Ok(Figure::ratio("tenants500", Spread::of(ratios), GOAL).with_note(note))
}

struct Tenants<'a> {
    session: &'a Arc<Session>,
    names: Vec<String>,
    /// The keyspace of a table with a row for each.
    bare: String,
}

impl<'a> Tenants<'a> {
    /// They go with the server.
    async fn create(session: &'a Arc<Session>, count: u64) -> Result<Self, Error> {
        let start = Instant::now();
        let replication = "{'class': 'NetworkTopologyStrategy', 'replication_factor': 1}";
        let names: Vec<_> = (0..count).map(|_| cassandra::fresh_keyspace_name("bench_tenant")).collect();
        for name in &names {
            let create = format!("CREATE KEYSPACE {name} WITH replication = {replication}");
            session.query_unpaged(create, ()).await?;
        }
        let bare = Keyspace::create(session, "bench_tenants").await?.name;
        let create = format!("CREATE TABLE {bare}.bare (id text PRIMARY KEY, name text, at timestamp)");
        session.query_unpaged(create, ()).await?;
        for name in &names {
            let insert = format!("INSERT INTO {bare}.bare (id, name, at) VALUES ('{name}', 'a', 0)");
            session.query_unpaged(insert, ()).await?;
        }
        let created = start.elapsed().as_secs_f64();
        let tenants = Self { session, names, bare };
        tenants.migrate(RunEach::default(), Outcome::Migrated).await?;
        let took = start.elapsed().as_secs_f64();
        println!("tenants500: {count} keyspaces made in {created:.1} s, migrated in {:.1} s", took - created);
        Ok(tenants)
    }

    async fn migrate(&self, each: RunEach, outcome: Outcome) -> Result<(), Error> {
        let registry = catalogue::of_tenants();
        // The pause that spreads a fleet would be most of the time in which the tenants are made.
        let runner = Runner::new(Arc::clone(self.session), &registry).start_jitter(Duration::ZERO);
        for (keyspace, report) in runner.run_each(self.names.iter().cloned(), each).await {
            assert_eq!(report?.outcome, outcome, "{keyspace}");
        }
        Ok(())
    }

    /// How long their runs take, in seconds.
    async fn run(&self, each: RunEach) -> Result<f64, Error> {
        let start = Instant::now();
        self.migrate(each, Outcome::AlreadyCurrent).await?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// How long a bare read of one row of each takes.
    async fn read(&self, concurrency: usize) -> Result<f64, Error> {
        let start = Instant::now();
        let reads = self.names.iter().map(|name| async move {
            let text = format!("SELECT id, name, at FROM {}.bare WHERE id = '{name}'", self.bare);
            let rows = self.session.query_unpaged(text, ()).await?.into_rows_result()?;
            assert_eq!(rows.rows_num(), 1, "the row that was inserted");
            Ok::<_, Error>(())
        });
        stream::iter(reads).buffer_unordered(concurrency).try_collect::<()>().await?;
        Ok(start.elapsed().as_secs_f64())
    }
}
