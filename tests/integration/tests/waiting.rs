//! Runs that wait for another one.

use std::time::Duration;

use integration::{Gate, Keyspace, eventually, within};
use kandra_migrate::{Code, Error, Outcome, Registry, Report, Wait, migration};
use tokio::task::JoinHandle;

#[migration(version = 1)]
mod create_executions {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql(
            "CREATE TABLE ${keyspace}.executions (step text, id uuid, attempt bigint, PRIMARY KEY (step, id))",
        )
    }
}

#[migration(version = 2, reaches_outside = "the test says when it goes on")]
mod fill {
    use integration::{Gate, execution::record};
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            record(&cx, "fill").await?;
            Gate::of(cx.keyspace()).pass().await;
            Ok(())
        })
        .idempotent()
    }
}

#[migration(version = 2, reaches_outside = "the test says when it goes on")]
mod fails {
    use integration::{Gate, execution::record};
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("CREATE TABLE ${keyspace}.orders (id bigint PRIMARY KEY)"),
            code("fill", |cx| async move {
                record(&cx, "fill").await?;
                Gate::of(cx.keyspace()).pass().await;
                Err("user 7 has no name".into())
            })
            .idempotent(),
        ]
    }
}

fn filling() -> Registry {
    Registry::of([&create_executions::MIGRATION, &fill::MIGRATION])
}

fn failing() -> Registry {
    Registry::of([&create_executions::MIGRATION, &fails::MIGRATION])
}

type Running = JoinHandle<Result<Report, Error>>;

fn start(keyspace: &Keyspace, registry: fn() -> Registry, name: &str) -> Running {
    let (keyspace, name) = (keyspace.clone(), name.to_owned());
    tokio::spawn(async move { keyspace.runner(&registry()).application(name).run().await })
}

async fn end(running: Running) -> Result<Report, Error> {
    within("a run ends", running).await.expect("it does not panic")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_waiting_run_gets_the_cause_of_the_failure() {
    const WATCHERS: usize = 20;
    let (keyspace, relay) = Keyspace::behind_relay("cause").await;
    let gate = Gate::of(&keyspace.name);
    let holder = start(&keyspace, failing, "the holder");
    gate.arrived(1).await;
    relay.forget();
    let watchers: Vec<_> =
        (0..WATCHERS).map(|n| start(&keyspace, failing, &format!("watcher {n}"))).collect();
    // A watcher reads the versions once, when it begins; after that only the head, until a version is completed.
    let versions = "\"kind\" <= 1";
    eventually("all watch", || async { (relay.answered(versions) >= WATCHERS).then_some(()) }).await;
    gate.open();

    let error = end(holder).await.unwrap_err();
    assert_eq!(error.code(), Code::StepFailed, "{error}");
    assert!(error.to_string().contains("user 7 has no name"), "{error}");
    for watcher in watchers {
        let error = end(watcher).await.unwrap_err();
        assert_eq!(error.code(), Code::FailedElsewhere, "{error}");
        let text = error.to_string();
        assert!(text.contains("user 7 has no name") && text.contains("(the holder)"), "{text}");
    }
    assert_eq!(keyspace.executions("fill").await, [1], "no storm");
    assert_eq!(keyspace.versions().await.keys().copied().collect::<Vec<_>>(), [1], "the claim is released");
    assert_eq!(keyspace.head().await.unwrap().owner, None);
    assert_eq!(keyspace.lines("failed ").await, ["failed 2/2"]);

    // The step before the one that failed is done and stays so.
    let report = keyspace.runner(&filling_after_failure()).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    assert_eq!(keyspace.executions("fill").await, [1, 1]);
}

mod corrected {
    use super::migration;

    #[migration(version = 2, reaches_outside = "executions are counted in one place")]
    pub(super) mod fails {
        use integration::execution::record;
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            [
                cql("CREATE TABLE ${keyspace}.orders (id bigint PRIMARY KEY)"),
                code("fill", |cx| async move { record(&cx, "fill").await }).idempotent(),
            ]
        }
    }
}

fn filling_after_failure() -> Registry {
    Registry::of([&create_executions::MIGRATION, &corrected::fails::MIGRATION])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_does_not_wait_says_who_has_the_lease() {
    let keyspace = Keyspace::fresh("policies").await;
    let gate = Gate::of(&keyspace.name);
    let holder = start(&keyspace, filling, "the holder");
    gate.arrived(1).await;

    let registry = filling();
    let error = keyspace.runner(&registry).wait(Wait::Fail).run().await.unwrap_err();
    assert_eq!(error.code(), Code::Held, "{error}");
    assert!(error.is_held() && error.to_string().contains("(the holder)"), "{error}");
    let limit = Duration::from_secs(1);
    let error = keyspace.runner(&registry).wait(Wait::UpTo(limit)).run().await.unwrap_err();
    assert_eq!(error.code(), Code::WaitedTooLong, "{error}");
    assert!(error.to_string().contains("(the holder)"), "{error}");
    let report = keyspace.runner(&registry).wait(Wait::ReturnPending).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::Pending);
    assert_eq!(report.pending.iter().map(|one| one.version.get()).collect::<Vec<_>>(), [2]);
    let status = keyspace.runner(&registry).status().await.unwrap();
    assert!(status.holder.is_some_and(|holder| holder.contains("(the holder)")));

    // What is pending for the holder is not needed by this one.
    let first = Registry::of([&create_executions::MIGRATION]);
    let report = keyspace.runner(&first).wait(Wait::Fail).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::AlreadyCurrent);

    let waiting = start(&keyspace, filling, "the watcher");
    gate.open();
    assert_eq!(end(holder).await.unwrap().outcome, Outcome::Migrated);
    let report = end(waiting).await.unwrap();
    assert!(matches!(report.outcome, Outcome::WaitedFor(_) | Outcome::AlreadyCurrent), "{report}");
    assert_eq!(keyspace.executions("fill").await, [1]);
}
