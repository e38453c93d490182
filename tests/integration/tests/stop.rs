//! Runs that are stopped, or dropped.

use integration::{Gate, Keyspace, eventually, within};
use kandra_migrate::{Code, Outcome, Registry, migration};
use tokio::sync::oneshot;

#[migration(version = 1)]
mod create_tables {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql(
                "CREATE TABLE ${keyspace}.executions (step text, id uuid, attempt bigint, PRIMARY KEY (step, id))",
            ),
            cql("CREATE TABLE ${keyspace}.counts (step text PRIMARY KEY, n counter)"),
        ]
    }
}

#[migration(version = 2, reaches_outside = "the test says when it goes on")]
mod fill {
    use integration::{Gate, execution::record};
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("UPDATE ${keyspace}.counts SET n = n + 1 WHERE step = 'counted'"),
            code("fill", |cx| async move {
                record(&cx, "fill").await?;
                Gate::of(cx.keyspace()).pass().await;
                Ok(())
            })
            .idempotent(),
            cql("ALTER TABLE ${keyspace}.executions ADD note text"),
        ]
    }
}

#[migration(version = 2, reaches_outside = "the test says when it goes on")]
mod many_tables {
    use integration::Gate;
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        let tables = (0..12).map(|n| cql(format!("CREATE TABLE ${{keyspace}}.t{n} (id bigint PRIMARY KEY)")));
        Plan::new(tables).then(
            code("gate", |cx| async move {
                Gate::of(cx.keyspace()).pass().await;
                Ok(())
            })
            .idempotent(),
        )
    }
}

fn filling() -> Registry {
    Registry::of([&create_tables::MIGRATION, &fill::MIGRATION])
}

async fn counted_once(keyspace: &Keyspace) {
    assert_eq!(keyspace.count("counted").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_in_a_code_task_gives_the_lease_back_and_the_next_run_goes_on_at_once() {
    let keyspace = Keyspace::fresh("stop").await;
    let gate = Gate::of(&keyspace.name);
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn({
        let keyspace = keyspace.clone();
        async move {
            let registry = filling();
            let runner = keyspace.runner(&registry).shutdown_on(async move { drop(stopped.await) });
            runner.run().await
        }
    });
    gate.arrived(1).await;
    stop.send(()).unwrap();
    let error = within("the run stops", running).await.unwrap().unwrap_err();
    assert_eq!(error.code(), Code::Shutdown, "{error}");
    assert!(error.is_shutdown());
    let report = error.report().unwrap();
    assert_eq!(report.applied.iter().map(|one| one.version.get()).collect::<Vec<_>>(), [1]);
    assert_eq!(report.pending.iter().map(|one| one.version.get()).collect::<Vec<_>>(), [2]);
    assert_eq!(keyspace.head().await.unwrap().owner, None, "released");

    gate.open();
    let report = keyspace.runner(&filling()).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    assert!(report.waited.is_zero(), "it did not wait for a lease");
    assert_eq!(keyspace.lines("taken over").await, [""; 0]);
    assert_eq!(keyspace.executions("fill").await.len(), 2);
    counted_once(&keyspace).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_between_schema_statements_lets_the_current_one_end() {
    let (keyspace, relay) = Keyspace::behind_relay("stop_schema").await;
    let registry = Registry::of([&create_tables::MIGRATION, &many_tables::MIGRATION]);
    let stop = eventually("the second table is asked for", || async {
        relay.requests().iter().any(|request| request.text.contains(".t1 ")).then_some(())
    });
    let error = keyspace.runner(&registry).shutdown_on(stop).run().await.unwrap_err();
    assert_eq!(error.code(), Code::Shutdown, "{error}");
    let steps = keyspace.steps(2).await;
    assert!((2..12).contains(&steps.len()), "{steps:?}");
    assert!(steps.iter().all(|step| step.state == "DONE"), "{steps:?}");
    let columns = keyspace.snapshot().await.columns;
    let tables = columns.iter().filter(|column| column.starts_with('t')).count();
    assert_eq!(tables, steps.len(), "what is recorded is what is there");
    assert_eq!(keyspace.head().await.unwrap().owner, None, "released");

    Gate::of(&keyspace.name).open();
    let report = keyspace.runner(&registry).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    assert!(report.waited.is_zero());
    assert_eq!(keyspace.lines("begun 2/").await.len(), 13, "no step was begun twice");
    assert_eq!(
        relay.requests().iter().filter(|request| request.text.starts_with("CREATE TABLE ")).count(),
        15
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_dropped_is_taken_over_after_its_lease() {
    let keyspace = Keyspace::fresh("dropped").await;
    let gate = Gate::of(&keyspace.name);
    let registry = filling();
    tokio::select! {
        result = keyspace.brief_runner(&registry).application("the dropped").run() => panic!("{result:?}"),
        () = gate.arrived(1) => {}
    }
    gate.open();
    let before = keyspace.head().await.unwrap();
    assert!(before.owner.is_some(), "nobody gave the lease back");
    let report = within("the next run takes over", keyspace.brief_runner(&registry).run()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    assert!(report.waited >= integration::LEASE, "not before the lease has lapsed: {report:?}");
    let taken = keyspace.lines("taken over from ").await;
    assert!(taken.len() == 1 && taken[0].contains("(the dropped)"), "{taken:?}");
    assert_eq!(
        keyspace.executions("fill").await,
        [1, 2],
        "the step in doubt ran again, as its second attempt"
    );
    counted_once(&keyspace).await;
}
