//! Versions that a start does not wait for.

#[path = "../src/bin/instance/deferred.rs"]
mod migrations;

use std::sync::{Arc, Mutex};

use integration::{Keyspace, eventually, within};
use kandra_migrate::{MigrationReport, Outcome, Progress, RunEach, Wait};

use crate::instance::Instance;
use migrations::registry;

fn versions(migrations: &[MigrationReport]) -> Vec<i64> {
    migrations.iter().map(|one| one.version.get()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fleet_starts_while_an_instance_is_at_what_is_deferred_and_another_one_finishes_it() {
    const FLEET: usize = 4;
    let (keyspace, registry) = (Keyspace::fresh("deferred").await, registry());
    let working = Instance::start(&keyspace, &["deferred", "fill"]);
    eventually("the step is executed", || async {
        keyspace.executions_so_far("fill").await.filter(|attempts| !attempts.is_empty())
    })
    .await;

    let fleet: Vec<_> = (0..FLEET).map(|_| Instance::start(&keyspace, &["start"])).collect();
    for instance in fleet {
        assert_eq!(instance.outcome().await, "ok already current; deferred 2: 2 fill, 3 drop_name");
    }
    let report = keyspace.runner(&registry).wait(Wait::Fail).run().await.unwrap();
    assert_eq!((report.outcome, versions(&report.deferred)), (Outcome::AlreadyCurrent, vec![2, 3]));
    let report = keyspace.runner(&registry).wait(Wait::Fail).wait_until_applied().await.unwrap();
    assert_eq!((report.outcome, versions(&report.deferred)), (Outcome::AlreadyCurrent, vec![2, 3]));
    let error = keyspace.runner(&registry).wait(Wait::Fail).run_deferred().await.unwrap_err();
    assert!(error.is_held(), "{error}");
    let status = keyspace.runner(&registry).status().await.unwrap();
    assert!(status.holder.is_some(), "it goes on all the while");
    let found: Vec<_> = status.migrations.iter().map(|one| (one.state, one.deferred)).collect();
    assert_eq!(found, [("COMPLETED", false), ("RUNNING", true), ("QUEUED", true)]);

    working.kill();
    let report = keyspace.runner(&registry).wait(Wait::Fail).run().await.unwrap();
    assert_eq!(versions(&report.deferred), [2, 3], "a dead one is not waited for either");
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let runner = keyspace.brief_runner(&registry).on_progress(move |progress| {
        if let Progress::Applied { version, .. } = progress {
            heard.lock().unwrap().push(version);
        }
    });
    let report = within("the next one finishes it", runner.run_deferred()).await.unwrap();
    assert_eq!((versions(&report.applied), versions(&report.deferred)), (vec![2, 3], vec![]));
    assert_eq!(*told.lock().unwrap(), [2, 3]);
    assert_eq!(keyspace.executions("fill").await, [1, 2]);
    assert!(!keyspace.snapshot().await.columns.contains(&"users.name text".to_owned()));
    let report = keyspace.runner(&registry).run().await.unwrap();
    assert_eq!((report.outcome, versions(&report.deferred)), (Outcome::AlreadyCurrent, vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deferred_is_left_in_each_tenant_unless_it_is_asked_for() {
    let (keyspace, registry) = (Keyspace::fresh("deferred_each").await, registry());
    let each = |each: RunEach| {
        let reports = keyspace.runner(&registry).run_each([keyspace.name.clone()], each);
        let keyspace = &keyspace;
        async move { within("each run ends", reports).await.remove(&keyspace.name).unwrap().unwrap() }
    };
    for applied in [vec![1], vec![]] {
        let report = each(RunEach::default()).await;
        assert_eq!((versions(&report.applied), versions(&report.deferred)), (applied, vec![2, 3]));
    }
    let verified = keyspace.runner(&registry).verify().await.unwrap();
    assert_eq!((versions(&verified.pending), versions(&verified.deferred)), (vec![], vec![2, 3]));
    let planned = keyspace.runner(&registry).plan().await.unwrap();
    let planned: Vec<_> = planned.iter().map(|one| (one.version.get(), one.deferred)).collect();
    assert_eq!(planned, [(2, true), (3, true)]);
    let report = each(RunEach { deferred: true, ..RunEach::default() }).await;
    assert_eq!((versions(&report.applied), versions(&report.deferred)), (vec![2, 3], vec![]));
}
