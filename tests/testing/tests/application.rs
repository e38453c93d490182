//! What an application's developer writes.

mod connect;

use std::error::Error;

use connect::connect;
use kandra_migrate::testing::TestKeyspace;
use testing::{MIGRATIONS, settings};

#[kandra_migrate::test(MIGRATIONS, session = connect, runner = settings)]
async fn all_versions_are_applied(db: TestKeyspace) -> Result<(), Box<dyn Error>> {
    assert!(db.name().starts_with("kt_") && db.name().contains("_all_versions_are_appl"), "{}", db.name());
    let days =
        db.rows::<(i32,)>("SELECT value FROM ${keyspace}.settings WHERE name = ?", ("keep for days",)).await;
    assert_eq!(days, [(30,)]);
    assert!(db.runner().verify().await?.pending.is_empty());
    Ok(())
}

#[kandra_migrate::test(MIGRATIONS, session = connect, runner = settings, up_to = 1)]
async fn first_names_are_filled(db: TestKeyspace) {
    db.execute("INSERT INTO ${keyspace}.users (id, name) VALUES (1, 'Ada Lovelace')").await;
    db.run_task("fill").await;
    assert_eq!(
        db.rows::<(String,)>("SELECT first_name FROM ${keyspace}.users", ()).await,
        [("Ada".to_owned(),)]
    );
    let status = db.runner().status().await.expect("a status");
    assert_eq!((status.migrations[1].state, status.migrations[1].steps.len()), ("RUNNING", 2), "{status}");
    assert_eq!(status.holder, None);

    db.run().await;
    let status = db.runner().status().await.expect("a status");
    assert!(status.migrations.iter().all(|migration| migration.state == "COMPLETED"), "{status}");
}

#[kandra_migrate::test(MIGRATIONS, session = connect, runner = settings, up_to = 1)]
async fn a_version_can_be_run_task_by_task(db: TestKeyspace) {
    db.run_task("add the column").await;
    db.execute("INSERT INTO ${keyspace}.users (id, name, first_name) VALUES (1, 'Ada Lovelace', 'A.')").await;
    db.run_task("fill").await;
    db.up_to(2).await;
    let status = db.runner().status().await.expect("a status");
    assert_eq!(status.migrations[1].state, "COMPLETED");
}

#[kandra_migrate::test(MIGRATIONS, session = connect, runner = settings, up_to = 0)]
async fn what_is_undone_can_be_done_again(db: TestKeyspace) {
    db.assert_undo_restores().await;
}

#[kandra_migrate::test(MIGRATIONS, session = connect, runner = settings, up_to = 1)]
async fn a_lost_answer_does_no_harm(db: TestKeyspace) {
    db.execute("INSERT INTO ${keyspace}.users (id, name) VALUES (1, 'Ada Lovelace')").await;
    db.execute("INSERT INTO ${keyspace}.users (id, name) VALUES (2, 'Grace Hopper')").await;
    db.assert_idempotent().await;
    let names = db.rows::<(String,)>("SELECT first_name FROM ${keyspace}.users WHERE id = 2", ()).await;
    assert_eq!(names, [("Grace".to_owned(),)]);
    let events = db.runner().control().events(100).await.expect("the audit trail");
    let begun = |step: &str| {
        let transitions = events.iter().flat_map(|event| &event.transitions);
        transitions.filter(|transition| transition.starts_with(&format!("begun {step}"))).count()
    };
    assert_eq!(["3/1", "3/2", "3/3"].map(begun), [1, 2, 1], "found, sent again, sent once: {events:?}");
}

#[kandra_migrate::test(MIGRATIONS, session = connect, runner = settings)]
async fn the_schema_is_what_is_committed(db: TestKeyspace) {
    db.assert_schema("schema.cql").await;
}
