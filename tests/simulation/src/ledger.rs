//! The ledger's table, and what becomes of the requests that are sent to it.

use std::collections::VecDeque;
use std::sync::Arc;

use kandra_migrate::__internals::{
    Answer, Cause, CreateError, LedgerTable, MemoryStore, Mutation, ReadLevel, Rows, Slice, StoreError,
    Transaction,
};

use crate::coverage::Seen;
use crate::rules::Rule;
use crate::time::{Nanos, SECOND, server_ms};
use crate::world::{Answering, Event, World};

/// How many states of the head a first look may be behind.
const HEADS_BEHIND_MAX: usize = 4;

/// The table.
pub(crate) struct LedgerServer {
    pub(crate) store: MemoryStore,
    exists: bool,
    quorum: bool,
    past_heads: VecDeque<Rows>,
}

impl LedgerServer {
    pub(crate) fn new(exists: bool) -> Self {
        Self { store: MemoryStore::new(), exists, quorum: true, past_heads: VecDeque::new() }
    }
}

pub(crate) fn cause(text: &'static str) -> Cause {
    Arc::from(Box::<dyn std::error::Error + Send + Sync>::from(text))
}

enum Fate {
    Answered,
    AnswerLost,
    Dropped,
    Delayed,
    Duplicated,
    Passing,
    Refused,
}

impl World {
    /// A run sends a conditional write.
    pub(crate) fn write(
        &mut self,
        run: usize,
        transaction: &Arc<Transaction>,
        to: &Answering<Result<Answer, StoreError>>,
    ) {
        let arrives = self.latency();
        let fate = self.fate_of_write();
        self.note(|world| {
            let event = events_of(transaction);
            let fate = match fate {
                Fate::Answered => "",
                Fate::AnswerLost => " (its answer will be lost)",
                Fate::Dropped => " (it will be lost)",
                Fate::Delayed => " (it will be late)",
                Fate::Duplicated => " (it will arrive twice)",
                Fate::Passing => " (it will be refused for now)",
                Fate::Refused => " (it will be refused)",
            };
            format!("{} writes {event}{fate}", world.name(run))
        });
        match fate {
            Fate::Answered => self.deliver(arrives, run, transaction, Some(to)),
            Fate::AnswerLost => {
                self.count(Seen::WriteAnswerLost);
                self.deliver(arrives, run, transaction, None);
                self.give_up(run, arrives, to);
            }
            Fate::Dropped => {
                self.count(Seen::WriteDropped);
                self.give_up(run, arrives, to);
            }
            Fate::Delayed => {
                self.count(Seen::WriteDelayed);
                let late = self.runs[run].request_timeout + self.random.below(15 * SECOND);
                self.deliver(late, run, transaction, None);
                self.give_up(run, arrives, to);
            }
            Fate::Duplicated => {
                self.count(Seen::WriteDuplicated);
                self.deliver(arrives, run, transaction, Some(to));
                let again = arrives + self.random.below(10 * SECOND);
                self.deliver(again, run, transaction, None);
            }
            Fate::Passing => {
                self.count(Seen::WritePassing);
                let to = to.clone();
                self.after(arrives, move |_| {
                    to.answer(Err(StoreError::Passing(cause("overloaded"))));
                });
            }
            Fate::Refused => {
                self.count(Seen::WriteRefused);
                let to = to.clone();
                self.after(arrives, move |_| {
                    to.answer(Err(StoreError::Unauthorized(cause("the user may not"))));
                });
            }
        }
    }

    fn fate_of_write(&mut self) -> Fate {
        if self.strikes(self.scenario.rates.write_lost) {
            Fate::AnswerLost
        } else if self.strikes(self.scenario.rates.write_dropped) {
            Fate::Dropped
        } else if self.strikes(self.scenario.rates.write_delayed) {
            Fate::Delayed
        } else if self.strikes(self.scenario.rates.write_duplicated) {
            Fate::Duplicated
        } else if self.strikes(self.scenario.rates.write_passing) {
            Fate::Passing
        } else if self.strikes(self.scenario.rates.write_refused) {
            Fate::Refused
        } else {
            Fate::Answered
        }
    }

    /// The client hears nothing: at once, as when the server gives up on contention, or only by its own timeout.
    fn give_up<T: Send + 'static>(
        &mut self,
        run: usize,
        arrives: Nanos,
        to: &Answering<Result<T, StoreError>>,
    ) {
        let timeout = self.runs[run].request_timeout;
        let after = if self.random.per_mille(600) { arrives + self.latency() } else { timeout };
        let to = to.clone();
        self.after(after, move |_| {
            to.answer(Err(StoreError::Unknown(cause("no answer"))));
        });
    }

    fn deliver(
        &mut self,
        after: Nanos,
        run: usize,
        transaction: &Arc<Transaction>,
        to: Option<&Answering<Result<Answer, StoreError>>>,
    ) {
        let (transaction, to) = (Arc::clone(transaction), to.cloned());
        self.after(after, move |world| world.write_arrives(run, &transaction, to));
    }

    fn write_arrives(
        &mut self,
        run: usize,
        transaction: &Arc<Transaction>,
        to: Option<Answering<Result<Answer, StoreError>>>,
    ) {
        if !self.ledger_answers() {
            self.write_fails(run, transaction, to);
            return;
        }
        if !self.runs[run].alive {
            self.count(Seen::WriteOfTheDead);
        }
        self.ledger.store.set_server_ms(server_ms(self.now));
        let mut answer = match self.weakened(run, transaction) {
            Some(weakened) => self.ledger.store.apply_now(&weakened),
            None => self.ledger.store.apply_now(transaction),
        };
        if answer.applied {
            if to.is_none() {
                self.count(Seen::WriteDelayedApplied);
            }
            let head = self.ledger.store.read_now(Slice::Head);
            self.ledger.past_heads.push_back(head);
            if self.ledger.past_heads.len() > HEADS_BEHIND_MAX {
                self.ledger.past_heads.pop_front();
            }
            self.note(|world| format!("    applied: {} of {}", events_of(transaction), world.name(run)));
            self.check_write(run);
        } else {
            if to.is_none() {
                self.count(Seen::WriteStale);
            }
            self.note(|world| format!("    rejected: {} of {}", events_of(transaction), world.name(run)));
            if answer.head.is_some() && self.strikes(50) {
                self.count(Seen::WriteHeadless);
                answer.head = None;
            }
        }
        if let Some(to) = to {
            let back = self.latency();
            self.after(back, move |_| {
                to.answer(Ok(answer));
            });
        }
    }

    pub(crate) fn ledger_answers(&self) -> bool {
        self.ledger.exists && self.ledger.quorum
    }

    /// Without a quorum a write is refused, or is accepted by some replicas and finished once the others are back.
    fn write_fails(
        &mut self,
        run: usize,
        transaction: &Arc<Transaction>,
        to: Option<Answering<Result<Answer, StoreError>>>,
    ) {
        let accepted = self.ledger.exists && self.random.per_mille(500);
        if accepted && self.random.per_mille(500) {
            let later = self.random.below(10 * SECOND);
            self.deliver(later, run, transaction, None);
        }
        let Some(to) = to else { return };
        let error = match (self.ledger.exists, accepted) {
            (false, _) => StoreError::Invalid(cause("unconfigured table")),
            (true, true) => StoreError::Unknown(cause("unavailable after the proposal")),
            (true, false) => StoreError::Passing(cause("unavailable")),
        };
        let back = self.latency();
        self.after(back, move |_| {
            to.answer(Err(error));
        });
    }

    /// The write as a server would take it that does not keep the broken rule.
    fn weakened(&self, run: usize, transaction: &Transaction) -> Option<Transaction> {
        let rule = self.broken.filter(|rule| !matches!(rule, Rule::Engine(_)))?;
        let head = self.checker.head()?;
        // The head's epoch is among the changed cells just where the lease is taken.
        let acquires = match transaction.mutations.first() {
            Some(Mutation::Put(_, cells)) => cells.int("epoch"),
            _ => None,
        };
        let holds = match (rule, acquires) {
            (Rule::Conditional, None) => true,
            (Rule::OperationNotHost, None) => {
                let host = |run: usize| self.runs[run].name.split(' ').next();
                self.checker.holder().and_then(host) == host(run)
            }
            (Rule::OperationNotEpoch, Some(epoch)) => head.epoch + 1 == epoch,
            (Rule::CommandCondition, _) => Some(head.op) == transaction.condition.op.map(|op| op.as_u128()),
            _ => false,
        };
        let row = self.ledger.store.read_now(Slice::Head).rows.pop()?.1;
        let mut weakened = transaction.clone();
        if holds {
            weakened.condition.op = row.uuid("op");
            weakened.condition.cmd_op = row.uuid("cmd_op");
            // Counting on from what is there, it does not give itself away by its number.
            if let Some(Mutation::Put(_, cells)) = weakened.mutations.first_mut() {
                cells.set("rev", head.rev + 1);
            }
        }
        Some(weakened)
    }

    /// A run reads.
    pub(crate) fn read(
        &mut self,
        run: usize,
        slice: Slice,
        level: ReadLevel,
        to: &Answering<Result<Rows, StoreError>>,
    ) {
        let arrives = self.latency();
        if self.strikes(self.scenario.rates.read_lost) {
            self.count(Seen::ReadLost);
            self.give_up(run, arrives, to);
            return;
        }
        let to = to.clone();
        self.after(arrives, move |world| {
            let answer = world.read_arrives(slice, level);
            let back = world.latency();
            world.after(back, move |_| {
                to.answer(answer);
            });
        });
    }

    fn read_arrives(&mut self, slice: Slice, level: ReadLevel) -> Result<Rows, StoreError> {
        if !self.ledger.exists {
            return Err(StoreError::Invalid(cause("unconfigured table")));
        }
        if !self.ledger.quorum {
            return Err(StoreError::Unknown(cause("not enough replicas")));
        }
        if level == ReadLevel::Glance && self.strikes(self.scenario.rates.read_stale) {
            let behind = self.random.index(HEADS_BEHIND_MAX);
            if let Some(past) = self.ledger.past_heads.iter().rev().nth(behind).cloned() {
                self.count(Seen::ReadStale);
                return Ok(past);
            }
        }
        let mut rows = self.ledger.store.read_now(slice);
        rows.server_ms = Some(server_ms(self.now) + self.scenario.server_skew_ms);
        Ok(rows)
    }

    /// A run asks what is there of the ledger.
    pub(crate) fn inspect(&mut self, run: usize, to: &Answering<Result<LedgerTable, StoreError>>) {
        let arrives = self.latency();
        if self.strikes(self.scenario.rates.read_lost) {
            self.count(Seen::ReadLost);
            self.give_up(run, arrives, to);
            return;
        }
        let to = to.clone();
        self.after(arrives, move |world| {
            let table = if world.ledger.exists { LedgerTable::Ready } else { LedgerTable::TableMissing };
            to.answer(Ok(table));
        });
    }

    /// A run creates the ledger.
    pub(crate) fn create(&mut self, to: &Answering<Result<(), CreateError>>) {
        let arrives = self.latency();
        let lost = self.strikes(self.scenario.rates.statement_lost);
        let to = to.clone();
        self.after(arrives, move |world| {
            if !world.ledger.exists {
                world.count(Seen::LedgerCreated);
                world.note(|_| "the ledger's table is created".to_owned());
            }
            world.ledger.exists = true;
            to.answer(if lost {
                Err(CreateError::Store(StoreError::Unknown(cause("no answer"))))
            } else {
                Ok(())
            });
        });
    }

    /// Schedules when the quorum is lost.
    pub(crate) fn plan_quorum(&mut self, end: Nanos) {
        if !self.random.per_mille(self.scenario.rates.quorum) {
            return;
        }
        for _ in 0..self.random.between(1, 3) {
            let from = self.random.below(end);
            let until = (from + self.random.below(12 * SECOND)).min(end);
            self.at(from, Event::World(Box::new(|world| world.set_quorum(false))));
            self.at(until, Event::World(Box::new(|world| world.set_quorum(true))));
        }
    }

    pub(crate) fn set_quorum(&mut self, there: bool) {
        if !there && self.faults {
            self.count(Seen::QuorumLost);
        }
        self.ledger.quorum = there || !self.faults;
        self.note(|_| format!("the quorum is {}", if there { "there" } else { "lost" }));
    }
}

/// What a write says, for the schedule.
fn events_of(transaction: &Transaction) -> String {
    let event = transaction.mutations.iter().rev().find_map(|mutation| match mutation {
        Mutation::Put(_, cells) => cells.text("event"),
        Mutation::Delete(_) | Mutation::DeleteSteps(_) => None,
    });
    event.map_or_else(
        || "[renewal or checkpoint]".to_owned(),
        |text| format!("[{}]", text.replace('\n', ", ")),
    )
}
