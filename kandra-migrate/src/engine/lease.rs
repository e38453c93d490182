//! The lease: each conditional write of a holder, sent until its outcome is definite.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::backoff::Backoff;
use super::env::Env;
use super::halt::Halt;
use crate::clock::Clock;
use crate::error::Problem;
use crate::ledger::{Cells, Head, Key, Ledger, Takeover, Transaction, Transition, Writer};
use crate::mutant::{Mutant, is_broken};
use crate::port::StoreError;
use crate::store::{Answer, ReadLevel, Rows, Slice, Store, Tokens};
use crate::task::{Guard, Term};

/// What became of a conditional write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Committed {
    /// All of it is in the ledger.
    Applied,
    /// An operator's command arrived: what begins a step was left out, the rest is in the ledger.
    CommandArrived,
    /// The condition of another row did not hold: nothing of it is in the ledger.
    Conflict,
}

/// Which part of the journal a holder reads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Journal {
    /// That of all versions from this one on.
    From(i64),
    /// None of it.
    None,
}

/// What a run knows of itself.
#[derive(Debug, Clone)]
pub struct Identity {
    /// New for each run.
    pub owner: Uuid,
    /// Host, process and application.
    pub info: String,
    /// Why, where a person runs it.
    pub reason: Option<String>,
}

/// Renewals that may come too late, one after the other, before a run gives its lease up for lost.
const RENEWALS_MAX: u32 = 5;

/// The lease of one run, with the ledger as its last known write left it.
pub(crate) struct Lease<'a, S, C> {
    env: Env<'a, S, C>,
    identity: Identity,
    ledger: Ledger,
    /// The server's clock in milliseconds since the epoch, and when it said so.
    server: Option<(i64, Duration)>,
    /// What the last known write has left to this run.
    term: Term,
    /// The guard of the code task that runs now.
    guard: Option<Arc<Guard>>,
}

impl<'a, S: Store, C: Clock> Lease<'a, S, C> {
    /// Reads what the lease covers, if it is free and the head is still as it was seen. The lease is not taken yet: the
    /// first write does it, together with what it begins, and applies only if nothing has changed since.
    pub(crate) async fn prepare(
        env: Env<'a, S, C>,
        identity: Identity,
        journal: Journal,
        seen: Option<Head>,
    ) -> Result<Self, Halt> {
        let mut lease = Self::new(env, identity, seen);
        lease.reload(journal).await?;
        Ok(lease)
    }

    /// Takes the lease, if the head is still as it was seen, and reads what it covers.
    pub(crate) async fn acquire(
        env: Env<'a, S, C>,
        identity: Identity,
        journal: Journal,
        seen: Option<Head>,
    ) -> Result<Self, Halt> {
        let mut lease = Self::new(env, identity, seen);
        match lease.commit(&[lease.taking()]).await? {
            Committed::Applied => {}
            Committed::CommandArrived | Committed::Conflict => return Err(Halt::Lost),
        }
        lease.reload(journal).await?;
        Ok(lease)
    }

    fn new(env: Env<'a, S, C>, identity: Identity, seen: Option<Head>) -> Self {
        let ledger = Ledger { head: seen, ..Ledger::default() };
        Self { env, identity, ledger, server: None, term: Term::default(), guard: None }
    }

    /// What takes the lease, from nobody or from a holder that let it lapse.
    pub(crate) fn taking(&self) -> Transition {
        let lapsed = self.ledger.head().filter(|head| head.owner.is_some());
        Transition::Acquire(Takeover {
            from: lapsed.map(|head| head.owner_info.clone().unwrap_or_default()),
            lease_ms: millis(self.env.settings.lease),
            heartbeat_ms: millis(self.env.settings.heartbeat),
            serial_cl: self.env.settings.serial_cl,
        })
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The state after these transitions, as if they were written.
    pub(crate) fn after(&self, transitions: &[Transition]) -> Result<Ledger, Halt> {
        Ok(self.ledger.after(&self.writer(), transitions)?)
    }

    /// The server's clock now, in milliseconds since the epoch, as far as it is known.
    pub(crate) fn server_ms(&self) -> Option<i64> {
        let (server_ms, at) = self.server?;
        Some(server_ms + millis(self.env.clock.now().saturating_sub(at)))
    }

    /// Whether the last known write left the lease with this run.
    pub(crate) fn is_held(&self) -> bool {
        self.ledger.head().is_some_and(|head| head.owner == Some(self.identity.owner))
    }

    /// Whether something that takes at most `timeout` ends within the lease.
    pub(crate) fn covers(&self, timeout: Duration) -> bool {
        self.term.covers(self.env.clock, timeout) || is_broken(Mutant::NoDeadline)
    }

    /// Renews until something that takes at most `timeout` ends within the lease. A process that stood still while the
    /// answer was on its way has nothing of that lease left.
    pub(crate) async fn cover(&mut self, timeout: Duration) -> Result<(), Halt> {
        for _ in 0..RENEWALS_MAX {
            if self.covers(timeout) {
                return Ok(());
            }
            self.renew().await?;
        }
        if self.covers(timeout) { Ok(()) } else { Err(Halt::Lost) }
    }

    /// The guard that follows this lease's term; one at a time.
    pub(crate) fn guard_with(&mut self, guard: Option<Arc<Guard>>) {
        if let Some(guard) = &guard {
            guard.open(self.term);
        }
        self.guard = guard;
    }

    /// Works while the lease is kept, if it is held.
    pub(crate) async fn renewing<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Halt> {
        let mut work = pin!(work);
        loop {
            let (clock, held) = (self.env.clock, self.is_held());
            // Counted from the last renewal: works that are short, one after the other, leave none out.
            let due = self.term.begun() + self.env.settings.heartbeat;
            tokio::select! {
                biased;
                result = &mut work => return Ok(result),
                () = clock.sleep(due.saturating_sub(clock.now())), if held => self.renew().await?,
            }
        }
    }

    pub(crate) async fn renew(&mut self) -> Result<(), Halt> {
        self.commit(&[Transition::Renew]).await.map(|_| ())
    }

    /// Writes these transitions at once. One conditional write is under way at a time, and while its outcome is
    /// unknown no statement is sent.
    pub(crate) async fn commit(&mut self, transitions: &[Transition]) -> Result<Committed, Halt> {
        let term = Term::beginning(self.env.clock, self.env.settings.margin());
        // Every write is fenced, so that sending it late is safe; the bound is there so that it ends.
        let give_up = self.term.deadline().max(term.deadline());
        let mut transitions = transitions.to_vec();
        let mut outcome = Committed::Applied;
        let mut transaction = self.transaction(&transitions)?;
        let mut backoff = self.backoff();
        loop {
            match self.send(&transaction).await? {
                Sent::Applied => break,
                Sent::Unknown(_)
                    if is_broken(Mutant::SendOnUnknownIntent)
                        && transitions.iter().any(|t| matches!(t, Transition::Intent(_))) =>
                {
                    break;
                }
                Sent::Unknown(error) => {
                    if let Some(guard) = &self.guard {
                        guard.close();
                    }
                    let pause = backoff.pause(self.env.dice);
                    if self.env.clock.now() + pause >= give_up {
                        tracing::warn!(%error, "a conditional write stayed unknown until the lease's deadline");
                        return Err(Halt::Unanswered(error));
                    }
                    self.env.clock.sleep(pause).await;
                    if self.is_overtaken(Some(transaction.op)).await {
                        return Err(Halt::Lost);
                    }
                }
                Sent::OtherRow => return Ok(Committed::Conflict),
                Sent::Lost => return Err(Halt::Lost),
                Sent::Command => {
                    self.see_command().await?;
                    outcome = Committed::CommandArrived;
                    transitions.truncate(before_step(&transitions).len());
                    if transitions.is_empty() {
                        return Ok(outcome);
                    }
                    transaction = self.transaction(&transitions)?;
                }
            }
        }
        if let Some(Transition::Acquire(takeover)) = transitions.first() {
            tracing::info!(from = takeover.from, "holds the lease");
        }
        self.ledger = transaction.next;
        // Counted from the first sending: any of them may be the one that was applied.
        self.term = term;
        if let Some(guard) = &self.guard {
            guard.open(self.term);
        }
        Ok(outcome)
    }

    /// Reads head, versions and the journal, and stays the holder only if the head is still as
    /// this run left it.
    pub(crate) async fn reload(&mut self, journal: Journal) -> Result<(), Halt> {
        let give_up = self.env.clock.now() + self.env.settings.margin();
        let steps = match journal {
            Journal::From(version) => self.read_serial(Slice::StepsFrom(version), give_up).await?.rows,
            Journal::None => Vec::new(),
        };
        // The head comes last: if it is still this run's, nobody has written between the slices.
        let Rows { mut rows, server_ms, .. } = self.read_serial(Slice::Versions, give_up).await?;
        self.server = server_ms.map(|server_ms| (server_ms, self.env.clock.now()));
        rows.extend(steps);
        let ledger = fold(rows)?;
        if ledger.head().map(|head| head.op) != self.ledger.head().map(|head| head.op) {
            return Err(Halt::Lost);
        }
        self.ledger = ledger;
        Ok(())
    }

    fn writer(&self) -> Writer {
        Writer {
            owner: self.identity.owner,
            info: self.identity.info.clone(),
            wall_ms: self.env.clock.wall_ms(),
            reason: self.identity.reason.clone(),
        }
    }

    fn transaction(&self, transitions: &[Transition]) -> Result<Transaction, Halt> {
        let own = is_broken(Mutant::NonceOfTheRun).then_some(self.identity.owner);
        let nonce = own.unwrap_or_else(|| self.env.dice.nonce());
        Ok(self.ledger.transact(&self.writer(), nonce, transitions)?)
    }

    async fn send(&self, transaction: &Transaction) -> Result<Sent, Halt> {
        let answer = match self.env.store.apply(transaction).await {
            Ok(answer) => answer,
            Err(error) if is_passing(&error) => return Ok(Sent::Unknown(error)),
            Err(error) => return Err(Halt::Failed(Problem::of_store(error))),
        };
        match answer {
            Answer { applied: true, .. } => Ok(Sent::Applied),
            Answer { head: Some(tokens), .. } => Ok(judge(transaction, tokens)),
            Answer { head: None, .. } => match self.env.store.read(Slice::Head, ReadLevel::Serial).await {
                Ok(rows) => Ok(judge(transaction, tokens(&fold(rows.rows)?))),
                Err(error) => Ok(Sent::Unknown(error)),
            },
        }
    }

    async fn see_command(&mut self) -> Result<(), Halt> {
        let give_up = self.env.clock.now() + self.env.settings.margin();
        let read = fold(self.read_serial(Slice::Head, give_up).await?.rows)?;
        let Some(theirs) = read.head else { return Err(Halt::Lost) };
        match &mut self.ledger.head {
            Some(ours) if ours.op == theirs.op => {
                *ours = theirs;
                Ok(())
            }
            _ => Err(Halt::Lost),
        }
    }

    /// Whether another run took the lease that this one asks for, as far as an ordinary read tells. While a fleet asks
    /// for one lease, each conditional write and each SERIAL read holds up the others, and an ordinary read does not.
    /// A nonce never comes back, so that another one is proof.
    async fn is_overtaken(&self, asked_with: Option<Uuid>) -> bool {
        if self.is_held() {
            return false;
        }
        let Ok(rows) = self.env.store.read(Slice::Head, ReadLevel::Quorum).await else { return false };
        let seen = self.ledger.head().map(|head| head.op);
        let op = fold(rows.rows).ok().and_then(|ledger| ledger.head().map(|head| head.op));
        op.is_some() && op != seen && op != asked_with
    }

    /// A holder is alone with its writes; who asks for the lease may be one of a hundred.
    fn backoff(&self) -> Backoff {
        if self.is_held() { Backoff::of_writes() } else { Backoff::of_watchers() }
    }

    async fn read_serial(&self, slice: Slice, give_up: Duration) -> Result<Rows, Halt> {
        let mut backoff = self.backoff();
        loop {
            match self.env.store.read(slice, ReadLevel::Serial).await {
                Ok(rows) => return Ok(rows),
                Err(error) if is_passing(&error) => {
                    let pause = backoff.pause(self.env.dice);
                    if self.env.clock.now() + pause >= give_up {
                        tracing::warn!(%error, "the ledger could not be read before the lease's deadline");
                        return Err(Halt::Unanswered(error));
                    }
                    self.env.clock.sleep(pause).await;
                    if self.is_overtaken(None).await {
                        return Err(Halt::Lost);
                    }
                }
                Err(error) => return Err(Halt::Failed(Problem::of_store(error))),
            }
        }
    }
}

/// What goes before the first begin of a step or a version: an operator's command holds back the rest.
pub(crate) fn before_step(transitions: &[Transition]) -> &[Transition] {
    let begin = transitions.iter().position(Transition::begins_step);
    &transitions[..begin.unwrap_or(transitions.len())]
}

/// The table is there, since it was read before: a node to which it is unknown has yet to hear of its creation.
fn is_passing(error: &StoreError) -> bool {
    matches!(error, StoreError::Unknown(_) | StoreError::Passing(_) | StoreError::Invalid(_))
}

enum Sent {
    Applied,
    Unknown(StoreError),
    Command,
    OtherRow,
    Lost,
}

/// What a rejection means, by the head that rejected it.
fn judge(transaction: &Transaction, head: Tokens) -> Sent {
    let seen = transaction.condition;
    if head.op == Some(transaction.op) {
        Sent::Applied
    } else if head.op != seen.op {
        Sent::Lost
    } else if head.cmd_op != seen.cmd_op {
        Sent::Command
    } else {
        Sent::OtherRow
    }
}

fn tokens(ledger: &Ledger) -> Tokens {
    let head = ledger.head();
    Tokens { op: head.map(|head| head.op), cmd_op: head.and_then(|head| head.cmd_op) }
}

fn fold(rows: Vec<(Key, Cells)>) -> Result<Ledger, Halt> {
    Ledger::from_rows(rows).map_err(|error| Halt::Failed(Problem::of_ledger(error)))
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
