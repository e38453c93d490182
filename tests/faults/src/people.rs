//! A table that a backfill fills, and an application that writes to the same rows meanwhile.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::time::Duration;

use scylla::deserialize::row::DeserializeRow;
use scylla::statement::Consistency;
use scylla::statement::unprepared::Statement;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::scene::Scene;
use crate::times::{END_SECS_MAX, REACH_SECS_MAX};
use crate::trouble::{Result, Trouble, within};

const WRITERS: i32 = 32;
const POLL_MS: Duration = Duration::from_millis(50);
/// The application writes so often.
const WRITES_MS: Duration = Duration::from_millis(5);
/// A write that a node did not answer is written again: nodes are killed and stopped here.
const WRITE_ATTEMPTS_MAX: u32 = 60;
const WRITE_SECS_MAX: Duration = Duration::from_secs(10);
/// Wrong rows that are told of.
const TOLD_MAX: usize = 5;

/// The values that rows are found with; none where there are none.
pub type FirstNames = BTreeMap<i32, Option<String>>;

/// What an application wrote last.
pub type Written = BTreeMap<i32, String>;

/// The version of the image that has the backfill.
const VERSION: i64 = 2;

fn name(id: i32) -> String {
    format!("First{id} Last{id}")
}

/// What is wrong with the rows once they are filled. What the application wrote is there; else what the backfill wrote.
#[must_use]
pub fn check(rows: i32, found: &FirstNames, written: &Written) -> Vec<String> {
    let wanted = |id: i32| written.get(&id).cloned().unwrap_or_else(|| format!("First{id}"));
    let is_wrong = |id: &i32| found.get(id).cloned().flatten() != Some(wanted(*id));
    let wrong: Vec<_> = (0..rows).filter(is_wrong).collect();
    let tell = |id: &i32| format!("row {id} has {:?}, not {:?}", found.get(id), wanted(*id));
    let mut lines: Vec<_> = wrong.iter().take(TOLD_MAX).map(tell).collect();
    if wrong.len() > TOLD_MAX {
        lines.push(format!("{} rows are wrong", wrong.len()));
    }
    lines
        .extend(found.keys().find(|id| !(0..rows).contains(*id)).map(|id| format!("row {id} was not there")));
    lines
}

/// The table in a scene's keyspace.
#[derive(Clone, Debug)]
pub struct People {
    scene: Arc<Scene>,
    rows: i32,
}

impl People {
    /// Makes the table, with so many rows.
    pub async fn create(scene: &Arc<Scene>, rows: i32) -> Result<Self> {
        let table = format!("{}.people", scene.keyspace);
        let columns = "id int PRIMARY KEY, name text, first_name text";
        scene.world.schema(&format!("CREATE TABLE {table} ({columns})")).await?;
        let insert = format!("INSERT INTO {table} (id, name) VALUES (?, ?)");
        let insert = scene.world.session.prepare(insert.as_str()).await;
        let insert = Arc::new(insert.map_err(|error| Trouble::database("prepare", error))?);
        let next = Arc::new(AtomicI32::new(0));
        let mut writers = JoinSet::new();
        for _ in 0..WRITERS {
            let (scene, insert, next) = (Arc::clone(scene), Arc::clone(&insert), Arc::clone(&next));
            writers.spawn(async move {
                loop {
                    let id = next.fetch_add(1, SeqCst);
                    if id >= rows {
                        return Ok::<_, Trouble>(());
                    }
                    let sent = scene.world.session.execute_unpaged(&insert, (id, name(id))).await;
                    sent.map_err(|error| Trouble::database("insert a row", error))?;
                }
            });
        }
        while let Some(writer) = writers.join_next().await {
            writer??;
        }
        Ok(Self { scene: Arc::clone(scene), rows })
    }

    /// How many runs have held the lease.
    pub async fn epoch(&self) -> Option<i64> {
        self.of_ledger::<(Option<i64>,)>("epoch", "kind = 0").await?.0
    }

    /// Which rows are filled, as the journal has it.
    pub async fn position(&self) -> Option<String> {
        let of_step = format!("kind = 2 AND version = {VERSION} AND n = 0");
        self.of_ledger::<(Option<String>,)>("position", &of_step).await?.0
    }

    async fn of_ledger<T>(&self, columns: &str, of: &str) -> Option<T>
    where
        T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
    {
        let (keyspace, ledger) = (&self.scene.keyspace, kandra_migrate::LEDGER_TABLE);
        let text = format!(
            "SELECT {columns} FROM {keyspace}.{ledger} WHERE keyspace_name = '{keyspace}' AND scope = 'main' AND {of}"
        );
        // There is no table yet, or a node was killed: the next look will do.
        let answer = self.scene.world.session.query_unpaged(text, ()).await.ok()?.into_rows_result().ok()?;
        answer.maybe_first_row::<T>().ok()?
    }

    /// Waits until more than so many runs have held the lease.
    pub async fn held_after(&self, epoch: i64) -> Result<i64> {
        let what = format!("holder {}", epoch + 1);
        until(&what, || async { self.epoch().await.filter(|now| *now > epoch) }).await
    }

    /// Waits until more rows are filled than now.
    pub async fn getting_on(&self) -> Result<()> {
        let before = self.position().await;
        let is_further = || async { self.position().await.filter(|now| Some(now) != before.as_ref()) };
        until("another checkpoint", is_further).await.map(drop)
    }

    /// Whether all rows are filled, by the journal.
    pub async fn is_filled(&self) -> bool {
        self.position().await.is_some_and(|position| position.ends_with("=*"))
    }

    /// Starts the application: from the claim of the version on it writes to rows all over the table.
    #[must_use]
    pub fn application(&self) -> Application {
        let (stop, mut stopped) = watch::channel(false);
        let people = self.clone();
        let writing = tokio::spawn(async move {
            let claim = format!("kind = 1 AND version = {VERSION}");
            let is_claimed = || people.of_ledger::<(i64,)>("version", &claim);
            until("the claim of the version", is_claimed).await?;
            let mut written = Written::new();
            let mut id = 0;
            while !*stopped.borrow_and_update() {
                id = (id + 7919) % people.rows;
                let value = format!("Own{id}-{}", written.len());
                people.write(id, &value).await?;
                written.insert(id, value);
                tokio::time::sleep(WRITES_MS).await;
            }
            Ok(written)
        });
        Application { stop, writing }
    }

    /// Again until it is answered: a write that is not may have had its effect, and the next one has it too.
    async fn write(&self, id: i32, value: &str) -> Result<()> {
        let text = format!("UPDATE {}.people SET first_name = ? WHERE id = ?", self.scene.keyspace);
        let mut statement = Statement::new(text);
        statement.set_request_timeout(Some(WRITE_SECS_MAX));
        let mut attempts = 0;
        while let Err(error) = self.scene.world.session.query_unpaged(statement.clone(), (value, id)).await {
            attempts += 1;
            if attempts == WRITE_ATTEMPTS_MAX {
                return Err(Trouble::database("a write of the application", error));
            }
            tokio::time::sleep(POLL_MS).await;
        }
        Ok(())
    }

    /// What is wrong with the table, all of whose rows are read.
    pub async fn judge(&self, application: Application) -> Result<Vec<String>> {
        application.stop.send_replace(true);
        let written = within(END_SECS_MAX, "the end of the application", application.writing).await???;
        let mut wrong = check(self.rows, &self.first_names().await?, &written);
        if written.is_empty() {
            wrong.push("the application wrote nothing".to_owned());
        }
        if !self.is_filled().await {
            wrong.push(format!("the checkpoint is {:?}", self.position().await));
        }
        Ok(wrong)
    }

    async fn first_names(&self) -> Result<FirstNames> {
        let text = format!("SELECT id, first_name FROM {}.people", self.scene.keyspace);
        let failed = |error: String| Trouble::database("read all rows", error);
        let mut statement = Statement::new(text);
        statement.set_consistency(Consistency::All);
        let answer = self.scene.world.session.query_unpaged(statement, ()).await;
        let answer = answer.map_err(|error| failed(error.to_string()))?;
        let answer = answer.into_rows_result().map_err(|error| failed(error.to_string()))?;
        let rows = answer.rows::<(i32, Option<String>)>().map_err(|error| failed(error.to_string()))?;
        rows.collect::<std::result::Result<_, _>>().map_err(|error| failed(error.to_string()))
    }
}

/// One that writes until it is asked what it wrote.
#[derive(Debug)]
pub struct Application {
    stop: watch::Sender<bool>,
    writing: JoinHandle<Result<Written>>,
}

/// Asks until there is an answer.
async fn until<T, F>(what: &str, ask: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = Option<T>>,
{
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(POLL_MS).await;
        }
    };
    within(REACH_SECS_MAX, what, asking).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_right_with_the_last_write_of_the_application_or_the_backfills() {
        let found = |rows: [Option<&str>; 3]| (0..).zip(rows.map(|row| row.map(str::to_owned))).collect();
        let written = Written::from([(1, "Own".to_owned())]);
        assert_eq!(check(3, &found([Some("First0"), Some("Own"), Some("First2")]), &written), [""; 0]);
        for wrong in [
            [None, Some("Own"), Some("First2")],
            [Some("First0"), Some("First1"), Some("First2")],
            [Some("First0"), Some("Own"), Some("First1")],
        ] {
            assert_eq!(check(3, &found(wrong), &written).len(), 1, "{wrong:?}");
        }
        let more = found([Some("First0"), Some("Own"), Some("First2")]);
        assert_eq!(check(2, &more, &written), ["row 2 was not there"]);
        assert_eq!(check(10, &FirstNames::new(), &written).len(), TOLD_MAX + 1);
    }
}
