//! Nodes that are killed.

use std::sync::Arc;
use std::time::Duration;

use cassandra::Settings;
use integration::{Gate, Keyspace, Private, connect_to, eventually, private, within};
use kandra_migrate::{Code, Error, Outcome, Registry, Report, migration};
use scylla::cluster::Node;
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
mod create_tables {
    use integration::{Gate, execution::record};
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        let table = |n| cql(format!("CREATE TABLE ${{keyspace}}.t{n} (id bigint PRIMARY KEY)"));
        let gate = code("gate", |cx| async move {
            record(&cx, "gate").await?;
            Gate::of(cx.keyspace()).pass().await;
            Ok(())
        });
        let mut tasks: Vec<_> = (0..3).map(table).collect();
        tasks.push(gate.idempotent());
        tasks.extend((3..15).map(table));
        tasks
    }
}

fn first() -> Registry {
    Registry::of([&create_executions::MIGRATION])
}

fn both() -> Registry {
    Registry::of([&create_executions::MIGRATION, &create_tables::MIGRATION])
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
        keyspace.runner(&both()).unreachable_after(Duration::from_secs(20)).application("first").run().await
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
    assert_eq!(keyspace.versions().await[&2], "COMPLETED");
    assert!(keyspace.steps(2).await.iter().all(|step| step.state == "DONE"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_coordinator_of_the_schema_statements_is_killed_between_two_of_them() {
    let (cluster, keyspace) = three_nodes().await;
    let gate = Gate::of(&keyspace.name);
    let running = start(&keyspace);
    gate.arrived(1).await;
    let coordinator = keyspace.steps(2).await[0].coordinator.clone().unwrap();
    let node = cluster.nodes().find(|node| coordinator.ends_with(&node.address().to_string())).unwrap();
    node.kill().unwrap();
    eventually("the session knows", || async {
        let state = keyspace.session.get_cluster_state();
        let lost = |known: &&Arc<Node>| coordinator.ends_with(&known.address.to_string());
        state.get_nodes_info().iter().find(lost).is_some_and(|known| !known.is_connected()).then_some(())
    })
    .await;
    gate.open();
    let report = within("the run ends", running).await.unwrap().unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    let last = keyspace.steps(2).await.pop().unwrap().coordinator.unwrap();
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
    let key = format!(
        "keyspace_name = '{}' AND scope = 'main' AND kind = 2 AND version = 2 AND n = 8",
        keyspace.name
    );
    let ninth = format!("SELECT coordinator FROM ks.kandra_migrations WHERE {key}");
    let (coordinator,) = eventually("the ninth step begins", || async {
        keyspace.rows_so_far::<(String,)>(&ninth).await.and_then(|mut rows| rows.pop())
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
    keyspace.runner(&first()).run().await.unwrap();
    let before = keyspace.snapshot().await;
    for number in [2, 3] {
        cluster.node(number).unwrap().kill().unwrap();
    }
    let both = both();
    let runner = keyspace.runner(&both).unreachable_after(Duration::from_secs(15));
    let error = within("the run gives up", runner.run()).await.unwrap_err();
    assert_eq!(error.code(), Code::QuorumLost, "{error}");
    assert!(error.is_unreachable() && error.retryable());

    restart(&cluster, &[2, 3]);
    let keyspace = keyspace.by(reconnected(&cluster).await);
    assert_eq!(keyspace.snapshot().await, before);
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
    let report = within("the next run ends", keyspace.brief_runner(&both()).run()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    all_is_there(&keyspace).await;
    for step in 1..=3 {
        assert_eq!(keyspace.lines(&format!("begun 2/{step} ")).await.len(), 1, "{step} was done before");
    }
}

async fn reconnected(cluster: &Private) -> Arc<scylla::client::session::Session> {
    let hosts: Vec<_> = cluster.contact_points().iter().map(ToString::to_string).collect();
    connect_to(&hosts).await
}
