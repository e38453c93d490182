//! Waits until all nodes have one schema.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scylla::cluster::Node;
use scylla::statement::Consistency;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::{Database, Grid, Knock, knock, pin, socket_address};
use crate::port::NoAgreement;

/// Between two rounds at first: a schema change takes 20 to 50 ms to the other nodes.
const PAUSE_MS_MIN: Duration = Duration::from_millis(20);
const PAUSE_MS_MAX: Duration = Duration::from_millis(200);
/// For one node's answer in one round.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns once all nodes that are up have one schema version, at most after `timeout`: their ids.
pub(crate) async fn agree(database: &Arc<Database>, timeout: Duration) -> Result<Vec<Uuid>, NoAgreement> {
    let start = Instant::now();
    let mut pause = PAUSE_MS_MIN;
    loop {
        let left = timeout.saturating_sub(start.elapsed());
        let views = ask_all(database, left.min(ANSWER_TIMEOUT)).await;
        if is_agreement(&views) {
            return Ok(up(&views).map(|view| view.id).collect());
        }
        if start.elapsed() + pause >= timeout {
            return Err(NoAgreement { waited: start.elapsed(), disagreeing: describe(&views) });
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 3 / 2).min(PAUSE_MS_MAX);
    }
}

/// What one node says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct View {
    id: Uuid,
    node: String,
    says: Says,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Says {
    Version(Uuid),
    /// It is up, and this is why its version is unknown.
    Nothing(String),
    /// It is down or stands still: what it has missed, it gets when it goes on.
    Down,
}

async fn ask_all(database: &Arc<Database>, timeout: Duration) -> Vec<View> {
    let mut asked = JoinSet::new();
    for node in database.nodes() {
        let database = database.clone();
        asked.spawn(async move {
            let says = ask(&database, &node, timeout).await;
            View { id: node.host_id, node: node.address.to_string(), says }
        });
    }
    let mut views = asked.join_all().await;
    views.sort_unstable_by(|a, b| a.node.cmp(&b.node));
    views
}

async fn ask(database: &Database, node: &Arc<Node>, timeout: Duration) -> Says {
    let text = "SELECT schema_version FROM system.local WHERE key = 'local'";
    let mut statement = database.statement(text, Consistency::One, timeout);
    pin(&mut statement, node);
    let answer = match database.send(statement).await {
        Ok(result) => Grid::from_result(result).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let reason = match answer.map(|grid| grid.first().and_then(|row| row.uuid("schema_version"))) {
        Ok(Some(version)) => return Says::Version(version),
        Ok(None) => "it has no schema version".to_owned(),
        Err(reason) => reason,
    };
    match knock(socket_address(node.address), timeout).await {
        Knock::Refused => Says::Down,
        // One that is stopped must not hold the others up. The driver takes up to a minute to find that a host is gone,
        // or that nobody is behind its port; while it has not, the node counts as up.
        Knock::Mute | Knock::Unreachable if !node.is_connected() => Says::Down,
        Knock::Answered | Knock::Mute | Knock::Unreachable => Says::Nothing(reason),
    }
}

fn is_agreement(views: &[View]) -> bool {
    let Some(first) = up(views).next() else { return false };
    matches!(first.says, Says::Version(_)) && up(views).all(|view| view.says == first.says)
}

fn up(views: &[View]) -> impl Iterator<Item = &View> {
    views.iter().filter(|view| view.says != Says::Down)
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.says {
            Says::Version(version) => write!(f, "{} has {version}", self.node),
            Says::Nothing(reason) => write!(f, "{} does not say ({reason})", self.node),
            Says::Down => write!(f, "{} is down", self.node),
        }
    }
}

fn describe(views: &[View]) -> String {
    if views.is_empty() {
        return "the session knows no node".to_owned();
    }
    views.iter().map(View::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(node: &str, says: Says) -> View {
        View { id: Uuid::nil(), node: node.to_owned(), says }
    }

    fn version(version: u128) -> Says {
        Says::Version(Uuid::from_u128(version))
    }

    #[test]
    fn one_version_on_all_nodes_that_are_up() {
        assert!(is_agreement(&[view("a", version(1))]));
        assert!(is_agreement(&[view("a", version(1)), view("b", Says::Down), view("c", version(1))]));
        assert!(!is_agreement(&[view("a", version(1)), view("b", version(2))]));
        assert!(!is_agreement(&[view("a", version(1)), view("b", Says::Nothing(String::new()))]));
    }

    #[test]
    fn nobody_agrees_with_nobody() {
        assert!(!is_agreement(&[]));
        assert!(!is_agreement(&[view("a", Says::Down)]));
        assert!(!is_agreement(&[view("a", Says::Nothing(String::new()))]));
    }

    #[test]
    fn a_disagreement_names_the_nodes() {
        let views =
            [view("10.0.0.1:9042", version(1)), view("10.0.0.2:9042", Says::Nothing("timeout".to_owned()))];
        assert_eq!(
            describe(&views),
            "10.0.0.1:9042 has 00000000-0000-0000-0000-000000000001, 10.0.0.2:9042 does not say (timeout)"
        );
    }
}
