//! The ledger in its table.

use std::sync::Arc;
use std::time::Duration;

use scylla::client::session::Session;
use scylla::statement::{Consistency, SerialConsistency};

use super::definition::LedgerName;
use super::elsewhere::Search;
use super::render::Partition;
use super::{Answer, CreateError, LedgerTable, ReadLevel, Rows, Slice, Store, answer, bootstrap};
use crate::cql::quote;
use crate::driver::{Database, Grid, Request, agree};
use crate::ledger::Transaction;
use crate::port::StoreError;

/// Where a ledger is and how it is asked.
#[derive(Debug, Clone)]
pub(crate) struct StoreSettings {
    /// The keyspace that has the ledger's table.
    pub(crate) ledger_keyspace: String,
    /// The table.
    pub(crate) table: String,
    /// The keyspace that is migrated.
    pub(crate) keyspace: String,
    /// The scope: one lease and one history.
    pub(crate) scope: String,
    /// `SERIAL`, or `LOCAL_SERIAL` where all instances are in one data centre; the quorums are local ones then.
    pub(crate) serial: SerialConsistency,
    /// When an answer counts as lost. Must be above the server's own timeouts.
    pub(crate) request_timeout: Duration,
}

/// The ledger in its table.
#[derive(Debug)]
pub(crate) struct CqlStore {
    database: Arc<Database>,
    ledger: LedgerName,
    partition: Partition,
    keyspace: String,
    scope: String,
    request_timeout: Duration,
}

impl CqlStore {
    pub(crate) fn new(session: Arc<Session>, settings: StoreSettings) -> Self {
        let ledger = LedgerName { keyspace: settings.ledger_keyspace, table: settings.table };
        Self {
            database: Arc::new(Database::new(session, settings.serial)),
            partition: Partition::new(&ledger, &settings.keyspace, &settings.scope),
            ledger,
            keyspace: settings.keyspace,
            scope: settings.scope,
            request_timeout: settings.request_timeout,
        }
    }

    /// The session behind it, for the executor of the same run.
    pub(crate) fn database(&self) -> &Arc<Database> {
        &self.database
    }

    async fn send(
        &self,
        text: String,
        consistency: Consistency,
        request: Request,
    ) -> Result<Grid, StoreError> {
        let statement = self.database.statement(text, consistency, self.request_timeout);
        let result = self.database.send(statement).await;
        let result = result.map_err(|error| StoreError::from_execution(error, request))?;
        Grid::from_result(result).map_err(|error| StoreError::from_answer(error, request))
    }

    fn is_in_migrated_keyspace(&self) -> bool {
        self.ledger.keyspace == self.keyspace
    }

    fn consistency(&self, level: ReadLevel) -> Consistency {
        match (level, self.database.serial()) {
            (ReadLevel::Glance, _) => Consistency::LocalQuorum,
            (ReadLevel::Quorum, _) => self.database.quorum(),
            (ReadLevel::Serial, SerialConsistency::Serial) => Consistency::Serial,
            (ReadLevel::Serial, SerialConsistency::LocalSerial) => Consistency::LocalSerial,
        }
    }
}

impl Store for CqlStore {
    async fn read(&self, slice: Slice, level: ReadLevel) -> Result<Rows, StoreError> {
        let grid = self.send(self.partition.select(slice), self.consistency(level), Request::Read).await?;
        // A table whose columns have other types: to be inspected, as one that lacks them.
        answer::rows(&grid, slice).map_err(|error| StoreError::Invalid(Arc::new(error)))
    }

    async fn apply(&self, transaction: &Transaction) -> Result<Answer, StoreError> {
        let request = Request::Conditional;
        let grid = self.send(self.partition.apply(transaction), self.database.quorum(), request).await?;
        answer::answer(&grid, &self.scope).map_err(|error| StoreError::from_answer(error, request))
    }

    async fn inspect(&self) -> Result<LedgerTable, StoreError> {
        let found = bootstrap::inspect(&self.database, &self.ledger, self.request_timeout).await?;
        Ok(match found {
            LedgerTable::KeyspaceMissing if !self.is_in_migrated_keyspace() => {
                LedgerTable::LedgerKeyspaceMissing(self.ledger.keyspace.clone())
            }
            found => found,
        })
    }

    async fn create(&self, timeout: Duration) -> Result<(), CreateError> {
        bootstrap::create(&self.database, &self.ledger, self.request_timeout, timeout).await
    }

    async fn has_keyspace(&self) -> Result<bool, StoreError> {
        if self.is_in_migrated_keyspace() {
            return Ok(true);
        }
        bootstrap::has_keyspace(&self.database, &self.keyspace, self.request_timeout).await
    }

    async fn elsewhere(&self) -> Result<Option<String>, StoreError> {
        let search = Search {
            database: &self.database,
            ledger: &self.ledger,
            keyspace: &self.keyspace,
            scope: &self.scope,
            request_timeout: self.request_timeout,
        };
        search.find().await
    }

    async fn create_keyspace(&self, replication: &str, timeout: Duration) -> Result<(), CreateError> {
        let keyspace = quote(&self.keyspace);
        let text = format!("CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = {replication}");
        let statement = self.database.statement(text, self.database.quorum(), self.request_timeout);
        if let Err(error) = self.database.send_schema(statement).await {
            return Err(StoreError::from_execution(error, Request::Write).into());
        }
        let agreed = agree(&self.database, timeout).await;
        agreed.map(drop).map_err(|error| CreateError::NoAgreement(error.waited))
    }
}
