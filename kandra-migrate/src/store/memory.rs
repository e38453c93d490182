//! A store in memory: linearizable, with the answers of the real one. For tests and the simulator.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Answer, CreateError, LedgerTable, ReadLevel, Rows, Slice, Store, Tokens};
use crate::ledger::{Cells, Key, Kind, Mutation, Transaction, Value};
use crate::port::StoreError;

/// A ledger in memory.
///
/// Every statement takes effect at one moment, as a linearizable database's does. Write times are whole milliseconds of
/// the server's clock, as ballots are; that clock stands still until it is set.
#[derive(Debug, Default)]
pub struct MemoryStore {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    rows: BTreeMap<Key, BTreeMap<&'static str, Cell>>,
    /// The last ballot: each is larger than the one before, and no smaller than the server's clock.
    ballot_ms: i64,
    server_ms: i64,
}

#[derive(Debug, Clone)]
struct Cell {
    value: Value,
    written_us: i64,
}

impl MemoryStore {
    /// An empty ledger.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the server's clock, in milliseconds since the epoch.
    pub fn set_server_ms(&self, server_ms: i64) {
        self.table().server_ms = server_ms;
    }

    /// All rows, as they are now.
    #[must_use]
    pub fn rows(&self) -> Vec<(Key, Cells)> {
        let table = self.table();
        table.rows.iter().map(|(key, row)| (*key, cells(*key, row))).collect()
    }

    /// Applies a write at this moment, if its condition holds. What [`Store::apply`] does, without a future.
    pub fn apply_now(&self, transaction: &Transaction) -> Answer {
        let mut table = self.table();
        let tokens = table.tokens();
        let condition = transaction.condition;
        let absent = condition.absent.is_none_or(|key| !table.rows.contains_key(&key));
        let applied = tokens == (Tokens { op: condition.op, cmd_op: condition.cmd_op }) && absent;
        if applied {
            table.ballot_ms = (table.ballot_ms + 1).max(table.server_ms);
            let written_us = table.ballot_ms * 1000;
            transaction.mutations.iter().for_each(|mutation| table.mutate(mutation, written_us));
        }
        let head = tokens.op.is_some() && !applied;
        Answer { applied, head: head.then_some(tokens) }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads at this moment. What [`Store::read`] does, without a future.
    pub fn read_now(&self, slice: Slice) -> Rows {
        let table = self.table();
        let wanted = |key: &Key| match slice {
            Slice::Frontier | Slice::Head => key.kind == Kind::Head,
            Slice::Versions => key.kind <= Kind::Version,
            Slice::StepsFrom(version) => key.kind == Kind::Step && key.version >= version,
            Slice::Events { .. } => key.kind == Kind::Event,
        };
        let mut rows: Vec<_> = table
            .rows
            .iter()
            .filter(|(key, _)| wanted(key))
            .map(|(key, row)| (*key, cells(*key, row)))
            .collect();
        if let Slice::Events { rows_max } = slice {
            let surplus = rows.len().saturating_sub(usize::try_from(rows_max).unwrap_or_default());
            rows.drain(..surplus);
        }
        let op_written_us =
            table.rows.get(&Key::HEAD).and_then(|row| row.get("op")).map(|cell| cell.written_us);
        Rows { server_ms: Some(table.server_ms.max(table.ballot_ms)), op_written_us, rows }
    }
}

impl Table {
    fn tokens(&self) -> Tokens {
        let uuid = |column| match self.rows.get(&Key::HEAD).and_then(|row| row.get(column)) {
            Some(Cell { value: Value::Uuid(uuid), .. }) => Some(*uuid),
            _ => None,
        };
        Tokens { op: uuid("op"), cmd_op: uuid("cmd_op") }
    }

    fn mutate(&mut self, mutation: &Mutation, written_us: i64) {
        match mutation {
            Mutation::Delete(key) => {
                self.rows.remove(key);
            }
            Mutation::DeleteSteps(version) => {
                self.rows.retain(|key, _| key.kind != Kind::Step || key.version != *version);
            }
            Mutation::Put(key, cells) => {
                let row = self.rows.entry(*key).or_default();
                for (column, value) in cells.iter() {
                    if *value == Value::Null {
                        row.remove(column);
                    } else {
                        row.insert(column, Cell { value: value.clone(), written_us });
                    }
                }
            }
        }
    }
}

fn cells(key: Key, row: &BTreeMap<&'static str, Cell>) -> Cells {
    let mut cells =
        row.iter().fold(Cells::new(), |cells, (column, cell)| cells.with(column, cell.value.clone()));
    let written = |column| row.get(column).map(|cell| cell.written_us);
    match key.kind {
        Kind::Version => cells.set("pin_ts", written("name")),
        Kind::Step => cells.set("written_us", written("state")),
        _ => {}
    }
    cells
}

impl Store for MemoryStore {
    async fn read(&self, slice: Slice, _level: ReadLevel) -> Result<Rows, StoreError> {
        Ok(self.read_now(slice))
    }

    async fn apply(&self, transaction: &Transaction) -> Result<Answer, StoreError> {
        Ok(self.apply_now(transaction))
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
