//! A database in memory for the engine: a ledger whose answers can be lost, and statements that can be too.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use crate::clock::{Clock, Dice};
use crate::engine::{
    Catalog, CodeRun, Env, Executor, Expected, Identity, Operator, Run, Send, Settings, Shutdown, Verb,
};
use crate::error::Error;
use crate::ledger::{Ledger, SchemaRecord, Transaction};
use crate::migration::{Migration, Source};
use crate::plan::{Destination, Plan};
use crate::port::{Agreed, BuildState, Cause, Coordinator, Drained, NoAgreement, SendError, StoreError};
use crate::report::Report;
use crate::schema::{Effect, SchemaChange};
use crate::store::{Answer, CreateError, LedgerTable, MemoryStore, ReadLevel, Rows, Slice, Store};
use crate::task::{Far, TaskError, TaskResult};

/// Tokio's clock, which tests pause.
#[derive(Debug)]
pub(super) struct PausedClock(Instant);

impl Clock for PausedClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn wall_ms(&self) -> i64 {
        1_700_000_000_000 + i64::try_from(self.0.elapsed().as_millis()).unwrap()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// What becomes of a conditional write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Answered,
    /// It applies, and the answer does not arrive.
    AppliedAndLost,
    /// It never arrives.
    Dropped,
}

/// What becomes of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Landing {
    Lands,
    /// It has its effect, and the answer does not arrive.
    LandsAndLost,
    /// It has none, and no answer arrives.
    Vanishes,
    /// The server says no.
    Refused,
    /// No answer, ever.
    Hangs,
}

/// The database: one ledger, and the effects of statements by their text.
#[derive(Debug, Default)]
pub(super) struct World {
    born: Option<Instant>,
    pub(super) store: MemoryStore,
    pub(super) writes: AtomicUsize,
    pub(super) reads: AtomicUsize,
    pub(super) drains: AtomicUsize,
    fates: Mutex<VecDeque<Fate>>,
    landings: Mutex<BTreeMap<String, VecDeque<Landing>>>,
    sent: Mutex<Vec<String>>,
    effects: Mutex<BTreeSet<String>>,
    /// How often a build is looked at until it is done; above [`STALLED`], it does not come further.
    pub(super) looks_until_built: Mutex<u32>,
    /// Objects that are there in another shape.
    pub(super) other_shapes: Mutex<BTreeSet<String>>,
    skew_ms: AtomicI64,
    lost: Mutex<Vec<String>>,
}

/// Looks at a build that gives no sign of progress.
pub(super) const STALLED: u32 = 1_000_000;

impl World {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { born: Some(Instant::now()), ..Self::default() })
    }

    /// The fates of the next conditional writes; all later ones are answered.
    pub(super) fn fates(&self, fates: impl IntoIterator<Item = Fate>) {
        self.fates.lock().unwrap().extend(fates);
    }

    /// What becomes of the statement whose text contains `part`, at its next sendings; later ones land.
    pub(super) fn landings(&self, part: &str, landings: impl IntoIterator<Item = Landing>) {
        self.landings.lock().unwrap().entry(part.to_owned()).or_default().extend(landings);
    }

    /// The coordinator of these objects' statements dies before it has told the others of them.
    pub(super) fn loses(&self, objects: &[&str]) {
        self.lost.lock().unwrap().extend(objects.iter().map(|object| (*object).to_owned()));
    }

    /// Reads are answered by servers whose clocks are so far ahead of those that write.
    pub(super) fn skew(&self, ahead: Duration) {
        self.skew_ms.store(i64::try_from(ahead.as_millis()).unwrap(), SeqCst);
    }

    /// The names of the objects of all statements that were sent, in order.
    pub(super) fn sent(&self) -> Vec<String> {
        self.sent.lock().unwrap().clone()
    }

    pub(super) fn ledger(&self) -> Ledger {
        Ledger::from_rows(self.store.rows()).expect("the ledger is readable")
    }

    /// The server's clock goes with the paused one.
    fn tick(&self) {
        let elapsed = self.born.map_or(Duration::ZERO, |born| born.elapsed());
        self.store.set_server_ms(1_700_000_000_000 + i64::try_from(elapsed.as_millis()).unwrap());
    }

    fn landing(&self, text: &str) -> Landing {
        let mut landings = self.landings.lock().unwrap();
        let planned = landings.iter_mut().find(|(part, _)| text.contains(part.as_str()));
        planned.and_then(|(_, queue)| queue.pop_front()).unwrap_or(Landing::Lands)
    }

    fn land(&self, text: &str) {
        self.effects.lock().unwrap().insert(object(text));
    }
}

/// The last word of a statement names what it makes, in these tests.
fn object(text: &str) -> String {
    text.split_whitespace().nth(2).unwrap_or_default().to_owned()
}

fn cause(text: &str) -> Cause {
    Arc::from(Box::<dyn std::error::Error + std::marker::Send + Sync>::from(text))
}

impl Store for Arc<World> {
    async fn read(&self, slice: Slice, _level: ReadLevel) -> Result<Rows, StoreError> {
        self.reads.fetch_add(1, SeqCst);
        tokio::time::sleep(Duration::from_millis(1)).await;
        self.tick();
        let mut rows = self.store.read_now(slice);
        rows.server_ms = rows.server_ms.map(|now| now + self.skew_ms.load(SeqCst));
        Ok(rows)
    }

    async fn apply(&self, transaction: &Transaction) -> Result<Answer, StoreError> {
        self.writes.fetch_add(1, SeqCst);
        tokio::time::sleep(Duration::from_millis(2)).await;
        self.tick();
        let fate = self.fates.lock().unwrap().pop_front().unwrap_or(Fate::Answered);
        match fate {
            Fate::Answered => Ok(self.store.apply_now(transaction)),
            Fate::AppliedAndLost => {
                self.store.apply_now(transaction);
                Err(StoreError::Unknown(cause("the answer was lost")))
            }
            Fate::Dropped => Err(StoreError::Unknown(cause("the request was lost"))),
        }
    }

    async fn inspect(&self) -> Result<LedgerTable, StoreError> {
        Ok(LedgerTable::Ready)
    }

    async fn create(&self, _timeout: Duration) -> Result<(), CreateError> {
        Ok(())
    }

    async fn create_keyspace(&self, _replication: &str, _timeout: Duration) -> Result<(), CreateError> {
        Ok(())
    }
}

impl Executor for Arc<World> {
    fn coordinator(&self) -> Option<Coordinator> {
        Some(Coordinator("node-1 127.0.0.1:9042".to_owned()))
    }

    async fn send(&self, statement: Send<'_>) -> Result<(), SendError> {
        self.sent.lock().unwrap().push(object(statement.text));
        tokio::time::sleep(Duration::from_millis(5)).await;
        match self.landing(statement.text) {
            Landing::Lands => {
                self.land(statement.text);
                Ok(())
            }
            Landing::LandsAndLost => {
                self.land(statement.text);
                Err(SendError::Unknown(cause("the answer was lost")))
            }
            Landing::Vanishes => Err(SendError::Unknown(cause("no answer"))),
            Landing::Refused => Err(SendError::Refused(cause("the server said no"))),
            Landing::Hangs => {
                tokio::time::sleep(statement.timeout).await;
                Err(SendError::Unknown(cause("timed out")))
            }
        }
    }

    async fn agree(&self, _with: Option<&Coordinator>, _timeout: Duration) -> Result<Agreed, NoAgreement> {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let (mut lost, mut effects) = (self.lost.lock().unwrap(), self.effects.lock().unwrap());
        if lost.is_empty() || !lost.iter().all(|object| effects.remove(object)) {
            return Ok(Agreed::All);
        }
        lost.clear();
        Ok(Agreed::WithoutIt)
    }

    async fn drain(&self, _coordinator: &Coordinator, _timeout: Duration) -> Drained {
        self.drains.fetch_add(1, SeqCst);
        Drained::Answered
    }

    async fn probe(&self, change: &SchemaChange) -> Result<Effect, SendError> {
        let name = change.object().map(|object| object.name.to_string()).unwrap_or_default();
        let there =
            self.effects.lock().unwrap().iter().any(|made| made.replace('"', "") == name.replace('"', ""));
        if self.other_shapes.lock().unwrap().contains(&name.replace('"', "")) {
            return Ok(Effect::OtherShape { expected: "a int".to_owned(), found: "a text".to_owned() });
        }
        Ok(if there { Effect::There } else { Effect::Absent })
    }

    async fn schema(&self) -> Result<Option<SchemaRecord>, SendError> {
        let effects = self.effects.lock().unwrap();
        let text: Vec<_> = effects.iter().cloned().collect();
        Ok(Some(SchemaRecord { digest: format!("s1:{}", text.len()), text: Some(text.join("\n")) }))
    }

    async fn built(&self, _change: &SchemaChange) -> Result<BuildState, SendError> {
        let mut looks = self.looks_until_built.lock().unwrap();
        *looks = looks.saturating_sub(1);
        let progress = if *looks > STALLED { String::new() } else { looks.to_string() };
        Ok(BuildState { nodes: 1, built: usize::from(*looks == 0), down: 0, progress })
    }

    async fn advice(&self) -> Vec<String> {
        Vec::new()
    }

    async fn run(&self, task: CodeRun) -> TaskResult {
        self.sent.lock().unwrap().push(task.name.clone());
        tokio::time::sleep(Duration::from_millis(5)).await;
        match self.landing(&task.name) {
            Landing::Lands => {
                for done in [0, 50] {
                    task.guard.note_far(Far { done, total: Some(100) });
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                Ok(())
            }
            Landing::Hangs => std::future::pending().await,
            _ => Err(TaskError::msg("the task failed")),
        }
    }
}

/// A migration of these tests.
pub(super) const fn migration(
    version: i64,
    name: &'static str,
    checksum: &'static str,
    plan: fn() -> Plan,
) -> Migration {
    Migration::new(source(version, name, checksum, plan))
}

/// One that a start does not wait for.
pub(super) const fn deferred(
    version: i64,
    name: &'static str,
    checksum: &'static str,
    plan: fn() -> Plan,
) -> Migration {
    Migration::new(Source { after_start: true, ..source(version, name, checksum, plan) })
}

const fn source(version: i64, name: &'static str, checksum: &'static str, plan: fn() -> Plan) -> Source {
    Source {
        version,
        name,
        checksum,
        also: &[],
        accept: &[],
        reaches_outside: None,
        out_of_order: false,
        after_start: false,
        file: "src/m.rs",
        line: 7,
        module_path: "tests::m",
        files: &[],
        plan,
    }
}

/// Times that make tests short to read; the clock is paused, so that they cost nothing.
pub(super) fn settings() -> Settings {
    Settings { start_jitter: Duration::ZERO, ..Settings::default() }
}

/// A run of these migrations.
pub(super) async fn run(world: &Arc<World>, migrations: &[&'static Migration]) -> Result<Report, Error> {
    let (_keep, shutdown) = Shutdown::new();
    run_with(world, migrations, settings(), shutdown).await
}

/// An operator's verb.
pub(super) async fn operate(
    world: &Arc<World>,
    migrations: &[&'static Migration],
    verb: Verb,
) -> Result<(), Error> {
    operate_on(world, migrations, verb, Expected::default()).await
}

/// An operator's verb, for what was seen.
pub(super) async fn operate_on(
    world: &Arc<World>,
    migrations: &[&'static Migration],
    verb: Verb,
    expected: Expected,
) -> Result<(), Error> {
    let (clock, dice, settings) = (PausedClock(Instant::now()), Dice::system(), settings());
    let env = Env { store: world, clock: &clock, dice: &dice, settings: &settings };
    let catalog = Catalog::new(migrations, None);
    let identity =
        Identity { owner: dice.nonce(), info: "operator".to_owned(), reason: Some("a test".to_owned()) };
    let (keyspace, table) = ("shop".to_owned(), "table".to_owned());
    Operator::new(env, world, identity, &catalog, keyspace, table).operate(&verb, expected).await
}

/// A run of these migrations that ends before what is deferred.
pub(super) async fn start(world: &Arc<World>, migrations: &[&'static Migration]) -> Result<Report, Error> {
    let (_keep, shutdown) = Shutdown::new();
    run_of(world, Catalog::new(migrations, None).before_deferred(), settings(), shutdown).await
}

/// A run with other settings.
pub(super) async fn run_with(
    world: &Arc<World>,
    migrations: &[&'static Migration],
    settings: Settings,
    shutdown: Shutdown,
) -> Result<Report, Error> {
    run_of(world, Catalog::new(migrations, settings.up_to), settings, shutdown).await
}

async fn run_of(
    world: &Arc<World>,
    catalog: Catalog,
    settings: Settings,
    shutdown: Shutdown,
) -> Result<Report, Error> {
    let (clock, dice) = (PausedClock(Instant::now()), Dice::system());
    let owner = dice.nonce();
    let destination = Destination::new("shop", Some("shop".to_owned()));
    Run::new(
        Env { store: world, clock: &clock, dice: &dice, settings: &settings },
        world,
        Identity { owner, info: format!("host pid {}", owner.as_u128() % 1000), reason: None },
        catalog,
        destination,
        shutdown,
        "shop.kandra_migrations".to_owned(),
    )
    .run()
    .await
}
