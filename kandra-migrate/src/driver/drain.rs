//! Whether a node can still be at work on an earlier statement.
//!
//! A schema statement in a stopped coordinator lands when its process goes on, minutes later and though the client is
//! gone. Whenever a fresh connection to that node was answered, it had landed.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use scylla::statement::Consistency;

use super::{Database, Knock, knock, pin, socket_address};
use crate::port::{Coordinator, Drained};

/// Between two questions.
const PAUSE: Duration = Duration::from_millis(200);
/// For one answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Asks the node itself until it answers or is gone, at most so long.
pub(crate) async fn drain(database: &Database, coordinator: &Coordinator, timeout: Duration) -> Drained {
    let start = Instant::now();
    loop {
        let left = timeout.saturating_sub(start.elapsed()).min(ANSWER_TIMEOUT);
        if let Some(drained) = ask(database, coordinator, left).await {
            return drained;
        }
        if start.elapsed() + PAUSE >= timeout {
            return Drained::Silent;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn ask(database: &Database, coordinator: &Coordinator, timeout: Duration) -> Option<Drained> {
    let met = knock(address(database, coordinator)?, timeout).await;
    let answered =
        matches!(met, Knock::Answered | Knock::Refused) && query(database, coordinator, timeout).await;
    match met {
        Knock::Answered if answered => Some(Drained::Answered),
        // Unless the driver reaches the node by another address than the one that was tried.
        Knock::Refused if !answered => Some(Drained::Gone),
        Knock::Answered | Knock::Refused | Knock::Mute | Knock::Unreachable => None,
    }
}

/// A node can be at another address after a restart; one that has left the cluster is looked for where it was.
fn address(database: &Database, coordinator: &Coordinator) -> Option<SocketAddr> {
    let known = coordinator.host_id().and_then(|host_id| database.node(host_id));
    known.map(|node| socket_address(node.address)).or_else(|| coordinator.address())
}

/// Whether the node takes a query. One that has left the cluster has no schema that could be changed.
async fn query(database: &Database, coordinator: &Coordinator, timeout: Duration) -> bool {
    let Some(node) = coordinator.host_id().and_then(|host_id| database.node(host_id)) else { return false };
    let text = "SELECT schema_version FROM system.local WHERE key = 'local'";
    let mut statement = database.statement(text, Consistency::One, timeout);
    pin(&mut statement, &node);
    database.send(statement).await.is_ok()
}
