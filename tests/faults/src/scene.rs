//! One keyspace, and what happens in it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cassandra::fresh_keyspace_name;
use kandra_migrate::{Registry, Runner};

use crate::check::{Ended, Record, Spec, check};
use crate::plans::Image;
use crate::process::Process;
use crate::record;
use crate::relay::Lane;
use crate::times::{END_SECS_MAX, HEARTBEAT, LEASE, STATEMENT_TIMEOUT};
use crate::trouble::{Result, Trouble};
use crate::world::World;

/// Runs in a row that may be paused before the scene ends.
const FINISH_MAX: u32 = 5;

/// One keyspace.
#[derive(Debug)]
pub struct Scene {
    /// The nodes.
    pub world: Arc<World>,
    /// The keyspace.
    pub keyspace: String,
    ended: Mutex<Vec<Ended>>,
    written: Mutex<BTreeMap<i32, String>>,
}

/// How an instance is started, where it is not as always.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start<'a> {
    /// Behind these relays.
    pub lane: Option<&'a Lane>,
    /// Runs at once; none means one.
    pub runs: usize,
    /// The start jitter.
    pub jitter_ms: u64,
    /// Whether it can be told to drop its run.
    pub drop_on_line: bool,
}

impl Scene {
    /// A fresh keyspace.
    pub async fn new(world: &Arc<World>, prefix: &str) -> Result<Self> {
        Self::in_keyspace(world, fresh_keyspace_name(prefix)).await
    }

    /// The same, in a keyspace of this name.
    pub async fn in_keyspace(world: &Arc<World>, keyspace: String) -> Result<Self> {
        world.keyspace(&keyspace).await?;
        Ok(Self { world: Arc::clone(world), keyspace, ended: Mutex::default(), written: Mutex::default() })
    }

    /// A lane of relays.
    pub async fn lane(&self) -> Result<Lane> {
        let lane = Lane::open(&self.world.nodes()).await;
        lane.map_err(|source| Trouble::Io { what: "open relays".to_owned(), source })
    }

    /// Starts an instance.
    pub fn start(&self, name: &str, image: Image, start: Start<'_>) -> Result<Process> {
        use clap::ValueEnum as _;
        let mut command = self.world.program();
        command.args(["instance", "--name", name, "--keyspace", &self.keyspace]);
        if let Some(image) = image.to_possible_value() {
            command.args(["--image", image.get_name()]);
        }
        let routes = start.lane.map_or_else(|| self.world.direct(), |lane| lane.addresses().to_vec());
        for (node, by) in routes {
            command.args(["--node", &format!("{node}={by}")]);
        }
        command.args(["--runs", &start.runs.max(1).to_string()]);
        command.args(["--jitter-ms", &start.jitter_ms.to_string()]);
        if start.drop_on_line {
            command.arg("--drop-on-line");
        }
        Process::start(name, command)
    }

    /// Starts an instance behind relays.
    pub fn start_in(&self, lane: &Lane, name: &str, image: Image) -> Result<Process> {
        self.start(name, image, Start { lane: Some(lane), ..Start::default() })
    }

    /// Waits until an instance has ended, and remembers how its runs did.
    pub async fn ended(&self, process: Process) -> Result<Vec<Ended>> {
        self.ended_within(process, END_SECS_MAX).await
    }

    /// The same, with another limit.
    pub async fn ended_within(&self, process: Process, secs: u64) -> Result<Vec<Ended>> {
        let ended = process.ended(secs).await?;
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).extend(ended.iter().cloned());
        Ok(ended)
    }

    /// Runs instances one after the other until one is told `Ok`, and decides as an operator where a `once` step is in
    /// doubt: by its effect. The error of the last one otherwise.
    pub async fn finish(&self, image: Image) -> Result<Vec<String>> {
        let mut last = String::new();
        for attempt in 0..FINISH_MAX {
            let process = self.start(&format!("finisher{attempt}"), image, Start::default())?;
            let ended = self.ended(process).await?;
            let Some(ended) = ended.into_iter().next() else { return Ok(vec!["a finisher died".to_owned()]) };
            if ended.is_ok() {
                return Ok(Vec::new());
            }
            last = ended.text;
            let is_paused = ended.code.as_deref() == Some(kandra_migrate::Code::Paused.as_str());
            if is_paused && !self.decide(image).await? {
                break;
            }
        }
        Ok(vec![format!("it does not finish: {last}")])
    }

    /// Settles the `once` step that a version is paused at. False where it is paused at another one.
    async fn decide(&self, image: Image) -> Result<bool> {
        let record = self.record().await?;
        let spec = image.spec();
        let in_doubt = spec.steps().find(|(version, n, step)| {
            step.is_once && record.steps.get(&(*version, *n)).is_some_and(|state| state == "INTENT")
        });
        let Some((version, _, step)) = in_doubt else { return Ok(false) };
        let registry = image.registry();
        let control = self.runner(&registry, "operator").control();
        if step.effect.is_in(&record) {
            control.mark_done(version, "its effect is there").await?;
        } else {
            control.rerun(version, "its effect is not there").await?;
        }
        Ok(true)
    }

    /// A runner in the test's own process, past all relays.
    pub fn runner<'r>(&self, registry: &'r Registry, name: &str) -> Runner<'r> {
        Runner::new(Arc::clone(&self.world.session), registry)
            .keyspace(&self.keyspace)
            .application(name)
            .lease(LEASE)
            .heartbeat(HEARTBEAT)
            .statement_timeout(STATEMENT_TIMEOUT)
            .start_jitter(Duration::ZERO)
    }

    /// Writes a row as the application does.
    pub async fn write_item(&self, id: i32, name: &str) -> Result<()> {
        let text = format!("INSERT INTO {}.items (id, name) VALUES (?, ?)", self.keyspace);
        let sent = self.world.session.query_unpaged(text.as_str(), (id, name)).await;
        sent.map_err(|error| Trouble::database(text, error))?;
        self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(id, name.to_owned());
        Ok(())
    }

    /// Forgets what code tasks have done here so far.
    pub async fn forget_executions(&self) -> Result<()> {
        self.world.persist("DELETE FROM faults.effects WHERE scene = ?", (&self.keyspace,)).await
    }

    /// The ledger and the effects as they are.
    pub async fn record(&self) -> Result<Record> {
        record::read(&self.world, &self.keyspace).await
    }

    /// What is wrong with all that has happened here.
    pub async fn judge(&self, spec: &Spec) -> Result<Vec<String>> {
        let record = self.record().await?;
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut wrong = check(spec, &record, &ended, &written);
        if !wrong.is_empty() {
            wrong.push(format!("keyspace {}: {}", self.keyspace, record::describe(&record, &ended)));
        }
        Ok(wrong)
    }

    /// What is wrong with all that has happened here. Where nothing is, the keyspace goes.
    pub async fn close(self, spec: &Spec) -> Result<Vec<String>> {
        let wrong = self.judge(spec).await?;
        if wrong.is_empty() {
            self.end().await;
        }
        Ok(wrong)
    }

    /// Drops the keyspace, to have room for others. A node that has just come back may refuse that, and then it stays.
    pub async fn end(self) {
        let _ = self.world.schema(&format!("DROP KEYSPACE IF EXISTS {}", self.keyspace)).await;
    }
}
