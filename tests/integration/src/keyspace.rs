//! A keyspace of a test's own.

use std::sync::Arc;
use std::time::Duration;

use cassandra::fresh_keyspace_name;
use kandra_migrate::{Registry, Runner};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::cluster::Node;
use scylla::deserialize::row::DeserializeRow;
use scylla::policies::load_balancing::{NodeIdentifier, SingleTargetLoadBalancingPolicy};
use scylla::statement::Consistency;
use scylla::statement::unprepared::Statement;
use scylla::value::Counter;

use crate::relay::Relay;
use crate::wait::eventually;

/// The lease of [`Keyspace::brief_runner`].
pub const LEASE: Duration = Duration::from_secs(12);
/// For the tests' own schema statements. A node that has missed one asks for it after a minute.
const SCHEMA_TIMEOUT: Duration = Duration::from_secs(150);
const HEARTBEAT: Duration = Duration::from_secs(2);
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(6);

/// A keyspace, and a session to reach it by.
#[derive(Clone, Debug)]
pub struct Keyspace {
    /// The session; it has no keyspace of its own.
    pub session: Arc<Session>,
    /// The name.
    pub name: String,
}

impl Keyspace {
    /// A new keyspace of the database to test with, on three nodes.
    pub async fn fresh(prefix: &str) -> Self {
        Self::through(connect().await, prefix, 3).await
    }

    /// So too, reached through a relay that sees what is sent.
    pub async fn behind_relay(prefix: &str) -> (Self, Relay) {
        let direct = Self::fresh(prefix).await;
        let relay = Relay::to(&direct.session).await;
        let session = relay.session().await;
        (Self { session, name: direct.name }, relay)
    }

    /// A new keyspace, made by this session.
    ///
    /// # Panics
    /// Where it cannot be made.
    pub async fn through(session: Arc<Session>, prefix: &str, copies: u8) -> Self {
        let keyspace = Self { session, name: fresh_keyspace_name(&format!("it_{prefix}")) };
        let replication = format!("{{'class': 'NetworkTopologyStrategy', 'replication_factor': {copies}}}");
        keyspace
            .execute(&format!("CREATE KEYSPACE {} WITH replication = {replication}", keyspace.name))
            .await;
        keyspace
    }

    /// The same keyspace, by another session.
    #[must_use]
    pub fn by(&self, session: Arc<Session>) -> Self {
        Self { session, name: self.name.clone() }
    }

    /// A runner that starts at once; all else by default, so that a busy machine does not look like a dead holder.
    pub fn runner<'r>(&self, registry: &'r Registry) -> Runner<'r> {
        Runner::new(Arc::clone(&self.session), registry).keyspace(&self.name).start_jitter(Duration::ZERO)
    }

    /// So too, with a short lease, so that the next one soon takes over.
    pub fn brief_runner<'r>(&self, registry: &'r Registry) -> Runner<'r> {
        self.runner(registry).lease(LEASE).heartbeat(HEARTBEAT).statement_timeout(STATEMENT_TIMEOUT)
    }

    /// Sends a statement with `ks.` for the keyspace, and waits until the nodes agree.
    ///
    /// # Panics
    /// Where it fails.
    pub async fn execute(&self, cql: &str) {
        let mut statement = Statement::new(self.text(cql));
        statement.set_request_timeout(Some(SCHEMA_TIMEOUT));
        let sent = self.session.query_unpaged(statement, ()).await;
        sent.unwrap_or_else(|error| panic!("{cql}: {error}"));
        self.session.await_schema_agreement().await.expect("schema agreement");
    }

    /// The rows of a `SELECT` with `ks.` for the keyspace.
    ///
    /// # Panics
    /// Where it fails.
    pub async fn rows<T>(&self, cql: &str) -> Vec<T>
    where
        T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
    {
        let result = self.session.query_unpaged(self.text(cql), ()).await;
        let result = result.unwrap_or_else(|error| panic!("{cql}: {error}"));
        let rows = result.into_rows_result().expect("rows");
        let rows = rows.rows::<T>().unwrap_or_else(|error| panic!("{cql}: {error}"));
        rows.map(|row| row.expect("a row")).collect()
    }

    /// The values of a `SELECT` of one column, asked of each node apart, with `ks.` for the keyspace.
    ///
    /// # Panics
    /// Where one does not come to answer.
    pub async fn of_each_node<T>(&self, cql: &str) -> Vec<Vec<T>>
    where
        (T,): for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
    {
        let state = self.session.get_cluster_state();
        let mut answers = Vec::new();
        for node in state.get_nodes_info() {
            // One that was down is connected to again after a while.
            answers.push(eventually("each node answers", || self.of_node(cql, node)).await);
        }
        answers
    }

    async fn of_node<T>(&self, cql: &str, node: &Arc<Node>) -> Option<Vec<T>>
    where
        (T,): for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
    {
        let mut statement = Statement::new(self.text(cql));
        let target = NodeIdentifier::Node(Arc::clone(node));
        statement.set_load_balancing_policy(Some(SingleTargetLoadBalancingPolicy::new(target, None)));
        statement.set_consistency(Consistency::One);
        let result = self.session.query_unpaged(statement, ()).await.ok()?.into_rows_result().ok()?;
        result.rows::<(T,)>().ok()?.map(|row| row.map(|(value,)| value)).collect::<Result<_, _>>().ok()
    }

    /// On which attempts a step was executed that records it.
    ///
    /// # Panics
    /// Where the table of executions cannot be read.
    pub async fn executions(&self, step: &str) -> Vec<i64> {
        self.executions_so_far(step).await.expect("the executions")
    }

    /// So too; `None` while there is no such table.
    pub async fn executions_so_far(&self, step: &str) -> Option<Vec<i64>> {
        let cql = format!("SELECT attempt FROM ks.executions WHERE step = '{step}'");
        let mut attempts: Vec<_> =
            self.rows_so_far::<(i64,)>(&cql).await?.into_iter().map(|(attempt,)| attempt).collect();
        attempts.sort_unstable();
        Some(attempts)
    }

    /// The rows of a `SELECT` with `ks.` for the keyspace; `None` while there is no such table.
    pub async fn rows_so_far<T>(&self, cql: &str) -> Option<Vec<T>>
    where
        T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
    {
        let result = self.session.query_unpaged(self.text(cql), ()).await.ok()?.into_rows_result().ok()?;
        result.rows::<T>().ok()?.collect::<Result<_, _>>().ok()
    }

    /// The place that the first step of version 2 has saved last.
    pub async fn position_so_far(&self) -> Option<String> {
        let text = format!(
            "SELECT position FROM ks.kandra_migrations WHERE keyspace_name = '{}' AND scope = 'main' AND kind = 2 AND version = 2",
            self.name
        );
        self.rows_so_far::<(Option<String>,)>(&text).await?.pop()?.0
    }

    /// Waits until that step has saved another place than `saved`.
    pub async fn has_saved_after(&self, saved: Option<String>) {
        eventually("it has saved its place", || async {
            let now = self.position_so_far().await;
            (now.is_some() && now != saved).then_some(())
        })
        .await;
    }

    /// What a step has counted to.
    ///
    /// # Panics
    /// Where the table of counts cannot be read.
    pub async fn count(&self, step: &str) -> i64 {
        let rows = self.rows::<(Counter,)>(&format!("SELECT n FROM ks.counts WHERE step = '{step}'")).await;
        rows.iter().map(|(count,)| count.0).sum()
    }

    fn text(&self, cql: &str) -> String {
        cql.replace("ks.", &format!("{}.", self.name))
    }
}

/// A session to the database to test with.
///
/// # Panics
/// Where there is none: every test here needs one.
pub async fn connect() -> Arc<Session> {
    let database = tokio::task::spawn_blocking(|| cassandra::database(3))
        .await
        .expect("starting the database does not panic")
        .expect("a database to test with");
    connect_to(database.contact_points()).await
}

/// A session to the cluster with these nodes, as `host:port`.
///
/// # Panics
/// Where none of them answers.
pub async fn connect_to(hosts: impl IntoIterator<Item = impl AsRef<str>>) -> Arc<Session> {
    log();
    connected(session_builder().known_nodes(hosts).build().await.expect("a session")).await
}

/// A session of this user, whose password is the name.
///
/// # Panics
/// Where the login is refused, for longer than new users take to be known.
pub async fn connected_as(hosts: &[String], user: &str) -> Arc<Session> {
    let login = || async { session_builder().known_nodes(hosts).user(user, user).build().await.ok() };
    connected(eventually("the user can log in", login).await).await
}

/// A session as the crate's docs advise it, which asks nothing by itself once it is there.
#[must_use]
pub fn session_builder() -> SessionBuilder {
    SessionBuilder::new()
        .auto_await_schema_agreement(false)
        .schema_agreement_timeout(SCHEMA_TIMEOUT)
        .keepalive_interval(Duration::from_secs(5))
        .keepalive_timeout(Duration::from_secs(5))
        .cluster_metadata_refresh_interval(Duration::from_secs(3600))
}

/// The session, once it is connected to all nodes.
pub(crate) async fn connected(session: Session) -> Arc<Session> {
    let session = Arc::new(session);
    eventually("the session is connected to all nodes", || async {
        session.get_cluster_state().get_nodes_info().iter().all(|node| node.is_connected()).then_some(())
    })
    .await;
    session
}

/// Prints the crate's own events where `RUST_LOG` asks for them.
pub fn log() {
    // Another test of the same binary may have been first.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .try_init();
}
