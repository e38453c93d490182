//! What the tests against real nodes share.

use std::sync::Arc;

use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;

/// A session to the shared cluster, or to `KANDRA_TEST_HOSTS`, and a fresh keyspace there.
///
/// # Panics
/// Where there is no database: every test here needs one.
pub async fn keyspace(prefix: &str, nodes: u8) -> (Arc<Session>, String) {
    log();
    let database = tokio::task::spawn_blocking(move || cassandra::database(nodes))
        .await
        .expect("starting the database does not panic")
        .expect("a database to test with");
    let session = SessionBuilder::new()
        .known_nodes(database.contact_points())
        .auto_await_schema_agreement(false)
        .build()
        .await
        .expect("a session");
    let keyspace = cassandra::fresh_keyspace_name(prefix);
    let replication = format!("{{'class': 'NetworkTopologyStrategy', 'replication_factor': {nodes}}}");
    session
        .query_unpaged(format!("CREATE KEYSPACE {keyspace} WITH replication = {replication}"), ())
        .await
        .expect("a keyspace");
    session.await_schema_agreement().await.expect("agreement");
    (Arc::new(session), keyspace)
}

/// Prints the crate's own events where `RUST_LOG` asks for them.
pub fn log() {
    // Another test of the same binary may have been first.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .try_init();
}
