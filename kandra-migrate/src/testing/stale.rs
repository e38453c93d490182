//! Dropping keyspaces of tests.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use scylla::client::session::Session;
use scylla::statement::unprepared::Statement;

use super::name::{hours_now, is_stale};
use crate::cql::quote;

/// Most keyspaces of earlier tests that one process drops: its own tests wait for it.
pub const STALE_DROPPED_MAX: usize = 8;

/// A server may take a snapshot first.
const DROP_TIMEOUT: Duration = Duration::from_secs(60);

/// Drops what earlier tests have left, once a process. What does not work here is another one's work.
pub(super) async fn drop_stale(session: &Session) {
    static SWEPT: AtomicBool = AtomicBool::new(false);
    if SWEPT.swap(true, Relaxed) {
        return;
    }
    let text = "SELECT keyspace_name FROM system_schema.keyspaces";
    let Ok(result) = session.query_unpaged(text, ()).await else { return };
    let Ok(result) = result.into_rows_result() else { return };
    let Ok(rows) = result.rows::<(String,)>() else { return };
    let now = hours_now();
    let names = rows.flatten().map(|(name,)| name).filter(|name| is_stale(name, now));
    for name in names.take(STALE_DROPPED_MAX) {
        let _ = drop_keyspace(session, &name).await;
    }
}

/// Drops one; other processes may be at it as well.
pub(super) async fn drop_keyspace(session: &Session, name: &str) -> Result<(), String> {
    let mut statement = Statement::new(format!("DROP KEYSPACE IF EXISTS {}", quote(name)));
    statement.set_request_timeout(Some(DROP_TIMEOUT));
    session.query_unpaged(statement, ()).await.map(drop).map_err(|error| error.to_string())
}
