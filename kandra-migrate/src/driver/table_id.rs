//! Ids for the tables and views that plans create.
//!
//! Before transactional metadata, a schema statement in a stopped coordinator lands when its process goes on, minutes
//! later, and a CREATE TABLE that lands late *replaces* the table that was made elsewhere meanwhile: all its rows are
//! lost (seen in 4 of 5 runs on Cassandra 5.0.9; with the same id on both, in none of 4).

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use scylla::errors::{DbError, ExecutionError, RequestAttemptError};
use uuid::Uuid;

use crate::cql;

const NAMESPACE: Uuid = Uuid::from_u128(0x0f2c_1a7e_94d3_4b58_8a36_52c1_7d0e_f9b4);

/// Whether servers take ids.
#[derive(Debug)]
pub(crate) struct TableIds(AtomicBool);

impl TableIds {
    pub(crate) fn new(are_on: bool) -> Self {
        Self(AtomicBool::new(are_on))
    }

    /// The statement with an id, if it creates a table or a view and servers take ids.
    ///
    /// The seed has to be of one claim of one ledger. The write time of the keyspace's row in `system_schema` would not
    /// do: each schema statement in the keyspace moves it (seen on 5.0.9).
    pub(crate) fn add_to(&self, text: &str, keyspace: &str, seed: &str) -> Option<String> {
        if !self.0.load(SeqCst) {
            return None;
        }
        let id = Uuid::new_v5(&NAMESPACE, format!("{keyspace}\0{seed}").as_bytes());
        cql::one(text).ok()?.with_id(&id.to_string()).map(|statement| statement.text().to_owned())
    }

    /// Whether the server refused the statement for its id. Then the next ones go without.
    pub(crate) fn refused_by(&self, error: &ExecutionError) -> bool {
        let refused = is_refusal_of_id(error);
        if refused {
            tracing::warn!(
                %error,
                "the server takes no table ids: a CREATE TABLE that lands late would replace the table and its rows"
            );
            self.0.store(false, SeqCst);
        }
        refused
    }
}

/// Whether a server refused a statement for the id in it.
pub(crate) fn is_refusal_of_id(error: &ExecutionError) -> bool {
    let ExecutionError::LastAttemptError(RequestAttemptError::DbError(kind, message)) = error else {
        return false;
    };
    let message = message.to_ascii_lowercase();
    let is_about_id = message.contains("property 'id'") || message.contains("unknown property: id");
    is_about_id && matches!(kind, DbError::SyntaxError | DbError::ConfigError | DbError::Invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATE: &str = "CREATE TABLE shop.users (id int PRIMARY KEY)";

    #[test]
    fn attempts_of_one_claim_have_one_id_and_another_claim_has_another() {
        let ids = TableIds::new(true);
        let first = ids.add_to(CREATE, "shop", "users 1 0 1 1000").unwrap();
        assert!(first.starts_with("CREATE TABLE shop.users (id int PRIMARY KEY) WITH ID = "), "{first}");
        assert_eq!(ids.add_to(CREATE, "shop", "users 1 0 1 1000").unwrap(), first);
        assert_ne!(ids.add_to(CREATE, "shop", "users 1 0 2 2000").unwrap(), first);
        assert_eq!(ids.add_to("DROP TABLE shop.users", "shop", "users 1 0 1 1000"), None);
    }

    #[test]
    fn a_server_that_refuses_an_id_is_not_asked_again() {
        let ids = TableIds::new(true);
        let error = |kind, message: &str| {
            ExecutionError::LastAttemptError(RequestAttemptError::DbError(kind, message.to_owned()))
        };
        assert!(!ids.refused_by(&error(DbError::Invalid, "Table users already exists")));
        assert!(ids.add_to(CREATE, "shop", "s").is_some());
        assert!(ids.refused_by(&error(DbError::SyntaxError, "Unknown property 'id'")));
        assert_eq!(ids.add_to(CREATE, "shop", "s"), None);
    }
}
