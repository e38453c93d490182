//! Whether the nodes have built an index or view. Each keeps that to itself, so each is asked.

use std::sync::Arc;
use std::time::Duration;

use scylla::cluster::Node;
use scylla::statement::Consistency;
use tokio::task::JoinSet;

use crate::driver::{Database, Grid, Knock, Outcome, Request, knock, pin, socket_address};
use crate::engine::{Built, SendError};
use crate::store::literal;

/// What is built.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// An index of this name.
    Index(String),
    /// A materialized view of this name.
    View(String),
}

/// For one node's answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// How far each node is. An error where one that is up does not say it.
pub(crate) async fn built(
    database: &Arc<Database>,
    keyspace: &str,
    target: &Target,
) -> Result<Built, SendError> {
    let mut asked = JoinSet::new();
    for node in database.nodes() {
        let question = Question {
            database: database.clone(),
            keyspace: keyspace.to_owned(),
            target: target.clone(),
            node,
        };
        asked.spawn(question.ask());
    }
    let mut built = Built::default();
    let mut progress = Vec::new();
    for answer in asked.join_all().await {
        match answer? {
            Says::Built => (built.nodes, built.built) = (built.nodes + 1, built.built + 1),
            Says::Down => built.down += 1,
            Says::Building(far) => {
                built.nodes += 1;
                progress.extend(far);
            }
        }
    }
    progress.sort_unstable();
    built.progress = progress.join(", ");
    Ok(built)
}

enum Says {
    Built,
    /// With what it has done so far, if it says that.
    Building(Option<String>),
    Down,
}

struct Question {
    database: Arc<Database>,
    keyspace: String,
    target: Target,
    node: Arc<Node>,
}

impl Question {
    async fn ask(self) -> Result<Says, SendError> {
        let keyspace = literal::text(&self.keyspace);
        let text = match &self.target {
            Target::Index(name) => {
                let name = literal::text(name);
                // Its key is called table_name, and holds the keyspace's.
                format!(
                    "SELECT index_name FROM system.\"IndexInfo\" WHERE table_name = {keyspace} AND index_name = {name}"
                )
            }
            Target::View(name) => {
                let name = literal::text(name);
                format!(
                    "SELECT view_name FROM system.built_views WHERE keyspace_name = {keyspace} AND view_name = {name}"
                )
            }
        };
        match self.read(text).await {
            Ok(grid) if grid.first().is_some() => Ok(Says::Built),
            Ok(_) => Ok(Says::Building(self.progress().await)),
            Err(error) => match knock(socket_address(self.node.address), ANSWER_TIMEOUT).await {
                Knock::Refused => Ok(Says::Down),
                Knock::Mute | Knock::Unreachable if !self.node.is_connected() => Ok(Says::Down),
                _ => Err(error),
            },
        }
    }

    /// For people, and as a sign of progress; not each server has these tables.
    async fn progress(&self) -> Option<String> {
        let done: i64 = match &self.target {
            Target::Index(_) => {
                let tasks = self.read("SELECT * FROM system_views.sstable_tasks".to_owned()).await.ok()?;
                let of_keyspace = |row: &crate::driver::Record<'_>| {
                    row.text("keyspace_name") == Some(&self.keyspace)
                        && row.text("kind").is_some_and(|kind| kind.contains("index"))
                };
                tasks.rows().filter(of_keyspace).filter_map(|row| row.int("progress")).sum()
            }
            Target::View(name) => {
                let (keyspace, name) = (literal::text(&self.keyspace), literal::text(name));
                let text = format!(
                    "SELECT keys_built FROM system.view_builds_in_progress WHERE keyspace_name = {keyspace} AND view_name = {name}"
                );
                self.read(text).await.ok()?.rows().filter_map(|row| row.int("keys_built")).sum()
            }
        };
        let unit = match self.target {
            Target::Index(_) => "bytes",
            Target::View(_) => "keys",
        };
        Some(format!("{}: {done} {unit}", self.node.address))
    }

    async fn read(&self, text: String) -> Result<Grid, SendError> {
        let mut statement = self.database.statement(text, Consistency::One, ANSWER_TIMEOUT);
        pin(&mut statement, &self.node);
        let result = self.database.send(statement).await.map_err(|error| {
            let outcome = Outcome::of(&error, Request::Read);
            outcome.into_send_result(error).expect_err("a read that failed has no effect")
        })?;
        Grid::from_result(result).map_err(|error| SendError::Passing(Arc::new(error)))
    }
}
