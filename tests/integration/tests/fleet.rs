//! Many instances at once.

use std::sync::Arc;
use std::time::Duration;

use integration::{Keyspace, MIGRATIONS, connect};
use kandra_migrate::{Outcome, Report};
use tokio::task::JoinSet;

use crate::instance::Instance;

/// So many runs at once, spread over these sessions.
async fn run_at_once(keyspaces: &[Keyspace], runs: usize, jitter: Duration) -> Vec<Report> {
    let mut running = JoinSet::new();
    for n in 0..runs {
        let keyspace = keyspaces[n % keyspaces.len()].clone();
        running.spawn(async move {
            let runner = keyspace.runner(&MIGRATIONS).application(format!("instance {n}"));
            runner.start_jitter(jitter).run().await
        });
    }
    running.join_all().await.into_iter().map(|report| report.expect("each returns Ok")).collect()
}

async fn sessions(prefix: &str, count: usize) -> Vec<Keyspace> {
    let mut keyspaces = vec![Keyspace::fresh(prefix).await];
    while keyspaces.len() < count {
        let another = keyspaces[0].by(connect().await);
        keyspaces.push(another);
    }
    keyspaces
}

/// By their effects, and by the journal.
async fn each_step_took_effect_once(keyspace: &Keyspace) {
    assert_eq!(keyspace.count("counted").await, 1);
    let lists = keyspace.rows::<(Vec<String>,)>("SELECT items FROM ks.lists WHERE step = 'appended'").await;
    assert_eq!(lists, [(vec!["appended".to_owned()],)]);
    assert_eq!(keyspace.executions("fill").await, [1]);
    assert_eq!(keyspace.executions("announce").await, [1]);
    assert_eq!(keyspace.rows::<(String,)>("SELECT first_name FROM ks.users").await, [("Ada".to_owned(),)]);

    let steps = ["1/1", "1/2", "1/3", "1/4", "2/1", "2/2", "2/3", "3/1", "3/2", "3/3", "4/1"];
    let begun = keyspace.lines("begun ").await;
    let begun: Vec<_> = begun.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(begun, steps);
    assert_eq!(keyspace.lines("done ").await, steps.map(|step| format!("done {step}")));
    assert_eq!(
        keyspace.lines("completed ").await,
        ["completed 1", "completed 2", "completed 3", "completed 4"]
    );
    assert_eq!(keyspace.lines("claimed ").await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_on_an_empty_keyspace_and_then_on_a_full_ledger() {
    let keyspaces = sessions("hundred", 4).await;
    let reports = run_at_once(&keyspaces, 100, Duration::from_secs(1)).await;
    let migrated = reports.iter().filter(|report| report.outcome == Outcome::Migrated).count();
    assert_eq!(migrated, 1, "one of them did it");
    each_step_took_effect_once(&keyspaces[0]).await;

    let full = keyspaces[0].snapshot().await;
    let reports = run_at_once(&keyspaces, 100, Duration::from_secs(1)).await;
    assert!(reports.iter().all(|report| report.outcome == Outcome::AlreadyCurrent));
    assert_eq!(keyspaces[0].snapshot().await, full);
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_that_create_the_ledger_at_once_make_one_table() {
    let keyspaces = sessions("twenty", 4).await;
    run_at_once(&keyspaces, 20, Duration::ZERO).await;
    let id =
        "SELECT id FROM system_schema.tables WHERE keyspace_name = '@' AND table_name = 'kandra_migrations'";
    let ids = keyspaces[0].of_each_node::<uuid::Uuid>(&id.replace('@', &keyspaces[0].name)).await;
    assert!(ids.len() > 1 && ids.iter().all(|of_node| of_node.len() == 1 && of_node == &ids[0]), "{ids:?}");
    each_step_took_effect_once(&keyspaces[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_of_their_own() {
    let keyspace = Keyspace::fresh("processes").await;
    let instances: Vec<_> = (0..5).map(|_| Instance::start(&keyspace, &[])).collect();
    let mut migrated = 0;
    for instance in instances {
        let outcome = instance.outcome().await;
        assert!(outcome.starts_with("ok "), "{outcome}");
        migrated += usize::from(outcome.starts_with("ok migrated: applied 4"));
    }
    assert_eq!(migrated, 1);
    each_step_took_effect_once(&keyspace).await;
    let session = Arc::clone(&keyspace.session);
    assert_eq!(
        keyspace.by(session).runner(&MIGRATIONS).run().await.unwrap().outcome,
        Outcome::AlreadyCurrent
    );
}
