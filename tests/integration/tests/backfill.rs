//! Backfills of tables with real rows.

mod refused;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use integration::{Gate, Keyspace, eventually, within};
use kandra_migrate::{Code, Outcome, Registry, TokenRange, migration};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::instance::Instance;

const PEOPLE: i64 = 3000;
const WRITERS: i64 = 16;

#[migration(version = 1)]
mod fill_by_row {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [cql("ALTER TABLE ${keyspace}.people ADD first_name text"), code("fill", fill).idempotent()]
    }
    async fn fill(cx: TaskContext) -> TaskResult {
        cx.backfill("people")
            .concurrency(8)
            .page_rows(100)
            .for_each_row("country, id, n, name", async |cx, row: (String, i64, i32, String)| {
                let (country, id, n, name) = row;
                let first = name.split(' ').next();
                cx.execute(
                    "UPDATE ${keyspace}.people SET first_name = ? WHERE country = ? AND id = ? AND n = ?",
                    (first, country, id, n),
                )
                .await
            })
            .await
    }
}

#[migration(version = 1, reaches_outside = "the test lets it go on")]
mod fill_by_range {
    use integration::Gate;
    use kandra_migrate::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    static ROWS: AtomicUsize = AtomicUsize::new(0);
    fn up() -> impl IntoPlan {
        [cql("ALTER TABLE ${keyspace}.people ADD first_name text"), code("fill", fill).idempotent()]
    }
    async fn fill(cx: TaskContext) -> TaskResult {
        cx.backfill("people")
            .concurrency(4)
            // A checkpoint after each range.
            .range_rows(1)
            .for_each_range(async |cx, range| {
                let select = "SELECT country, id, n, name FROM ${keyspace}.people \
                          WHERE token(country, id) > ? AND token(country, id) <= ?";
                let people: Vec<(String, i64, i32, String)> = cx.rows(select, range.bounds()).await?;
                for (country, id, n, name) in &people {
                    let first = name.split(' ').next();
                    cx.execute(
                        "UPDATE ${keyspace}.people SET first_name = ? WHERE country = ? AND id = ? AND n = ?",
                        (first, country, id, n),
                    )
                    .await?;
                }
                // The test stops it half way.
                if ROWS.fetch_add(people.len(), SeqCst) > 1500 {
                    Gate::of(cx.keyspace()).pass().await;
                }
                Ok(people.len() as u64)
            })
            .await
    }
}

#[migration(version = 1, reaches_outside = "it has two backfills at once")]
mod fill_both_names {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("ALTER TABLE ${keyspace}.people ADD first_name text"),
            cql("ALTER TABLE ${keyspace}.people ADD last_name text"),
            code("fill", fill).idempotent(),
        ]
    }
    async fn fill(cx: TaskContext) -> TaskResult {
        let first = cx.backfill("people").named("first").concurrency(2).for_each_row(
            "country, id, n, name",
            async |cx, row: (String, i64, i32, String)| {
                let (country, id, n, name) = row;
                cx.execute(
                    "UPDATE ${keyspace}.people SET first_name = ? WHERE country = ? AND id = ? AND n = ?",
                    (name.split(' ').next(), country, id, n),
                )
                .await
            },
        );
        let last = cx.backfill("people").named("last").concurrency(2).for_each_row(
            "country, id, n, name",
            async |cx, row: (String, i64, i32, String)| {
                let (country, id, n, name) = row;
                cx.execute(
                    "UPDATE ${keyspace}.people SET last_name = ? WHERE country = ? AND id = ? AND n = ?",
                    (name.split(' ').nth(1), country, id, n),
                )
                .await
            },
        );
        tokio::try_join!(first, last).map(drop)
    }
}

/// A keyspace with a table of people, every tenth of them with three rows.
async fn people(prefix: &str, count: i64) -> Keyspace {
    let keyspace = Keyspace::fresh(prefix).await;
    fill(&keyspace, count).await;
    keyspace
}

async fn fill(keyspace: &Keyspace, count: i64) {
    keyspace
        .execute("CREATE TABLE ks.people (country text, id bigint, n int, name text, PRIMARY KEY ((country, id), n))")
        .await;
    let insert = format!("INSERT INTO {}.people (country, id, n, name) VALUES (?, ?, ?, ?)", keyspace.name);
    let insert = Arc::new(keyspace.session.prepare(insert).await.unwrap());
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (session, insert) = (Arc::clone(&keyspace.session), Arc::clone(&insert));
        writers.spawn(async move {
            for id in (0..count).filter(|id| id % WRITERS == writer) {
                for n in 0..if id % 10 == 0 { 3_i32 } else { 1 } {
                    session.execute_unpaged(&insert, (country(id), id, n, name(id))).await.unwrap();
                }
            }
        });
    }
    writers.join_all().await;
}

fn country(id: i64) -> &'static str {
    ["de", "fr", "pt"][usize::try_from(id % 3).unwrap()]
}

fn name(id: i64) -> String {
    format!("First{id} Last{id}")
}

/// Of each row, its `first_name`.
async fn first_names(keyspace: &Keyspace) -> BTreeMap<(i64, i32), Option<String>> {
    let rows = keyspace.rows::<(i64, i32, Option<String>)>("SELECT id, n, first_name FROM ks.people").await;
    rows.into_iter().map(|(id, n, first)| ((id, n), first)).collect()
}

fn assert_filled(first_names: &BTreeMap<(i64, i32), Option<String>>, count: i64) {
    assert_eq!(i64::try_from(first_names.len()).unwrap(), count + 2 * ((count + 9) / 10));
    for ((id, n), first) in first_names {
        assert_eq!(first.as_deref(), Some(format!("First{id}").as_str()), "row {id}, {n}");
    }
}

/// What the journal of a version's last step has as its position.
async fn position(keyspace: &Keyspace) -> Option<String> {
    let text = format!(
        "SELECT position FROM ks.kandra_migrations WHERE keyspace_name = '{}' AND scope = 'main' AND kind = 2",
        keyspace.name
    );
    keyspace.rows::<(Option<String>,)>(&text).await.pop().and_then(|(position,)| position)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row_of_a_table_is_filled() {
    let keyspace = people("backfill", PEOPLE).await;
    let registry = Registry::of([&fill_by_row::MIGRATION]);
    let report = within("the run ends", keyspace.runner(&registry).run()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated);
    assert_filled(&first_names(&keyspace).await, PEOPLE);
    assert_eq!(position(&keyspace).await.as_deref(), Some("backfill/1 people=*"));
}

/// The servers have no estimate of a table that was just made.
#[tokio::test(flavor = "multi_thread")]
async fn a_small_table_costs_few_requests() {
    /// Those of the run and of the rows are about 130.
    const REQUESTS_MAX: usize = 400;
    for count in [0, 30] {
        let (keyspace, relay) = Keyspace::behind_relay("backfill_small").await;
        fill(&keyspace, count).await;
        relay.forget();
        let registry = Registry::of([&fill_by_row::MIGRATION]);
        let report = within("the run ends", keyspace.runner(&registry).run()).await.unwrap();
        assert_eq!(report.outcome, Outcome::Migrated);
        let requests = relay.requests().len();
        assert!(requests < REQUESTS_MAX, "{requests} requests for {count} partitions");
        assert_filled(&first_names(&keyspace).await, count);
    }
}

/// No cut goes through it: it is read page by page.
#[tokio::test(flavor = "multi_thread")]
async fn one_large_partition() {
    const ROWS: i32 = 2000;
    let keyspace = people("backfill_partition", 0).await;
    let insert =
        format!("INSERT INTO {}.people (country, id, n, name) VALUES ('de', 1, ?, ?)", keyspace.name);
    let insert = keyspace.session.prepare(insert).await.unwrap();
    for n in 0..ROWS {
        keyspace.session.execute_unpaged(&insert, (n, name(1))).await.unwrap();
    }
    let registry = Registry::of([&fill_by_row::MIGRATION]);
    let report = within("the run ends", keyspace.runner(&registry).run()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated);
    let first_names = first_names(&keyspace).await;
    assert_eq!(first_names.len(), 2000);
    assert!(first_names.values().all(|first| first.as_deref() == Some("First1")), "{first_names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_run_does_the_rest() {
    let keyspace = people("backfill_rest", PEOPLE).await;
    let registry = Registry::of([&fill_by_range::MIGRATION]);
    let gate = Gate::of(&keyspace.name);
    let (stop, stopped) = oneshot::channel::<()>();
    let first = keyspace.runner(&registry).shutdown_on(async move {
        // An end of the sender is a stop too.
        let _ = stopped.await;
    });
    let stop_at_gate = async {
        gate.arrived(4).await;
        stop.send(()).unwrap();
    };
    let (ended, ()) = tokio::join!(within("the run stops", first.run()), stop_at_gate);
    assert_eq!(ended.unwrap_err().code(), Code::Shutdown);
    let before = first_names(&keyspace).await;
    let saved = position(&keyspace).await.unwrap();
    assert!(saved.starts_with("backfill/1 people=") && saved != "backfill/1 people=*", "{saved}");

    let filled = before.iter().filter(|(_, first)| first.is_some()).count();
    assert!(filled > 500, "{filled}");
    gate.open();
    // What is done is not done again: one row of it is another's now.
    let (id, n) = *before.iter().find(|(_, first)| first.is_some()).unwrap().0;
    let update = format!(
        "UPDATE ks.people SET name = 'Changed' WHERE country = '{}' AND id = {id} AND n = {n}",
        country(id)
    );
    keyspace.execute(&update).await;
    let report = within("the run ends", keyspace.runner(&registry).run()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated);
    assert_filled(&first_names(&keyspace).await, PEOPLE);
}

/// Two backfills of one task share its checkpoint, each by its name; those of two keyspaces have nothing in common.
#[tokio::test(flavor = "multi_thread")]
async fn backfills_side_by_side_each_have_their_own_place() {
    const ROWS: i64 = 600;
    let (one, other) = tokio::join!(people("backfill_side", ROWS), people("backfill_side", ROWS));
    let registry = Registry::of([&fill_both_names::MIGRATION]);
    let run = |keyspace: &Keyspace| within("the run ends", keyspace.runner(&registry).run());
    let (of_one, of_other) = tokio::join!(run(&one), run(&other));
    for (keyspace, report) in [(one, of_one), (other, of_other)] {
        assert_eq!(report.unwrap().outcome, Outcome::Migrated);
        assert_filled(&first_names(&keyspace).await, ROWS);
        let last = keyspace.rows::<(i64, Option<String>)>("SELECT id, last_name FROM ks.people").await;
        for (id, last) in last {
            assert_eq!(last, Some(format!("Last{id}")), "row {id}");
        }
        assert_eq!(position(&keyspace).await.as_deref(), Some("backfill/1 first=* last=*"));
    }
}

/// Instances are killed again and again during one backfill, while an application writes to the same rows.
#[tokio::test(flavor = "multi_thread")]
async fn kills_and_writes_of_an_application_during_a_backfill() {
    const ROWS: i64 = 12_000;
    const KILLS: u64 = 2;
    let keyspace = people("backfill_killed", ROWS).await;
    let killed = async {
        for kill in 0..KILLS {
            let instance = Instance::start(&keyspace, &["backfill"]);
            let epoch = i64::try_from(kill).unwrap();
            eventually("it has the lease", || async {
                keyspace.rows_so_far::<(i64,)>(&format!(
                    "SELECT epoch FROM ks.kandra_migrations WHERE keyspace_name = '{}' AND scope = 'main' AND kind = 0",
                    keyspace.name
                )).await.filter(|rows| rows.iter().any(|(now,)| *now > epoch))
            })
            .await;
            let saved = keyspace.position_so_far().await;
            keyspace.has_saved_after(saved).await;
            tokio::time::sleep(Duration::from_millis(300 * (kill + 1))).await;
            instance.kill();
        }
        Instance::start(&keyspace, &["backfill"]).outcome().await
    };
    let (stop, stopped) = oneshot::channel();
    let application = application(&keyspace, ROWS, stopped);
    let outcome = async {
        let outcome = killed.await;
        stop.send(()).unwrap();
        outcome
    };
    let (outcome, written) = tokio::join!(outcome, application);
    assert!(outcome.starts_with("ok migrated"), "{outcome}");
    let mut lost = Vec::new();
    for ((id, n), first) in first_names(&keyspace).await {
        let wanted = written.get(&id).filter(|_| n == 0).cloned().unwrap_or_else(|| format!("First{id}"));
        if first.as_ref() != Some(&wanted) {
            lost.push(format!("row {id}, {n} has {first:?} and should have {wanted}"));
        }
    }
    assert!(lost.is_empty(), "{} rows are wrong, {lost:?}", lost.len());
    assert!(written.len() > 100, "the application wrote {} rows", written.len());
}

/// Writes first names of its own as soon as the backfill's version is claimed, until it is stopped: row and last value.
/// What it wrote before that, the backfill would overwrite: it is older.
async fn application(
    keyspace: &Keyspace,
    rows: i64,
    mut stopped: oneshot::Receiver<()>,
) -> BTreeMap<i64, String> {
    let claim = format!(
        "SELECT version FROM ks.kandra_migrations WHERE keyspace_name = '{}' AND scope = 'main' AND kind = 1 AND version = 2",
        keyspace.name
    );
    eventually("the version is claimed", || async {
        keyspace.rows_so_far::<(i64,)>(&claim).await.filter(|rows| !rows.is_empty())
    })
    .await;
    let update =
        format!("UPDATE {}.people SET first_name = ? WHERE country = ? AND id = ? AND n = 0", keyspace.name);
    let update = keyspace.session.prepare(update).await.unwrap();
    let mut written = BTreeMap::new();
    let mut id = 0;
    while stopped.try_recv() == Err(oneshot::error::TryRecvError::Empty) {
        // All over the table, and some of them again.
        id = (id + 7919) % rows;
        let value = format!("Own{id}-{}", written.len());
        keyspace.session.execute_unpaged(&update, (&value, country(id), id)).await.unwrap();
        written.insert(id, value);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    written
}

#[test]
fn a_range_of_all_tokens() {
    assert_eq!(TokenRange::ALL.bounds(), (i64::MIN, i64::MAX));
}
