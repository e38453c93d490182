//! Nodes that are killed.

use std::sync::Arc;
use std::time::Duration;

use cassandra::Settings;
use integration::{Gate, Keyspace, Private, connect_to, eventually, private, within};
use kandra_migrate::{Code, Error, Outcome, Registry, Report, migration};
use tokio::task::JoinHandle;

#[migration(version = 1, reaches_outside = "the test says when it goes on")]
mod create_tables {
    use integration::{Gate, execution::record};
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        let executions = "CREATE TABLE ${keyspace}.executions (step text, id uuid, attempt bigint, PRIMARY KEY (step, id))";
        let table = |n| cql(format!("CREATE TABLE ${{keyspace}}.t{n} (id bigint PRIMARY KEY)"));
        let gate = code("gate", |cx| async move {
            record(&cx, "gate").await?;
            Gate::of(cx.keyspace()).pass().await;
            Ok(())
        });
        let mut tasks = vec![cql(executions)];
        tasks.extend((0..3).map(table));
        tasks.push(gate.idempotent());
        tasks.extend((3..15).map(table));
        tasks
    }
}

fn registry() -> Registry {
    Registry::of([&create_tables::MIGRATION])
}

async fn three_nodes() -> (Private, Keyspace) {
    let cluster = private(Settings::nodes(3)).await;
    let hosts: Vec<_> = cluster.contact_points().iter().map(ToString::to_string).collect();
    let keyspace = Keyspace::through(connect_to(&hosts).await, "nodes", 3).await;
    (cluster, keyspace)
}

type Running = JoinHandle<Result<Report, Error>>;

fn start(keyspace: &Keyspace) -> Running {
    let keyspace = keyspace.clone();
    tokio::spawn(async move {
        keyspace
            .runner(&registry())
            .unreachable_after(Duration::from_secs(20))
            .application("first")
            .run()
            .await
    })
}

/// Nodes start while nothing else is polled: not for longer than a start takes.
fn restart(cluster: &Private, numbers: &[u8]) {
    tokio::task::block_in_place(|| {
        for number in numbers {
            cluster.node(*number).unwrap().start().unwrap();
        }
    });
}

/// Each table is there on each node, and in the journal.
async fn all_is_there(keyspace: &Keyspace) {
    let tables =
        format!("SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{}'", keyspace.name);
    for of_node in keyspace.of_each_node::<String>(&tables).await {
        assert_eq!(of_node.len(), 17, "15 tables, the executions, the ledger: {of_node:?}");
    }
    assert_eq!(keyspace.versions().await[&1], "COMPLETED");
    assert!(keyspace.steps(1).await.iter().all(|step| step.state == "DONE"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_coordinator_of_the_schema_statements_is_killed_between_two_of_them() {
    let (cluster, keyspace) = three_nodes().await;
    let gate = Gate::of(&keyspace.name);
    let running = start(&keyspace);
    gate.arrived(1).await;
    let coordinator = keyspace.steps(1).await[0].coordinator.clone().unwrap();
    let node = cluster.nodes().find(|node| coordinator.ends_with(&node.address().to_string())).unwrap();
    node.kill().unwrap();
    gate.open();
    let report = within("the run ends", running).await.unwrap().unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    let last = keyspace.steps(1).await.pop().unwrap().coordinator.unwrap();
    assert_ne!(last, coordinator, "another node took over");
    restart(&cluster, &[node.number()]);
    all_is_there(&keyspace).await;
    assert_eq!(keyspace.executions("gate").await, [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_is_killed_while_schema_statements_are_under_way() {
    let (cluster, keyspace) = three_nodes().await;
    Gate::of(&keyspace.name).open();
    let running = start(&keyspace);
    let coordinator = eventually("the ninth step begins", || async {
        keyspace.head().await?;
        keyspace.steps(1).await.get(8).and_then(|step| step.coordinator.clone())
    })
    .await;
    let node = cluster.nodes().find(|node| coordinator.ends_with(&node.address().to_string())).unwrap();
    node.kill().unwrap();
    let report = within("the run ends", running).await.unwrap().unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    restart(&cluster, &[node.number()]);
    all_is_there(&keyspace).await;
    assert_eq!(keyspace.executions("gate").await, [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_quorum_a_run_gives_up_and_changes_nothing() {
    let (cluster, keyspace) = three_nodes().await;
    for number in [2, 3] {
        cluster.node(number).unwrap().kill().unwrap();
    }
    let limit = Duration::from_secs(15);
    let registry = registry();
    let runner = keyspace.runner(&registry).unreachable_after(limit);
    let error = within("the run gives up", runner.run()).await.unwrap_err();
    assert_eq!(error.code(), Code::QuorumLost, "{error}");
    assert!(error.is_unreachable() && error.retryable());

    restart(&cluster, &[2, 3]);
    let session = reconnected(&cluster).await;
    let keyspace = keyspace.by(session);
    let tables =
        format!("SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{}'", keyspace.name);
    assert_eq!(keyspace.of_each_node::<String>(&tables).await, [[""; 0]; 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quorum_that_is_lost_during_a_run() {
    let (cluster, keyspace) = three_nodes().await;
    let gate = Gate::of(&keyspace.name);
    let running = start(&keyspace);
    gate.arrived(1).await;
    for number in [2, 3] {
        cluster.node(number).unwrap().kill().unwrap();
    }
    gate.open();
    let error = within("the run gives up", running).await.unwrap().unwrap_err();
    assert!(error.is_unreachable(), "{error}");

    restart(&cluster, &[2, 3]);
    let keyspace = keyspace.by(reconnected(&cluster).await);
    let report = within("the next run ends", keyspace.brief_runner(&registry()).run()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    all_is_there(&keyspace).await;
    for step in 1..=4 {
        assert_eq!(keyspace.lines(&format!("begun 1/{step} ")).await.len(), 1, "{step} was done before");
    }
}

async fn reconnected(cluster: &Private) -> Arc<scylla::client::session::Session> {
    let hosts: Vec<_> = cluster.contact_points().iter().map(ToString::to_string).collect();
    connect_to(&hosts).await
}
