//! Filling a column of a large table, against the fastest loop that we know to write with the bare driver.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use futures::TryStreamExt as _;
use kandra_migrate::{Plan, Runner, TaskContext, TaskResult, code};
use scylla::client::session::Session;
use scylla::statement::Consistency;
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::unprepared::Statement;
use tokio::task::JoinSet;

use crate::Error;
use crate::arguments::Arguments;
use crate::catalogue;
use crate::checkpoints;
use crate::figure::Figure;
use crate::memory;
use crate::server::{Keyspace, Server};
use crate::spread::Spread;

/// At least 0.9 of the bare loop's rows a second, so at most so many times its time.
const GOAL: f64 = 1.0 / 0.9;
const REPETITIONS: u16 = 3;
const ROWS: u64 = 1_000_000;
const ROWS_QUICK: u64 = 20_000;
/// Statements under way while the table is filled before any measurement.
const WRITERS: u64 = 256;
/// What a backfill has by default.
const WORKERS_A_NODE: usize = 8;
/// Of the bare loop: so many that no worker goes on alone for long, so few that most have several pages.
const RANGES_A_WORKER: u64 = 32;

/// Each pass has a column of its own: one over cells that are there already would not be like the first.
macro_rules! columns {
    ($($n:literal)*) => {
        const OURS: &[&str] = &[$(concat!("ours_", $n)),*];
        const BARE: &[&str] = &[$(concat!("bare_", $n)),*];
        const UPDATES: &[&str] = &[$(concat!("UPDATE ${keyspace}.people SET ours_", $n, " = ? WHERE id = ?")),*];
        /// A version for each pass.
        pub(crate) const PLANS: &[fn() -> Plan] = &[$(plan::<$n>),*];
    };
}

columns!(0 1 2 3 4 5 6 7 8 9);

fn plan<const N: usize>() -> Plan {
    Plan::new([code("fill", fill::<N>).idempotent()])
}

async fn fill<const N: usize>(cx: TaskContext) -> TaskResult {
    cx.backfill("people")
        .for_each_row("id, name", async |cx, (id, name): (i64, String)| {
            cx.execute(UPDATES[N], (first_name(&name), id)).await?;
            PROGRESS.note_row();
            Ok(())
        })
        .await
}

fn name(id: i64) -> String {
    format!("First{id} Last{id}")
}

fn first_name(name: &str) -> Option<&str> {
    name.split(' ').next()
}

/// Of the pass that is under way.
static PROGRESS: Progress =
    Progress { rows: AtomicU64::new(0), tenth: AtomicU64::new(0), kib: AtomicU64::new(0) };

struct Progress {
    rows: AtomicU64,
    /// At how many rows a tenth is done.
    tenth: AtomicU64,
    /// The memory that this process had then.
    kib: AtomicU64,
}

impl Progress {
    fn begin(&self, rows: u64) {
        self.tenth.store(rows / 10, SeqCst);
        self.rows.store(0, SeqCst);
    }

    fn note_row(&self) {
        if self.rows.fetch_add(1, SeqCst) + 1 == self.tenth.load(SeqCst) {
            self.kib.store(memory::resident_kib(), SeqCst);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Bare,
    Ours,
}

/// Of one cluster: one node, or three.
pub(crate) async fn measure(
    server: &Server,
    arguments: &Arguments,
    name: &'static str,
) -> Result<Figure, Error> {
    let session = server.session().await?;
    let keyspace = Keyspace::create(&session, "bench_backfill").await?;
    let rows = arguments.rows(if arguments.quick { ROWS_QUICK } else { ROWS });
    let bench =
        Bench { session: Arc::clone(&session), keyspace: &keyspace.name, rows, nodes: server.nodes().into() };
    bench.prepare(name).await?;
    let pairs = usize::from(arguments.repetitions(REPETITIONS)).min(PLANS.len());
    let (mut ratios, mut shares) = (Vec::new(), Vec::new());
    let mut notes = String::new();
    for pair in 0..pairs {
        let mut seconds = [0.0; 2];
        // Every other time backwards: the second pass of a pair finds more in the table than the first.
        let ways = if pair % 2 == 0 { [Way::Bare, Way::Ours] } else { [Way::Ours, Way::Bare] };
        for way in ways {
            seconds[way as usize] = bench.time(way, pair).await?;
        }
        let [bare, ours] = seconds;
        let checkpoints = checkpoints::last();
        let share = checkpoints.share(ours, bench.workers());
        let (tenth, end) = (PROGRESS.kib.load(SeqCst) / 1024, memory::resident_kib() / 1024);
        println!(
            "{name}: {rows} rows, {} workers: bare {bare:.2} s, ours {ours:.2} s ({:.0} rows/s); {checkpoints}, \
             {share:.2} % of the time; resident {tenth} MiB at 10 %, {end} MiB at 100 %",
            bench.workers(),
            per_second(rows, ours),
        );
        notes = format!("resident {tenth} MiB at 10 %, {end} MiB at 100 %");
        ratios.push(ours / bare);
        shares.push(share);
    }
    keyspace.drop().await?;
    let ratios = Spread::of(ratios);
    let note = format!(
        "{:.2} × the bare loop's rows a second; checkpoints take {:.2} % (goal 2); {notes}",
        1.0 / ratios.median,
        Spread::of(shares).median
    );
    Ok(Figure::ratio(name, ratios, GOAL).with_note(note))
}

fn per_second(rows: u64, seconds: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let rows = rows as f64;
    rows / seconds
}

struct Bench<'a> {
    session: Arc<Session>,
    keyspace: &'a str,
    rows: u64,
    nodes: usize,
}

impl Bench<'_> {
    fn workers(&self) -> usize {
        self.nodes * WORKERS_A_NODE
    }

    /// Makes the table and its rows.
    async fn prepare(&self, name: &str) -> Result<(), Error> {
        let columns: Vec<_> = OURS.iter().chain(BARE).map(|column| format!("{column} text")).collect();
        let columns = columns.join(", ");
        let create =
            format!("CREATE TABLE {}.people (id bigint PRIMARY KEY, name text, {columns})", self.keyspace);
        self.session.query_unpaged(create, ()).await?;
        let start = Instant::now();
        let insert = format!("INSERT INTO {}.people (id, name) VALUES (?, ?)", self.keyspace);
        let insert = Arc::new(self.session.prepare(insert).await?);
        let next = Arc::new(AtomicU64::new(0));
        let mut writers = JoinSet::new();
        for _ in 0..WRITERS {
            let (session, insert, next) = (Arc::clone(&self.session), Arc::clone(&insert), Arc::clone(&next));
            let rows = self.rows;
            writers.spawn(async move {
                loop {
                    let id = next.fetch_add(1, SeqCst);
                    if id >= rows {
                        return Ok::<_, Error>(());
                    }
                    let id = id.cast_signed();
                    session.execute_unpaged(&insert, (id, self::name(id))).await?;
                }
            });
        }
        joined(writers).await?;
        println!("{name}: {} rows inserted in {:.1} s", self.rows, start.elapsed().as_secs_f64());
        Ok(())
    }

    /// How long one pass takes, in seconds.
    async fn time(&self, way: Way, pass: usize) -> Result<f64, Error> {
        PROGRESS.begin(self.rows);
        let start = Instant::now();
        match way {
            Way::Bare => self.bare(BARE[pass]).await?,
            Way::Ours => self.ours(pass).await?,
        }
        let took = start.elapsed().as_secs_f64();
        assert_eq!(PROGRESS.rows.load(SeqCst), self.rows, "each row once");
        self.check(if way == Way::Bare { BARE[pass] } else { OURS[pass] }).await?;
        Ok(took)
    }

    /// A whole run.
    async fn ours(&self, pass: usize) -> Result<(), Error> {
        let registry = catalogue::backfills();
        let runner = Runner::new(Arc::clone(&self.session), &registry).keyspace(self.keyspace);
        let version = i64::try_from(pass)? + 1;
        let report = runner.start_jitter(Duration::ZERO).run_to(version).await?;
        assert_eq!(report.applied.len(), 1, "a version for each pass");
        Ok(())
    }

    async fn bare(&self, column: &str) -> Result<(), Error> {
        let table = format!("{}.people", self.keyspace);
        let (select, update) = tokio::try_join!(
            self.at_quorum(format!("SELECT id, name FROM {table} WHERE token(id) > ? AND token(id) <= ?")),
            self.at_quorum(format!("UPDATE {table} SET {column} = ? WHERE id = ?"))
        )?;
        let ranges = Arc::new(Ranges::new(RANGES_A_WORKER * self.workers() as u64));
        let mut workers = JoinSet::new();
        for _ in 0..self.workers() {
            let (session, ranges) = (Arc::clone(&self.session), Arc::clone(&ranges));
            let (select, update) = (select.clone(), update.clone());
            workers.spawn(async move {
                while let Some(range) = ranges.next() {
                    let pages = session.execute_iter(select.clone(), range).await?;
                    let mut rows = pages.rows_stream::<(i64, String)>()?;
                    while let Some((id, name)) = rows.try_next().await? {
                        session.execute_unpaged(&update, (first_name(&name), id)).await?;
                        PROGRESS.note_row();
                    }
                }
                Ok::<_, Error>(())
            });
        }
        joined(workers).await
    }

    /// As the runner has it by default.
    async fn at_quorum(&self, text: String) -> Result<PreparedStatement, Error> {
        let mut statement = Statement::new(text);
        statement.set_consistency(Consistency::Quorum);
        Ok(self.session.prepare(statement).await?)
    }

    /// Whether each row has its value.
    async fn check(&self, column: &str) -> Result<(), Error> {
        let text = format!("SELECT name, {column} FROM {}.people", self.keyspace);
        let mut rows = self.session.query_iter(text, ()).await?.rows_stream::<(String, Option<String>)>()?;
        let mut right = 0;
        while let Some((name, first)) = rows.try_next().await? {
            right += u64::from(first_name(&name) == first.as_deref());
        }
        assert_eq!(right, self.rows, "each row has its value");
        Ok(())
    }
}

async fn joined(mut tasks: JoinSet<Result<(), Error>>) -> Result<(), Error> {
    while let Some(task) = tasks.join_next().await {
        task??;
    }
    Ok(())
}

/// The whole ring in equal parts.
struct Ranges {
    count: u64,
    next: AtomicU64,
}

impl Ranges {
    fn new(count: u64) -> Self {
        Self { count, next: AtomicU64::new(0) }
    }

    fn next(&self) -> Option<(i64, i64)> {
        let n = self.next.fetch_add(1, SeqCst);
        let width = u64::MAX / self.count;
        let bound = |n: u64| i64::MIN.saturating_add_unsigned(width.saturating_mul(n));
        (n < self.count).then(|| (bound(n), if n + 1 == self.count { i64::MAX } else { bound(n + 1) }))
    }
}
