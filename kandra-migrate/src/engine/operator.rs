//! What operators do: commands, which a live holder obeys, and edits, which need the lease.

use std::collections::BTreeSet;
use std::time::Duration;

use uuid::Uuid;

use super::backoff::Backoff;
use super::catalog::Catalog;
use super::env::Env;
use super::executor::Executor;
use super::halt::Halt;
use super::lease::{Identity, Journal, Lease};
use super::reader::Reader;
use super::shutdown::Shutdown;
use super::sighting::{Sighting, landed_by, lease_of};
use super::verbs::{Expected, Order, Verb};
use crate::clock::Clock;
use crate::error::{Error, Problem};
use crate::ledger::{Command, Event, Head, Ledger, StepRow, StepState, Transaction, Transition, Writer};
use crate::port::{Coordinator, Drained, StoreError};
use crate::store::{Answer, ReadLevel, Slice, Store};

/// Most rows that one conditional write changes: a batch has its limit.
const ROWS_MAX: usize = 90;

/// An operator at one ledger.
#[expect(missing_debug_implementations, reason = "no part of the API")]
pub struct Operator<'a, S, C, X> {
    env: Env<'a, S, C>,
    executor: &'a X,
    reader: Reader<'a, S, C>,
    identity: Identity,
    catalog: &'a Catalog,
}

impl<'a, S: Store, C: Clock, X: Executor> Operator<'a, S, C, X> {
    /// An operator; `keyspace` and `table` are for messages.
    #[must_use]
    pub fn new(
        env: Env<'a, S, C>,
        executor: &'a X,
        identity: Identity,
        catalog: &'a Catalog,
        keyspace: String,
        table: String,
    ) -> Self {
        let (_, shutdown) = Shutdown::new();
        Self {
            env,
            executor,
            reader: Reader { env, shutdown, creates: false, keyspace, table },
            identity,
            catalog,
        }
    }

    /// The newest events, oldest first.
    pub(crate) async fn events(&self, rows_max: i32) -> Result<Vec<Event>, Problem> {
        let rows = self.reader.read(Slice::Events { rows_max }, ReadLevel::Quorum).await?.rows;
        Ok(rows.iter().map(|(key, cells)| Event::from_cells(key.n, cells)).collect())
    }

    /// What a verb would change, in a sentence each, and what was seen for that; or why it is refused. Reads only.
    #[cfg(feature = "cli")]
    pub(crate) async fn preview(
        &self,
        verb: &Verb,
        expected: Expected,
    ) -> Result<(Vec<String>, Expected), Problem> {
        let rows = self.reader.read(Slice::Versions, ReadLevel::Serial).await?;
        let server_ms = rows.server_ms.unwrap_or_else(|| self.env.clock.wall_ms());
        let ledger = self.with_journal(self.reader.fold(rows)?, verb.journal_from()).await?;
        if !matches!(verb, Verb::Baseline(_)) {
            self.reader.check_alone(&ledger).await?;
        }
        let order = verb.order(&ledger, self.catalog, server_ms)?;
        expected.check_step(verb, &order)?;
        let op = Some(ledger.head().map(|head| head.op));
        Ok((order.preview(&ledger), Expected { op, ..expected }))
    }

    /// Carries out a verb, or says why not and changes nothing.
    pub async fn operate(&mut self, verb: &Verb, expected: Expected) -> Result<(), Error> {
        Ok(self.carry_out(verb, expected).await?)
    }

    /// Carries out a verb, or says why not and changes nothing.
    pub(crate) async fn carry_out(&mut self, verb: &Verb, expected: Expected) -> Result<(), Problem> {
        // Of all verbs, only this one is for keyspaces that were never migrated.
        self.reader.creates = matches!(verb, Verb::Baseline(_));
        let begun = self.env.clock.now();
        let mut backoff = Backoff::of_writes();
        loop {
            let rows = self.reader.read(Slice::Versions, ReadLevel::Serial).await?;
            let server_ms = rows.server_ms.unwrap_or_else(|| self.env.clock.wall_ms());
            let ledger = self.with_journal(self.reader.fold(rows)?, verb.journal_from()).await?;
            if !matches!(verb, Verb::Baseline(_)) {
                self.reader.check_alone(&ledger).await?;
            }
            if let Some(head) = ledger.head() {
                self.reader.check_serial(head)?;
                head.check_format().map_err(|error| self.reader.located(Problem::of_ledger(error)))?;
            }
            let order = verb.order(&ledger, self.catalog, server_ms)?;
            expected.check_step(verb, &order)?;
            let carried_out = match order {
                Order::Command(command) => self.give(&ledger, &command, verb, begun).await?,
                Order::Edit(_) => self.edit(verb, expected).await?,
            };
            if carried_out {
                return Ok(());
            }
            self.check_time(begun)?;
            self.env.clock.sleep(backoff.pause(self.env.dice)).await;
        }
    }

    /// Gives a command: it needs no lease, and whoever holds it obeys before the next step. False where another write
    /// came first.
    async fn give(
        &self,
        ledger: &Ledger,
        command: &Command,
        verb: &Verb,
        begun: Duration,
    ) -> Result<bool, Problem> {
        let nonce = self.env.dice.nonce();
        let reason = self.identity.reason.as_deref().unwrap_or("no reason given");
        let writer = Writer {
            owner: self.identity.owner,
            info: self.identity.info.clone(),
            reason: self.identity.reason.clone(),
            wall_ms: self.env.clock.wall_ms(),
        };
        match ledger.command(&writer, nonce, command, reason) {
            Some(write) => self.send(&write, nonce, begun).await,
            None => Err(verb.refused("nothing was ever run here: there is no ledger yet")),
        }
    }

    async fn send(&self, write: &Transaction, nonce: Uuid, begun: Duration) -> Result<bool, Problem> {
        let mut backoff = Backoff::of_writes();
        loop {
            match self.env.store.apply(write).await {
                Ok(Answer { applied: true, .. }) => return Ok(true),
                // An attempt whose answer was lost may have applied it.
                Ok(Answer { applied: false, .. }) => {
                    let ledger = self.reader.ledger(Slice::Head, ReadLevel::Serial).await?;
                    return Ok(ledger.head().is_some_and(|head| head.cmd_op == Some(nonce)));
                }
                Err(StoreError::Unknown(_) | StoreError::Passing(_)) => {
                    self.check_time(begun)?;
                    self.env.clock.sleep(backoff.pause(self.env.dice)).await;
                }
                Err(error) => return Err(self.reader.located(Problem::of_store(error))),
            }
        }
    }

    /// Edits the ledger as its holder; refused while a live run is. False where another run took the lease first.
    async fn edit(&self, verb: &Verb, expected: Expected) -> Result<bool, Problem> {
        let (seen, lapsed) = self.free_head().await?;
        // The lease is taken on this token, so that nothing comes in between.
        expected.check_op(verb, seen.as_ref().map(|head| head.op))?;
        // What a dead holder has left under way may be of a version that the verb is not about.
        let from = if lapsed.is_some() { Some(1) } else { verb.journal_from() };
        let journal = from.map_or(Journal::None, Journal::From);
        let edited = match Lease::acquire(self.env, self.identity.clone(), journal, seen).await {
            Ok(mut lease) => {
                let landed_by = landed_by(lapsed.as_ref(), self.env.settings, lease.ledger(), from);
                self.edit_under(&mut lease, verb, expected, landed_by).await
            }
            Err(halt) => Err(halt),
        };
        match edited {
            Ok(done) => Ok(done),
            Err(Halt::Lost | Halt::Unanswered(_)) => Ok(false),
            Err(Halt::Failed(problem)) => Err(problem),
        }
    }

    /// Edits, and gives the lease back. Whoever comes next finds it free, and a step that is done or gone from the
    /// journal: nothing waits any more for what was under way.
    async fn edit_under(
        &self,
        lease: &mut Lease<'a, S, C>,
        verb: &Verb,
        expected: Expected,
        landed_by: Duration,
    ) -> Result<bool, Halt> {
        let order = verb.order(lease.ledger(), self.catalog, self.env.clock.wall_ms());
        let order = order.and_then(|order| expected.check_step(verb, &order).map(|()| order));
        let left = landed_by.saturating_sub(self.env.clock.now());
        if !left.is_zero() {
            lease.renewing(self.env.clock.sleep(left)).await?;
        }
        match order {
            Ok(Order::Edit(edits)) => {
                self.drain(lease, &edits).await?;
                self.write(lease, &edits).await
            }
            // It stood otherwise a moment ago.
            Ok(Order::Command(_)) => lease.commit(&[Transition::Release]).await.map(|_| false),
            Err(problem) => {
                if lease.commit(&[Transition::Release]).await.is_err() {
                    tracing::warn!("the lease could not be given back and will lapse");
                }
                Err(Halt::Failed(problem))
            }
        }
    }

    /// Waits until the nodes that had the schema statements of these steps can no longer be at work on them. A silent
    /// one is named, and not waited for longer.
    async fn drain(&self, lease: &mut Lease<'a, S, C>, edits: &[Transition]) -> Result<(), Halt> {
        let nodes: BTreeSet<_> = edits.iter().flat_map(|edit| coordinators(edit, lease.ledger())).collect();
        for node in nodes {
            let node = Coordinator(node);
            let drained = lease.renewing(self.executor.drain(&node, self.env.settings.drain_schema)).await?;
            if drained == Drained::Silent {
                tracing::warn!(
                    node = node.0,
                    "a node that may still hold a schema statement does not answer"
                );
                lease.commit(&[Transition::Note(format!("undrained {}", node.0))]).await?;
            }
        }
        Ok(())
    }

    async fn write(&self, lease: &mut Lease<'a, S, C>, edits: &[Transition]) -> Result<bool, Halt> {
        let mut chunks = edits.chunks(ROWS_MAX).peekable();
        while let Some(chunk) = chunks.next() {
            let mut write = chunk.to_vec();
            if chunks.peek().is_none() {
                // Only the last write moves the frontier, which makes all of them valid.
                let frontier = self.catalog.frontier_of(&lease.after(&write)?);
                write.extend([Transition::Advance { frontier }, Transition::Release]);
            }
            lease.commit(&write).await?;
        }
        Ok(true)
    }

    /// The head, once nobody holds the lease, or its holder, as it was seen, has let it lapse. At most one lease is waited
    /// for: a holder that writes meanwhile is alive, whatever servers' clocks say of its last write.
    async fn free_head(&self) -> Result<(Option<Head>, Option<Sighting>), Problem> {
        let mut sighting: Option<Sighting> = None;
        loop {
            let rows = self.reader.read(Slice::Head, ReadLevel::Quorum).await?;
            let op_age = rows.op_age();
            let now = self.env.clock.now();
            let Some(head) = self.reader.fold(rows)?.head().cloned() else {
                return Ok((None, None));
            };
            if head.owner.is_none() {
                return Ok((Some(head), None));
            }
            let is_alive = sighting.as_ref().is_some_and(|sighting| !sighting.is_of(&head));
            if is_alive || op_age.is_none_or(|age| age < lease_of(&head)) {
                return Err(Problem::Held {
                    holder: head.owner_info.unwrap_or_else(|| "another instance".to_owned()),
                });
            }
            // By the server's clock it has lapsed; on the own one that is seen to its end.
            let seen = sighting.take();
            let seen = seen.unwrap_or_else(|| Sighting::new(&head, self.env.settings.lease, now));
            if seen.has_lapsed(now, op_age) {
                return Ok((Some(head), Some(seen)));
            }
            let pause = seen.left(now).min(self.env.settings.heartbeat);
            sighting = Some(seen);
            self.env.clock.sleep(pause).await;
        }
    }

    async fn with_journal(&self, mut ledger: Ledger, from: Option<i64>) -> Result<Ledger, Problem> {
        if let Some(from) = from {
            ledger.steps = self.reader.ledger(Slice::StepsFrom(from), ReadLevel::Serial).await?.steps;
        }
        Ok(ledger)
    }

    fn check_time(&self, begun: Duration) -> Result<(), Problem> {
        let waited = self.env.clock.now().saturating_sub(begun);
        if waited < self.env.settings.unreachable_after {
            return Ok(());
        }
        Err(Problem::WaitedTooLong { holder: "another instance".to_owned(), waited })
    }
}

/// The nodes that may be at work on schema statements of the steps that this edits.
fn coordinators(edit: &Transition, ledger: &Ledger) -> Vec<String> {
    let (version, only) = match edit {
        Transition::MarkDone { version, n } | Transition::Rerun { version, n } => (*version, Some(*n)),
        Transition::Abandon { version } => (*version, None),
        _ => return Vec::new(),
    };
    let may_land = |row: &&StepRow| {
        matches!(row.state, StepState::Intent | StepState::Failed) && only.is_none_or(|n| row.n == n)
    };
    ledger.steps_of(version).filter(may_land).filter_map(|row| row.coordinator.clone()).collect()
}
