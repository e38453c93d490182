//! Other tables of the cluster that have the history of the same keyspace.

use std::time::Duration;

use scylla::statement::Consistency;

use super::Slice;
use super::definition::LedgerName;
use super::render::Partition;
use crate::driver::{Database, Grid, Request};
use crate::port::StoreError;

/// Most ledgers that are looked into, so that a cluster with thousands of keyspaces is not read for minutes.
const LEDGERS_MAX: usize = 256;

/// Whose history is looked for, and where it is not.
pub(super) struct Search<'a> {
    pub(super) database: &'a Database,
    pub(super) ledger: &'a LedgerName,
    pub(super) keyspace: &'a str,
    pub(super) scope: &'a str,
    pub(super) request_timeout: Duration,
}

impl Search<'_> {
    /// The keyspace of the table that has it. Tables that the session's user may not read are left out; and where the keyspace has
    /// nothing in it, nothing can be applied a second time.
    pub(super) async fn find(&self) -> Result<Option<String>, StoreError> {
        let tables = "SELECT keyspace_name, table_name FROM system_schema.tables";
        let tables = self.read(tables.to_owned(), Consistency::One).await?;
        let (is_empty, ledgers) = self.candidates(&tables);
        if is_empty {
            return Ok(None);
        }
        if ledgers.len() > LEDGERS_MAX {
            tracing::warn!(
                ledgers = ledgers.len(),
                looked_into = LEDGERS_MAX,
                "there are too many ledgers to look into each for the history of this keyspace"
            );
        }
        for ledger in ledgers.into_iter().take(LEDGERS_MAX) {
            let head = Partition::new(&ledger, self.keyspace, self.scope).select(Slice::Frontier);
            match self.read(head, self.database.quorum()).await {
                Ok(grid) if grid.first().is_some() => return Ok(Some(ledger.keyspace)),
                // One that may not be read, is no ledger, or was dropped just now.
                Ok(_)
                | Err(StoreError::Unauthorized(_) | StoreError::Invalid(_) | StoreError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Whether the keyspace has no table besides this ledger; and the other ledgers, that in the keyspace itself first.
    fn candidates(&self, tables: &Grid) -> (bool, Vec<LedgerName>) {
        let mut is_empty = true;
        let mut ledgers = Vec::new();
        for row in tables.rows() {
            let (Some(keyspace), Some(table)) = (row.text("keyspace_name"), row.text("table_name")) else {
                continue;
            };
            let name = LedgerName { keyspace: keyspace.to_owned(), table: table.to_owned() };
            if name == *self.ledger {
                continue;
            }
            is_empty &= keyspace != self.keyspace;
            if table == self.ledger.table {
                ledgers.push(name);
            }
        }
        ledgers.sort_by_key(|ledger| ledger.keyspace != self.keyspace);
        (is_empty, ledgers)
    }

    async fn read(&self, text: String, consistency: Consistency) -> Result<Grid, StoreError> {
        let statement = self.database.statement(text, consistency, self.request_timeout);
        let result = self.database.send(statement).await;
        let result = result.map_err(|error| StoreError::from_execution(error, Request::Read))?;
        Grid::from_result(result).map_err(|error| StoreError::from_answer(error, Request::Read))
    }
}
