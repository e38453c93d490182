//! Creates the ledger's table, from a hundred instances at once if need be.
//!
//! Conditional writes cannot protect the table that they need. So all instances create it with the same id and the same
//! text: before transactional cluster metadata, creations that race merge then, instead of making two tables of which
//! one loses its rows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use scylla::cluster::Node;
use scylla::errors::ExecutionError;
use scylla::statement::Consistency;
use thiserror::Error;
use uuid::{Uuid, Version};

use super::definition::{FoundColumn, LedgerName, difference};
use super::{CreateError, LedgerTable};
use crate::cql::literal;
use crate::driver::{Database, Grid, Outcome, Request, agree, is_refusal_of_id, pin};
use crate::port::StoreError;

/// While a creation runs, a node can show a table without all its columns.
const LOOKS_MAX: u32 = 4;
const LOOK_PAUSE: Duration = Duration::from_millis(150);

/// Between two attempts to create it.
const RETRY_PAUSE: Duration = Duration::from_millis(100);
/// A creation that a server refuses is refused for good, unless a node had not heard of the keyspace.
const REFUSALS_MAX: u32 = 3;

#[derive(Debug, Error)]
#[error("keyspace {0} does not exist")]
struct NoKeyspace(String);

/// What a node's `system_schema` has of the ledger.
enum Look {
    NoKeyspace,
    NoTable { id: Uuid },
    Table { id: Uuid, difference: Option<String> },
}

/// What is there of the ledger.
pub(crate) async fn inspect(
    database: &Database,
    ledger: &LedgerName,
    timeout: Duration,
) -> Result<LedgerTable, StoreError> {
    Ok(match settled_look(database, ledger, timeout).await? {
        Look::NoKeyspace => LedgerTable::KeyspaceMissing,
        Look::NoTable { .. } => LedgerTable::TableMissing,
        Look::Table { difference: None, .. } => LedgerTable::Ready,
        Look::Table { difference: Some(difference), .. } => {
            LedgerTable::OtherShape(other_shape(ledger, &difference))
        }
    })
}

/// Whether there is such a keyspace, as one node has it.
pub(crate) async fn has_keyspace(
    database: &Database,
    keyspace: &str,
    timeout: Duration,
) -> Result<bool, StoreError> {
    let name = literal(keyspace);
    let text = format!("SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = {name}");
    Ok(read(database, text, None, timeout).await?.0.first().is_some())
}

/// Creates the table unless it is there, and returns once all nodes agree on it.
pub(crate) async fn create(
    database: &Arc<Database>,
    ledger: &LedgerName,
    request_timeout: Duration,
    timeout: Duration,
) -> Result<(), CreateError> {
    let deadline = Instant::now() + timeout;
    let mut creation = Creation { database, ledger, request_timeout, refusals: 0, sent: None };
    loop {
        let error = match creation.attempt(deadline).await {
            Ok(()) => return Ok(()),
            Err(Failure::Final(error)) => return Err(error),
            Err(Failure::Passing(error)) => error,
        };
        if Instant::now() + RETRY_PAUSE >= deadline {
            return Err(error.into());
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

struct Creation<'a> {
    database: &'a Arc<Database>,
    ledger: &'a LedgerName,
    request_timeout: Duration,
    refusals: u32,
    sent: Option<Uuid>,
}

enum Failure {
    /// Another look may find it made by another instance.
    Passing(StoreError),
    Final(CreateError),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unauthorized(_) => Self::Final(error.into()),
            _ => Self::Passing(error),
        }
    }
}

impl Creation<'_> {
    async fn attempt(&mut self, deadline: Instant) -> Result<(), Failure> {
        let id = match self.look().await? {
            Look::NoKeyspace => {
                self.sent = None;
                return Err(Failure::Passing(self.no_keyspace()));
            }
            Look::NoTable { id } => id,
            table @ Look::Table { .. } => {
                self.agree(deadline).await?;
                return self.judge(&table);
            }
        };
        let sent = self.send(id, deadline).await;
        // Also after an error, and after a server that found the table there: another instance's may be on its way.
        self.agree(deadline).await?;
        match (self.look().await?, sent) {
            (table @ Look::Table { .. }, _) => self.judge(&table),
            (Look::NoTable { .. } | Look::NoKeyspace, Err(error)) => Err(self.refused(error)),
            (Look::NoTable { .. } | Look::NoKeyspace, Ok(())) => Err(Failure::Passing(self.no_keyspace())),
        }
    }

    async fn send(&mut self, id: Uuid, deadline: Instant) -> Result<(), ExecutionError> {
        let left = deadline.saturating_duration_since(Instant::now());
        // Every schema statement in the keyspace renews the write time that the id comes from; a statement of ours that
        // lands late must meet its own id.
        let id = *self.sent.get_or_insert(id);
        let text = self.ledger.create_statement(Some(id));
        let statement = self.database.statement(text, Consistency::Quorum, left.min(self.request_timeout));
        self.database.send_schema(statement).await
    }

    async fn agree(&self, deadline: Instant) -> Result<(), Failure> {
        let left = deadline.saturating_duration_since(Instant::now());
        let agreed = agree(self.database, left).await;
        agreed.map(drop).map_err(|error| Failure::Final(CreateError::NoAgreement(error.waited)))
    }

    async fn look(&self) -> Result<Look, StoreError> {
        settled_look(self.database, self.ledger, self.request_timeout).await
    }

    /// A table that was there before our own statement is one that was made ahead of time, whatever its id. One that
    /// came after it and has an id that no instance asks for means that ids do not count here: what was raced may be
    /// two tables.
    fn judge(&self, table: &Look) -> Result<(), Failure> {
        let Look::Table { id, difference } = table else { return Ok(()) };
        match difference {
            Some(difference) => {
                Err(Failure::Final(CreateError::OtherShape(other_shape(self.ledger, difference))))
            }
            None if self.sent.is_some_and(|sent| sent != *id) && !is_asked_for(*id) => {
                Err(Failure::Final(CreateError::IdRefused { statement: self.ledger.create_statement(None) }))
            }
            None => Ok(()),
        }
    }

    fn refused(&mut self, error: ExecutionError) -> Failure {
        let outcome = Outcome::of(&error, Request::Write);
        self.refusals += u32::from(matches!(outcome, Outcome::Refused | Outcome::Invalid));
        of_refusal(error, self.refusals, self.ledger)
    }

    fn no_keyspace(&self) -> StoreError {
        StoreError::Invalid(Arc::new(NoKeyspace(self.ledger.keyspace.clone())))
    }
}

/// What an error of the creation means, where no table came of it, and so many were refused by now.
fn of_refusal(error: ExecutionError, refusals: u32, ledger: &LedgerName) -> Failure {
    if is_refusal_of_id(&error) {
        return Failure::Final(CreateError::IdRefused { statement: ledger.create_statement(None) });
    }
    let error = StoreError::from_execution(error, Request::Write);
    if refusals >= REFUSALS_MAX { Failure::Final(error.into()) } else { Failure::from(error) }
}

/// Whether an instance asked for this id, one that saw another write time of the keyspace. The ids that servers make up
/// are not of this version.
fn is_asked_for(id: Uuid) -> bool {
    id.get_version() == Some(Version::Sha1)
}

fn other_shape(ledger: &LedgerName, difference: &str) -> String {
    format!("table {} is not a ledger of kandra-migrate: {difference}", ledger.qualified())
}

/// Looks again where a table has another shape, since that may be one that is just being made.
async fn settled_look(
    database: &Database,
    ledger: &LedgerName,
    timeout: Duration,
) -> Result<Look, StoreError> {
    for _ in 1..LOOKS_MAX {
        match look(database, ledger, timeout).await? {
            Look::Table { difference: Some(_), .. } => tokio::time::sleep(LOOK_PAUSE).await,
            settled => return Ok(settled),
        }
    }
    look(database, ledger, timeout).await
}

/// Asks one node: `system_schema` is each node's own.
async fn look(database: &Database, ledger: &LedgerName, timeout: Duration) -> Result<Look, StoreError> {
    let keyspace = format!("keyspace_name = {}", literal(&ledger.keyspace));
    let table = format!("{keyspace} AND table_name = {}", literal(&ledger.table));
    let text = format!(
        "SELECT keyspace_name, writetime(durable_writes) AS written_us FROM system_schema.keyspaces WHERE {keyspace}"
    );
    let (grid, node) = read(database, text, None, timeout).await?;
    let Some(row) = grid.first() else { return Ok(Look::NoKeyspace) };
    // No write time: a server whose metadata is transactional has no creations that race.
    let id = ledger.id(row.int("written_us").unwrap_or_default());

    let text = format!("SELECT id FROM system_schema.tables WHERE {table}");
    let (grid, node) = read(database, text, Some(node), timeout).await?;
    let Some(id_there) = grid.first().and_then(|row| row.uuid("id")) else { return Ok(Look::NoTable { id }) };

    let text = format!(
        "SELECT column_name, kind, position, type, clustering_order FROM system_schema.columns WHERE {table}"
    );
    let (grid, _) = read(database, text, Some(node), timeout).await?;
    Ok(Look::Table { id: id_there, difference: difference(&columns(&grid)) })
}

fn columns(grid: &Grid) -> Vec<FoundColumn> {
    let columns = grid.rows().map(|row| {
        let text = |name| row.text(name).unwrap_or_default().to_owned();
        FoundColumn {
            name: text("column_name"),
            kind: text("kind"),
            position: row.int("position").unwrap_or_default(),
            cql_type: text("type"),
            order: text("clustering_order"),
        }
    });
    columns.collect()
}

async fn read(
    database: &Database,
    text: String,
    node: Option<Arc<Node>>,
    timeout: Duration,
) -> Result<(Grid, Arc<Node>), StoreError> {
    let mut statement = database.statement(text, Consistency::One, timeout);
    if let Some(node) = &node {
        pin(&mut statement, node);
    }
    let result =
        database.send(statement).await.map_err(|error| StoreError::from_execution(error, Request::Read))?;
    let node = result.request_coordinator().node().clone();
    let grid = Grid::from_result(result).map_err(|error| StoreError::from_answer(error, Request::Read))?;
    Ok((grid, node))
}

#[cfg(test)]
mod tests {
    use scylla::errors::{DbError, RequestAttemptError};

    use super::*;

    fn ledger() -> LedgerName {
        LedgerName { keyspace: "shop".to_owned(), table: "kandra_migrations".to_owned() }
    }

    fn refusal(kind: DbError, message: &str) -> ExecutionError {
        ExecutionError::LastAttemptError(RequestAttemptError::DbError(kind, message.to_owned()))
    }

    #[test]
    fn a_server_that_refuses_ids_in_words_is_told_from_one_that_refuses_the_table() {
        for (kind, message) in [
            (DbError::SyntaxError, "Unknown property 'ID'"),
            (DbError::ConfigError, "Unknown property 'id'"),
            (DbError::Invalid, "Unknown property: id"),
        ] {
            let Failure::Final(CreateError::IdRefused { statement }) =
                of_refusal(refusal(kind, message), 1, &ledger())
            else {
                panic!("{message}: it is refused for its id")
            };
            assert!(!statement.contains("ID ="), "it can be sent ahead of time: {statement}");
        }
        let other = || refusal(DbError::Invalid, "Keyspace 'shop' does not exist");
        assert!(matches!(of_refusal(other(), 1, &ledger()), Failure::Passing(_)));
        assert!(matches!(
            of_refusal(other(), REFUSALS_MAX, &ledger()),
            Failure::Final(CreateError::Store(StoreError::Invalid(_)))
        ));
    }
}
