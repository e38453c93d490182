//! Instances that are killed, and answers that are lost.

use integration::{Keyspace, MIGRATIONS, eventually, within};
use kandra_migrate::{Code, Outcome, Registry, migration};

use crate::instance::Instance;

#[migration(version = 1)]
mod create_tables {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY)"),
            cql("CREATE TABLE ${keyspace}.counts (step text PRIMARY KEY, n counter)"),
            cql("INSERT INTO ${keyspace}.users (id) VALUES (1)"),
            cql("UPDATE ${keyspace}.counts SET n = n + 1 WHERE step = 'counted'"),
            cql("ALTER TABLE ${keyspace}.users ADD name text"),
        ]
    }
}

/// Starts an instance and kills it once it has begun this step.
async fn killed_in(keyspace: &Keyspace, step: &str) {
    let instance = Instance::start(keyspace, &["brief", step]);
    eventually("the step is executed", || async {
        keyspace.executions_so_far(step).await.filter(|attempts| !attempts.is_empty())
    })
    .await;
    instance.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn another_instance_finishes_what_a_killed_one_has_begun() {
    let keyspace = Keyspace::fresh("killed").await;
    killed_in(&keyspace, "fill").await;
    let outcome = Instance::start(&keyspace, &["brief"]).outcome().await;
    // It did not apply the first two.
    assert_eq!(outcome, "ok migrated: applied 2: 3 fill_first_names, 4 announce");
    assert_eq!(keyspace.lines("taken over from ").await.len(), 1);
    assert_eq!(
        keyspace.executions("fill").await,
        [1, 2],
        "the step in doubt ran again, as its second attempt"
    );
    assert_eq!(keyspace.executions("announce").await, [1]);
    assert_eq!(keyspace.count("counted").await, 1);
    assert_eq!(keyspace.rows::<(String,)>("SELECT first_name FROM ks.users").await, [("Ada".to_owned(),)]);
    for step in ["1/1", "1/2", "1/3", "1/4", "2/1", "2/2", "2/3", "3/1", "3/3", "4/1"] {
        assert_eq!(
            keyspace.lines(&format!("begun {step} ")).await.len(),
            1,
            "{step} was done and is not repeated"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_once_step_in_which_an_instance_was_killed_is_not_run_again() {
    let keyspace = Keyspace::fresh("killed_once").await;
    killed_in(&keyspace, "announce").await;
    let outcome = Instance::start(&keyspace, &["brief"]).outcome().await;
    assert!(outcome.starts_with("KM0052 version 4 announce is PAUSED"), "{outcome}");
    assert_eq!(keyspace.executions("announce").await, [1]);
    assert_eq!(keyspace.versions().await[&4], "PAUSED");

    keyspace.runner(&MIGRATIONS).control().mark_done(4, "it is out").await.unwrap();
    let report = keyspace.runner(&MIGRATIONS).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    assert_eq!(keyspace.executions("announce").await, [1]);
}

/// A run of which the answer to the first request with this text is lost.
async fn without_answer_to(
    part: &str,
) -> (Keyspace, integration::Relay, Result<kandra_migrate::Report, kandra_migrate::Error>) {
    let (keyspace, relay) = Keyspace::behind_relay("lost").await;
    relay.lose_answer_to(part);
    let registry = Registry::of([&create_tables::MIGRATION]);
    let result = within("the run ends", keyspace.brief_runner(&registry).run()).await;
    (keyspace, relay, result)
}

fn sent(relay: &integration::Relay, part: &str) -> usize {
    relay.requests().iter().filter(|request| request.text.contains(part)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_statement_whose_answer_is_lost_is_looked_for_and_not_sent_again() {
    let (keyspace, relay, result) = without_answer_to("ADD name").await;
    assert_eq!(result.unwrap().outcome, Outcome::Migrated);
    assert_eq!(sent(&relay, "ADD name"), 1);
    assert_eq!(keyspace.lines("done 1/5").await.len(), 1);
    assert_eq!(keyspace.steps(1).await[4].attempts, 0);
    assert!(keyspace.snapshot().await.columns.contains(&"users.name text".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_counts_and_whose_answer_is_lost_is_paused() {
    let (keyspace, relay, result) = without_answer_to("SET n = n + 1").await;
    let error = result.unwrap_err();
    assert_eq!(error.code(), Code::Paused, "{error}");
    assert_eq!(sent(&relay, "SET n = n + 1"), 1);
    assert_eq!(keyspace.count("counted").await, 1);
    assert!(!keyspace.snapshot().await.columns.contains(&"users.name text".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ledger_write_whose_answer_is_lost_is_recognised() {
    // The claim of version 1, with the begin of its first step.
    let (keyspace, relay, result) = without_answer_to("IF NOT EXISTS; ").await;
    assert_eq!(result.unwrap().outcome, Outcome::Migrated);
    assert_eq!(keyspace.lines("claimed ").await, ["claimed 1 create_tables"]);
    assert_eq!(keyspace.lines("begun 1/1 ").await.len(), 1);
    assert_eq!(sent(&relay, ".users (id bigint PRIMARY KEY)"), 1);
}
