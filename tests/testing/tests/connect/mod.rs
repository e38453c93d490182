//! The session of this package's tests.

use std::sync::Arc;

use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;

/// To the database that all tests of the workspace share; an application has one already, or `KANDRA_TEST_HOSTS`.
pub(crate) async fn connect() -> Arc<Session> {
    let database = tokio::task::spawn_blocking(|| cassandra::database(3)).await.expect("no panic");
    let database = database.expect("a database to test with");
    let session = SessionBuilder::new().known_nodes(database.contact_points()).build().await;
    Arc::new(session.expect("a session"))
}
