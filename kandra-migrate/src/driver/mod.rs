//! The `scylla` driver, used so that nothing is sent twice and the caller's session stays as it is.

mod advice;
mod agreement;
mod answered;
mod coordinator;
mod drain;
mod grid;
mod node;
mod outcome;
mod table_id;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use scylla::client::session::Session;
use scylla::cluster::Node;
use scylla::errors::ExecutionError;
use scylla::policies::load_balancing::{NodeIdentifier, SingleTargetLoadBalancingPolicy};
use scylla::policies::retry::{FallthroughRetryPolicy, RetryPolicy};
use scylla::response::query_result::QueryResult;
use scylla::statement::unprepared::Statement;
use scylla::statement::{Consistency, SerialConsistency};
use uuid::Uuid;

use crate::boxed::{BoxFuture, boxed};

pub(crate) use advice::advice;
pub(crate) use agreement::agree;
pub(crate) use answered::Answered;
pub(crate) use drain::drain;
pub(crate) use grid::{Grid, Record, UnexpectedAnswer};
pub(crate) use node::{Knock, knock, socket_address};
pub(crate) use outcome::{Outcome, Request, is_from_server};
pub(crate) use table_id::{TableIds, is_refusal_of_id};

/// The caller's session. Every statement says by itself how it is to be sent, so that no profile of the session
/// decides: once, at this consistency, within this time.
pub(crate) struct Database {
    session: Arc<Session>,
    serial: SerialConsistency,
    no_retry: Arc<dyn RetryPolicy>,
    local_datacenter: OnceLock<Option<String>>,
}

impl Database {
    pub(crate) fn new(session: Arc<Session>, serial: SerialConsistency) -> Self {
        Self {
            session,
            serial,
            no_retry: Arc::new(FallthroughRetryPolicy::new()),
            local_datacenter: OnceLock::new(),
        }
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    pub(crate) fn serial(&self) -> SerialConsistency {
        self.serial
    }

    /// The level at which a conditional write commits, and at which what it wrote is seen.
    pub(crate) fn quorum(&self) -> Consistency {
        match self.serial {
            SerialConsistency::Serial => Consistency::Quorum,
            SerialConsistency::LocalSerial => Consistency::LocalQuorum,
        }
    }

    /// A statement that is sent as text in one request, and only once.
    pub(crate) fn statement(
        &self,
        text: impl Into<String>,
        consistency: Consistency,
        timeout: Duration,
    ) -> Statement {
        let mut statement = Statement::new(text);
        statement.set_consistency(consistency);
        statement.set_serial_consistency(Some(self.serial));
        statement.set_request_timeout(Some(timeout));
        statement.set_retry_policy(Some(self.no_retry.clone()));
        // Speculative executions are for idempotent statements only.
        statement.set_is_idempotent(false);
        statement
    }

    /// Sends a statement and returns once it is answered.
    pub(crate) async fn send(&self, statement: Statement) -> Result<QueryResult, ExecutionError> {
        let pinned = statement.get_load_balancing_policy().is_some();
        let result = self.query(statement).await?;
        if !pinned {
            self.local_datacenter.get_or_init(|| result.request_coordinator().node().datacenter.clone());
        }
        Ok(result)
    }

    /// Sends a schema statement and returns once it is answered: agreement is awaited apart from it, within a time.
    pub(crate) async fn send_schema(&self, statement: Statement) -> Result<(), ExecutionError> {
        Answered::first(statement, |statement| self.query(statement)).await
    }

    fn query(&self, statement: Statement) -> BoxFuture<'_, Result<QueryResult, ExecutionError>> {
        boxed(self.session.query_unpaged(statement, ()))
    }

    /// The data centre that the session's own choice of nodes prefers, once a statement was answered.
    pub(crate) fn local_datacenter(&self) -> Option<&str> {
        self.local_datacenter.get()?.as_deref()
    }

    /// The node with this id, where the session knows it.
    pub(crate) fn node(&self, host_id: Uuid) -> Option<Arc<Node>> {
        self.session.get_cluster_state().get_node_by_host_id(host_id).cloned()
    }

    /// The nodes that the session talks to, or would if they were up.
    pub(crate) fn nodes(&self) -> Vec<Arc<Node>> {
        let state = self.session.get_cluster_state();
        state.get_nodes_info().iter().filter(|node| node.is_enabled()).cloned().collect()
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("serial", &self.serial).finish_non_exhaustive()
    }
}

/// Makes a statement go to this node and to no other.
pub(crate) fn pin(statement: &mut Statement, node: &Arc<Node>) {
    let target = NodeIdentifier::Node(node.clone());
    statement.set_load_balancing_policy(Some(SingleTargetLoadBalancingPolicy::new(target, None)));
}
