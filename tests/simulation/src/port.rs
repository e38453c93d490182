//! What the engine runs on: the world behind the traits of stores, executors and clocks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::Poll;
use std::time::Duration;

use kandra_migrate::__internals::{
    Agreed, Answer, BuildState, Cause, Clock, CodeRun, Coordinator, CreateError, Drained, Effect, Executor,
    LedgerTable, NoAgreement, ReadLevel, Rows, SchemaChange, SchemaRecord, Send, SendError, Slice, Store,
    StoreError, Transaction,
};
use kandra_migrate::{TaskError, TaskResult};
use tokio::sync::oneshot;

use crate::catalogue::{CATALOGUE, StepSpec, Work};
use crate::coverage::Seen;
use crate::database::{NODES, NodeState, Request};
use crate::ledger::cause;
use crate::time::Rate;
use crate::world::{Answering, Event, Shared, World};

/// How often a question that has no event of its own is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(150);

/// The world, as one run has it.
pub(crate) struct Port {
    pub(crate) world: Shared,
    pub(crate) run: usize,
    pub(crate) rate: Rate,
    pub(crate) statement_timeout: Duration,
    /// Counts the starts of code tasks.
    pub(crate) starts: AtomicU64,
}

async fn answered<T>(receiver: oneshot::Receiver<T>) -> T {
    match receiver.await {
        Ok(answer) => answer,
        // The world dropped what would have answered: as good as a connection that never says anything.
        Err(_) => std::future::pending().await,
    }
}

impl Clock for Port {
    fn now(&self) -> Duration {
        self.rate.local(self.world.lock().now)
    }

    fn wall_ms(&self) -> i64 {
        self.rate.wall_ms(self.world.lock().now)
    }

    async fn sleep(&self, duration: Duration) {
        let mut until = None;
        std::future::poll_fn(|context| {
            let mut world = self.world.lock();
            let at = *until.get_or_insert_with(|| {
                let at = world.now + self.rate.world(duration);
                world.at(at, Event::Wake(context.waker().clone()));
                at
            });
            if world.now >= at { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

impl Store for Port {
    async fn read(&self, slice: Slice, level: ReadLevel) -> Result<Rows, StoreError> {
        let (to, answer) = Answering::new();
        self.world.lock().read(self.run, slice, level, &to);
        answered(answer).await
    }

    async fn apply(&self, transaction: &Transaction) -> Result<Answer, StoreError> {
        let (to, answer) = Answering::new();
        self.world.lock().write(self.run, &Arc::new(transaction.clone()), &to);
        answered(answer).await
    }

    async fn inspect(&self) -> Result<LedgerTable, StoreError> {
        let (to, answer) = Answering::new();
        self.world.lock().inspect(self.run, &to);
        answered(answer).await
    }

    async fn create(&self, _timeout: Duration) -> Result<(), CreateError> {
        let (to, answer) = Answering::new();
        self.world.lock().create(&to);
        answered(answer).await
    }

    async fn create_keyspace(&self, _replication: &str, _timeout: Duration) -> Result<(), CreateError> {
        Ok(())
    }
}

fn coordinator(node: usize) -> Coordinator {
    Coordinator(format!("node-{node} 10.0.0.{node}:9042"))
}

pub(crate) fn node_of(coordinator: &Coordinator) -> Option<usize> {
    (0..NODES).find(|node| self::coordinator(*node) == *coordinator)
}

impl Port {
    /// Ends when the answer to a read arrives, if it does.
    async fn read_arrives(&self) -> Result<(), SendError> {
        let (latency, lost) = {
            let mut world = self.world.lock();
            let rate = world.scenario.rates.read_lost;
            (world.latency(), world.strikes(rate))
        };
        self.sleep(Duration::from_nanos(latency)).await;
        if lost { Err(SendError::Unknown(cause("no answer"))) } else { Ok(()) }
    }

    /// Where a simulation lets the process stand still between its last look at the deadline and the sending.
    async fn before_send(&self) {
        let stalls = {
            let mut world = self.world.lock();
            let rate = world.scenario.rates.stall_before_send;
            world.strikes(rate)
        };
        if stalls {
            let long = {
                let mut world = self.world.lock();
                world.count(Seen::StallBeforeSend);
                world.random.below(20_000)
            };
            self.sleep(Duration::from_millis(long)).await;
        }
    }

    async fn send_step(
        &self,
        step: &StepSpec,
        write: u8,
        start: u64,
        statement: &Send<'_>,
    ) -> Result<(), SendError> {
        self.before_send().await;
        let (to, answer) = Answering::new();
        let request = Request {
            run: self.run,
            step: step.id,
            write,
            start,
            node: statement.coordinator.and_then(node_of),
            timestamp_us: statement.timestamp_us,
            timeout: self.rate.world(statement.timeout),
        };
        self.world.lock().send(&request, &to);
        answered(answer).await
    }

    /// Asks the world until it says something else than `None`, at most for `timeout`.
    async fn ask<T>(
        &self,
        timeout: Duration,
        mut question: impl FnMut(&mut World) -> Option<T>,
    ) -> Option<T> {
        let until = self.now() + timeout;
        loop {
            let answer = question(&mut self.world.lock());
            if answer.is_some() || self.now() >= until {
                return answer;
            }
            self.sleep(ASK_AGAIN).await;
        }
    }
}

impl Executor for Port {
    fn coordinator(&self) -> Option<Coordinator> {
        self.world.lock().any_node().map(coordinator)
    }

    async fn send(&self, statement: Send<'_>) -> Result<(), SendError> {
        match CATALOGUE.find(statement.text) {
            Some(step) => self.send_step(step, 0, 0, &statement).await,
            None => Err(SendError::Refused(cause("a statement that no plan has"))),
        }
    }

    async fn agree(&self, with: Option<&Coordinator>, timeout: Duration) -> Result<Agreed, NoAgreement> {
        let with = with.and_then(node_of);
        let run = self.run;
        let agreed = self
            .ask(timeout, |world| world.database.agrees(world.now).then(|| world.agreed(run, with)))
            .await;
        agreed.ok_or_else(|| {
            self.world.lock().count(Seen::NoAgreement);
            NoAgreement { waited: timeout, disagreeing: "some nodes".to_owned() }
        })
    }

    async fn drain(&self, coordinator: &Coordinator, timeout: Duration) -> Drained {
        let Some(node) = node_of(coordinator) else { return Drained::Gone };
        let drained = self
            .ask(timeout, |world| match world.database.nodes[node].state {
                NodeState::Up if !world.database.is_busy(node) => Some(Drained::Answered),
                NodeState::Down => Some(Drained::Gone),
                _ => None,
            })
            .await
            .unwrap_or(Drained::Silent);
        let mut world = self.world.lock();
        match drained {
            Drained::Answered => world.count(Seen::DrainAnswered),
            Drained::Gone => world.count(Seen::DrainGone),
            Drained::Silent => {
                world.count(Seen::DrainSilent);
                world.write_off(node);
            }
        }
        world.note(|world| format!("{} drains node {node}: {drained:?}", world.name(self.run)));
        drained
    }

    async fn probe(&self, change: &SchemaChange) -> Result<Effect, SendError> {
        let name = change.object().map(|object| object.name.name).unwrap_or_default();
        let Some(step) = CATALOGUE.find(&name) else { return Ok(Effect::Unknown { why: "no plan has it" }) };
        self.read_arrives().await?;
        let mut world = self.world.lock();
        let there = world.probe(step.id);
        world.note(|world| format!("{} probes {}: {there:?}", world.name(self.run), step.name));
        match there {
            Some(true) => {
                world.count(Seen::ProbeThere);
                Ok(Effect::There)
            }
            Some(false) => {
                world.count(Seen::ProbeAbsent);
                Ok(Effect::Absent)
            }
            None => Err(SendError::Passing(cause("no node is up"))),
        }
    }

    /// Read like all else, and lost like it.
    async fn schema(&self) -> Result<Option<SchemaRecord>, SendError> {
        self.read_arrives().await?;
        Ok(Some(SchemaRecord { digest: "s1:00".to_owned(), text: Some("the schema".to_owned()) }))
    }

    async fn built(&self, _change: &SchemaChange) -> Result<BuildState, SendError> {
        Ok(BuildState { nodes: NODES, built: NODES, ..BuildState::default() })
    }

    async fn advice(&self) -> Vec<String> {
        Vec::new()
    }

    async fn run(&self, task: CodeRun) -> TaskResult {
        match CATALOGUE.find(&task.name) {
            Some(step) => self.run_code(step, &task).await,
            None => Err(TaskError::msg("a task that no plan has")),
        }
    }
}

impl Port {
    /// A code task: its writes one after the other, perhaps with a checkpoint after each.
    async fn run_code(&self, step: &StepSpec, task: &CodeRun) -> TaskResult {
        let Work::Code { writes, once, checkpoints } = step.work else {
            return Err(TaskError::msg("no code task"));
        };
        let start = self.starts.fetch_add(1, Relaxed) + 1;
        let from: u8 = task.checkpoint.as_ref().and_then(|position| position.parse().ok()).unwrap_or(0);
        if from > 0 {
            self.world.lock().count(Seen::CodeResumed);
        }
        self.world.lock().check_start(self.run, step);
        for write in from..writes {
            self.misbehave(step).await?;
            self.write_of_code(step, task, write, start, once).await?;
            if checkpoints {
                task.guard.save((write + 1).to_string()).await?;
            }
        }
        self.world.lock().check_return(self.run, step);
        Ok(())
    }

    async fn misbehave(&self, step: &StepSpec) -> TaskResult {
        let (fails, hangs) = {
            let mut world = self.world.lock();
            let (fails, hangs) = (world.scenario.rates.code_fails, world.scenario.rates.code_hangs);
            (world.strikes(fails), world.strikes(hangs))
        };
        if hangs {
            self.world.lock().count(Seen::CodeHung);
            std::future::pending::<()>().await;
        }
        if fails {
            let mut world = self.world.lock();
            world.count(Seen::CodeFailed);
            world.check_failure(step.id);
            return Err(TaskError::msg("the task failed"));
        }
        Ok(())
    }

    async fn write_of_code(
        &self,
        step: &StepSpec,
        task: &CodeRun,
        write: u8,
        start: u64,
        once: bool,
    ) -> TaskResult {
        loop {
            let permit = task.guard.admit(self, self.statement_timeout).await?;
            let statement = Send {
                id_seed: None,
                text: "",
                coordinator: None,
                timestamp_us: task.timestamp_us,
                timeout: self.statement_timeout,
            };
            match self.send_step(step, write, start, &statement).await {
                Ok(()) => {
                    permit.ended();
                    return Ok(());
                }
                Err(SendError::Unknown(error)) => {
                    drop(permit);
                    let again = {
                        let mut world = self.world.lock();
                        world.count(Seen::CodeUnknown);
                        !once && world.random.per_mille(500)
                    };
                    if !again {
                        self.world.lock().check_failure(step.id);
                        return Err(task_error(&error));
                    }
                }
                Err(SendError::Refused(error) | SendError::Passing(error)) => {
                    permit.ended();
                    self.world.lock().check_failure(step.id);
                    return Err(task_error(&error));
                }
            }
        }
    }
}

fn task_error(cause: &Cause) -> TaskError {
    TaskError::msg(cause.to_string())
}
