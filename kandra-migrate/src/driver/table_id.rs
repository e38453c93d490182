//! Ids for the tables and views that plans create.
//!
//! Before transactional metadata, a schema statement in a stopped coordinator lands when its process goes on, minutes
//! later, and a CREATE TABLE that lands late *replaces* the table that was made elsewhere meanwhile: all its rows are
//! lost (seen in 4 of 5 runs on Cassandra 5.0.9; with the same id on both, in none of 4).

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use scylla::errors::{DbError, ExecutionError, RequestAttemptError};
use scylla::statement::Consistency;
use tokio::sync::OnceCell;
use uuid::Uuid;

use super::{Database, Grid};
use crate::cql;
use crate::store::literal;

const NAMESPACE: Uuid = Uuid::from_u128(0x0f2c_1a7e_94d3_4b58_8a36_52c1_7d0e_f9b4);

/// What is known of ids in one keyspace.
#[derive(Debug)]
pub(crate) struct TableIds {
    is_on: AtomicBool,
    /// When the keyspace was made: another one for the same name after a DROP.
    incarnation: OnceCell<Option<i64>>,
}

impl TableIds {
    pub(crate) fn new(is_on: bool) -> Self {
        Self { is_on: AtomicBool::new(is_on), incarnation: OnceCell::new() }
    }

    /// The statement with an id, if it creates a table or a view and servers take ids.
    pub(crate) async fn add_to(
        &self,
        text: &str,
        seed: &str,
        database: &Database,
        keyspace: &str,
        timeout: Duration,
    ) -> Option<String> {
        if !self.is_on.load(SeqCst) {
            return None;
        }
        let statement = cql::one(text).ok()?;
        let incarnation = self.incarnation.get_or_init(|| incarnation(database, keyspace, timeout)).await;
        let name = format!("{keyspace}\0{}\0{seed}", (*incarnation)?);
        let id = Uuid::new_v5(&NAMESPACE, name.as_bytes());
        statement.with_id(&id.to_string()).map(|statement| statement.text().to_owned())
    }

    /// Whether the server refused the statement for its id. Then the next ones go without.
    pub(crate) fn refused_by(&self, error: &ExecutionError) -> bool {
        let ExecutionError::LastAttemptError(RequestAttemptError::DbError(kind, message)) = error else {
            return false;
        };
        let about_id = message.to_ascii_lowercase().contains("property 'id'")
            || message.to_ascii_lowercase().contains("unknown property: id");
        let refused =
            matches!(kind, DbError::SyntaxError | DbError::ConfigError | DbError::Invalid) && about_id;
        if refused {
            tracing::warn!(
                message,
                "the server takes no table ids: a CREATE TABLE that lands late would replace the table and its rows"
            );
            self.is_on.store(false, SeqCst);
        }
        refused
    }
}

/// `None` where it cannot be told; then no ids are given.
async fn incarnation(database: &Database, keyspace: &str, timeout: Duration) -> Option<i64> {
    let text = format!(
        "SELECT writetime(durable_writes) AS written_us FROM system_schema.keyspaces WHERE keyspace_name = {}",
        literal::text(keyspace)
    );
    let result = database.send(database.statement(text, Consistency::One, timeout)).await.ok()?;
    // No write time: a server whose metadata is transactional, where nothing lands late.
    Grid::from_result(result).ok()?.first()?.int("written_us")
}
