//! What the engine does to the database besides writing the ledger, through the driver.

mod panic;

use std::sync::Arc;
use std::time::Duration;

use scylla::cluster::Node;
use scylla::errors::ExecutionError;
use scylla::statement::Consistency;
use thiserror::Error;
use uuid::Uuid;

use crate::clock::SystemClock;
use crate::cql::{RoleChange, Variables};
use crate::driver::{Database, Outcome, Request, TableIds, advice, agree, drain, pin};
use crate::engine::{CodeRun, Executor, Send};
use crate::ledger::SchemaRecord;
use crate::port::{Agreed, BuildState, Coordinator, Drained, NoAgreement, SendError};
use crate::schema::building::{self, Target};
use crate::schema::shape::{KeyspaceSchema, RoleSight};
use crate::schema::{Effect, SchemaChange, load, probe, roles, script};
use crate::task::{ContextParts, TaskContext, TaskResult};

/// How statements are sent.
#[derive(Debug, Clone)]
pub(crate) struct ExecutorSettings {
    /// The keyspace that is migrated.
    pub(crate) keyspace: String,
    /// The one that has the ledger.
    pub(crate) ledger_keyspace: String,
    /// Of code tasks' statements.
    pub(crate) variables: Variables,
    /// Of the statements of a plan and of its code tasks.
    pub(crate) consistency: Consistency,
    /// When the outcome of a code task's statement counts as unknown, and a read of `system_schema` as lost.
    pub(crate) statement_timeout: Duration,
    /// Whether tables and views are created with ids of ours.
    pub(crate) table_ids: bool,
    /// Spreads the schema statements of many runs over the nodes.
    pub(crate) nonce: Uuid,
}

/// The database that is migrated.
#[derive(Debug)]
pub(crate) struct CqlExecutor {
    database: Arc<Database>,
    clock: Arc<SystemClock>,
    settings: ExecutorSettings,
    ids: TableIds,
}

#[derive(Debug, Error)]
#[error("node {0}, which has to coordinate the statement, is not known to the session")]
struct UnknownNode(String);

impl CqlExecutor {
    /// With the session of the run's store, and the clock that its lease goes by.
    pub(crate) fn new(database: Arc<Database>, clock: Arc<SystemClock>, settings: ExecutorSettings) -> Self {
        let ids = TableIds::new(settings.table_ids);
        Self { database, clock, settings, ids }
    }

    /// A statement with a write time of its own has no condition; another one may have.
    fn request(send: &Send<'_>) -> Request {
        if send.coordinator.is_some() || send.timestamp_us.is_some() {
            Request::Write
        } else {
            Request::Conditional
        }
    }

    async fn send_text(&self, text: &str, send: &Send<'_>) -> Result<Result<(), ExecutionError>, SendError> {
        let mut statement = self.database.statement(text, self.settings.consistency, send.timeout);
        statement.set_timestamp(send.timestamp_us);
        let Some(coordinator) = send.coordinator else {
            return Ok(self.database.send(statement).await.map(drop));
        };
        let unknown = || SendError::Passing(Arc::new(UnknownNode(coordinator.0.clone())));
        pin(&mut statement, &self.node(coordinator).ok_or_else(unknown)?);
        Ok(self.database.send_schema(statement).await)
    }

    /// An unqualified name is one of the session's keyspace, and that is the run's, or the plan is refused.
    fn keyspace_of(&self, change: &SchemaChange) -> String {
        change.keyspace().unwrap_or_else(|| self.settings.keyspace.clone())
    }

    /// A keyspace's schema, as the node has it that gets this run's schema statements.
    pub(crate) async fn schema_of(&self, keyspace: &str) -> Result<Option<KeyspaceSchema>, SendError> {
        let node = self.coordinator().and_then(|coordinator| self.node(&coordinator));
        // Eight reads at once are a large future.
        Box::pin(load::keyspace(&self.database, keyspace, node, self.settings.statement_timeout)).await
    }

    /// The role that a statement is about.
    pub(crate) async fn role_of(&self, change: &RoleChange) -> Result<RoleSight, SendError> {
        let Some(role) = change.role() else { return Ok(RoleSight::Hidden) };
        let node = self.coordinator().and_then(|coordinator| self.node(&coordinator));
        Box::pin(roles::role(&self.database, role, node, self.settings.statement_timeout)).await
    }

    fn node(&self, coordinator: &Coordinator) -> Option<Arc<Node>> {
        self.database.node(coordinator.host_id()?)
    }
}

impl Executor for CqlExecutor {
    /// The same one for a run as long as it is connected.
    fn coordinator(&self) -> Option<Coordinator> {
        let nodes = self.database.nodes();
        let connected = || nodes.iter().filter(|node| node.is_connected());
        let local = self.database.local_datacenter();
        let is_local = |node: &&Arc<Node>| local.is_none() || node.datacenter.as_deref() == local;
        let rank = |node: &&Arc<Node>| Uuid::new_v5(&self.settings.nonce, node.host_id.as_bytes());
        let node = connected().filter(is_local).min_by_key(rank).or_else(|| connected().min_by_key(rank))?;
        Some(Coordinator::of(node))
    }

    async fn send(&self, send: Send<'_>) -> Result<(), SendError> {
        let with_id = send.id_seed.and_then(|seed| self.ids.add_to(send.text, &self.settings.keyspace, seed));
        let request = Self::request(&send);
        if let Some(text) = with_id {
            match self.send_text(&text, &send).await? {
                Err(error) if self.ids.refused_by(&error) => {}
                result => return settled(result, request),
            }
        }
        settled(self.send_text(send.text, &send).await?, request)
    }

    async fn agree(&self, with: Option<&Coordinator>, timeout: Duration) -> Result<Agreed, NoAgreement> {
        let agreed = agree(&self.database, timeout).await?;
        let is_missing = |node: &Coordinator| !node.host_id().is_some_and(|id| agreed.contains(&id));
        Ok(if with.is_some_and(is_missing) { Agreed::WithoutIt } else { Agreed::All })
    }

    async fn drain(&self, coordinator: &Coordinator, timeout: Duration) -> Drained {
        drain(&self.database, coordinator, timeout).await
    }

    async fn probe(&self, change: &SchemaChange) -> Result<Effect, SendError> {
        if let SchemaChange::Role(role) = change {
            let sight = self.role_of(role).await?;
            return Ok(probe::observe_role(role, &sight, &self.settings.keyspace));
        }
        let schema = self.schema_of(&self.keyspace_of(change)).await?;
        Ok(probe::observe(change, schema.as_ref()))
    }

    async fn schema(&self) -> Result<Option<SchemaRecord>, SendError> {
        let schema = self.schema_of(&self.settings.keyspace).await?;
        Ok(schema.as_ref().map(script::record))
    }

    async fn built(&self, change: &SchemaChange) -> Result<BuildState, SendError> {
        let keyspace = self.keyspace_of(change);
        let target = match change {
            SchemaChange::CreateView(view) => Target::View(view.name.name.clone()),
            change => {
                let schema = self.schema_of(&keyspace).await?.unwrap_or_default();
                let Some(name) = probe::index_name(change, &schema) else { return Ok(BuildState::default()) };
                Target::Index(name)
            }
        };
        building::built(&self.database, &keyspace, &target).await
    }

    async fn advice(&self) -> Vec<String> {
        let ExecutorSettings { keyspace, ledger_keyspace, statement_timeout: timeout, .. } = &self.settings;
        let mut found = advice(&self.database, ledger_keyspace, *timeout).await;
        if keyspace != ledger_keyspace {
            found.extend(advice(&self.database, keyspace, *timeout).await);
        }
        found
    }

    async fn run(&self, task: CodeRun) -> TaskResult {
        let CodeRun { name: _, function, guard, timestamp_us, idempotent, attempt, checkpoint } = task;
        let context = TaskContext::new(ContextParts {
            database: self.database.clone(),
            clock: self.clock.clone(),
            guard,
            keyspace: self.settings.keyspace.clone(),
            variables: self.settings.variables.clone(),
            consistency: self.settings.consistency,
            statement_timeout: self.settings.statement_timeout,
            timestamp_us,
            idempotent,
            attempt,
            checkpoint,
        });
        panic::caught(async move { function.start(context).await }).await
    }
}

fn settled(result: Result<(), ExecutionError>, request: Request) -> Result<(), SendError> {
    result.or_else(|error| Outcome::of(&error, request).into_send_result(error))
}
