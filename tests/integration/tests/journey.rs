//! From `#[migration]` to a migrated keyspace, as a user goes.

use std::time::Duration;

use integration::{Keyspace, MIGRATIONS, Relay, connect};
use kandra_migrate::{Code, Outcome, Registry, Runner, migration};

kandra_migrate::registry!(
    /// All migrations of these tests: many have one version.
    static OF_THESE_TESTS
);

#[migration(version = 6)]
mod create_orders {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.orders (id uuid PRIMARY KEY, user bigint)")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_gets_its_schema_and_the_next_start_has_nothing_to_do() {
    let keyspace = Keyspace::fresh("journey").await;
    let report = keyspace.runner(&MIGRATIONS).application("shop 1.0").run().await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    let applied: Vec<_> = report.applied.iter().map(|one| (one.version.get(), one.name.as_str())).collect();
    let names = [(1, "create_tables"), (2, "count_statements"), (3, "fill_first_names"), (4, "announce")];
    assert_eq!(applied, names);
    assert_eq!(keyspace.rows::<(String,)>("SELECT first_name FROM ks.users").await, [("Ada".to_owned(),)]);

    let after = keyspace.snapshot().await;
    let report = keyspace.runner(&MIGRATIONS).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::AlreadyCurrent, "{report}");
    assert_eq!(keyspace.snapshot().await, after);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_defaults_of_the_runner_work() {
    let keyspace = Keyspace::fresh("defaults").await;
    let report =
        Runner::new(keyspace.session.clone(), &MIGRATIONS).keyspace(&keyspace.name).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    assert_eq!(keyspace.executions("fill").await, [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_largest_statement_timeout_that_is_accepted_works() {
    let keyspace = Keyspace::fresh("timeouts").await;
    let (lease, heartbeat) = (Duration::from_secs(9), Duration::from_secs(3));
    let runner =
        |timeout| keyspace.runner(&MIGRATIONS).lease(lease).heartbeat(heartbeat).statement_timeout(timeout);
    let error = runner(Duration::from_secs(6) + Duration::from_millis(1)).run().await.unwrap_err();
    assert_eq!(error.code(), Code::Config, "{error}");

    let largest = (1..=6).rev().map(Duration::from_secs);
    for timeout in largest {
        match integration::within("a code task goes on", runner(timeout).run()).await {
            Ok(report) => {
                assert_eq!(report.outcome, Outcome::Migrated, "{report}");
                return;
            }
            Err(error) => assert_eq!(error.code(), Code::Config, "{error}"),
        }
    }
    panic!("some statement timeout fits into a lease of 9 s");
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_verify_and_status_write_nothing() {
    let (keyspace, relay) = Keyspace::behind_relay("reads").await;
    let empty = keyspace.snapshot().await;
    relay.forget();

    let plan = keyspace.runner(&MIGRATIONS).plan().await.unwrap();
    assert_eq!(plan.len(), 4);
    assert_eq!(plan[0].steps.len(), 4);
    assert_eq!(plan[1].steps[2].cql.as_deref(), Some(expected_masked(&keyspace).as_str()));
    let report = keyspace.runner(&MIGRATIONS).verify().await.unwrap();
    assert_eq!(report.pending.len(), 4);
    let status = keyspace.runner(&MIGRATIONS).status().await.unwrap();
    assert!(status.migrations.iter().all(|migration| migration.state == "QUEUED"), "{status}");
    assert_eq!(relay.writes(), [""; 0]);
    assert_eq!(keyspace.snapshot().await, empty);
    assert_eq!(empty.columns, [""; 0]);

    keyspace.runner(&MIGRATIONS).run_to(2).await.unwrap();
    let half = keyspace.snapshot().await;
    relay.forget();
    let plan = keyspace.runner(&MIGRATIONS).plan().await.unwrap();
    assert_eq!(plan.iter().map(|one| one.version.get()).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(keyspace.runner(&MIGRATIONS).verify().await.unwrap().pending.len(), 2);
    let status = keyspace.runner(&MIGRATIONS).status().await.unwrap();
    let completed: Vec<_> =
        status.migrations.iter().map(kandra_migrate::MigrationStatus::is_completed).collect();
    assert_eq!(completed, [true, true, false, false], "{status}");
    assert_eq!(relay.writes(), [""; 0]);
    assert_eq!(keyspace.snapshot().await, half);
}

fn expected_masked(keyspace: &Keyspace) -> String {
    format!("INSERT INTO \"{}\".users (id, name) VALUES (…, '…')", keyspace.name)
}

#[tokio::test(flavor = "multi_thread")]
async fn merged_registries_are_one_history() {
    let keyspace = Keyspace::fresh("merged").await;
    let own: &Registry = Box::leak(Box::new(Registry::of([&create_orders::MIGRATION])));
    let merged = Registry::merge([&MIGRATIONS, own]);
    let report = keyspace.runner(&merged).run().await.unwrap();
    assert_eq!(report.applied.iter().map(|one| one.version.get()).collect::<Vec<_>>(), [1, 2, 3, 4, 6]);
    let report = keyspace.runner(&MIGRATIONS).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::AlreadyCurrent);
    assert!(report.warnings.iter().any(|warning| warning.contains("version 6 create_orders")), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_that_cannot_be_right_is_refused_before_anything_is_sent() {
    let session = connect().await;
    let relay = Relay::to(&session).await;
    let keyspace = Keyspace::through(session, "registry", 3).await;
    let keyspace = keyspace.by(relay.session().await);
    relay.forget();

    let error = keyspace.runner(&OF_THESE_TESTS).run().await.unwrap_err();
    assert_eq!(error.code(), Code::DuplicateVersion, "{error}");
    let text = error.to_string();
    assert!(text.starts_with("KM0031 ") && text.matches(".rs:").count() == 2, "{text}");
    let error = keyspace.runner(&Registry::of([])).run().await.unwrap_err();
    assert_eq!(error.code(), Code::RegistryEmpty, "{error}");
    let error = keyspace.runner(&MIGRATIONS).lease(Duration::from_secs(1)).run().await.unwrap_err();
    assert_eq!(error.code(), Code::Config, "{error}");
    assert_eq!(relay.requests(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_keyspace_is_created_only_on_request() {
    let (keyspace, relay) = Keyspace::behind_relay("missing").await;
    let missing = Keyspace { name: cassandra::fresh_keyspace_name("it_missing"), ..keyspace };
    relay.forget();
    let error = missing.runner(&MIGRATIONS).run().await.unwrap_err();
    assert_eq!(error.code(), Code::KeyspaceMissing, "{error}");
    let explained = error.explain();
    assert!(
        explained.contains(&format!("CREATE KEYSPACE \"{}\" WITH replication", missing.name)),
        "{explained}"
    );
    for reads in ["plan", "verify", "status"] {
        let runner = missing.runner(&MIGRATIONS);
        let error = match reads {
            "plan" => runner.plan().await.unwrap_err(),
            "verify" => runner.verify().await.unwrap_err(),
            _ => runner.status().await.unwrap_err(),
        };
        assert_eq!(error.code(), Code::KeyspaceMissing, "{reads}: {error}");
    }
    assert_eq!(relay.writes(), [""; 0]);

    let replication = "{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}";
    let report = missing.runner(&MIGRATIONS).create_keyspace(replication).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    assert_eq!(
        report.warnings.iter().filter(|warning| warning.contains("keyspace")).count(),
        0,
        "{report:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn replication_that_loses_data_is_a_warning() {
    let keyspace = Keyspace::fresh("copies").await;
    let simple = Keyspace { name: format!("{}_simple", keyspace.name), ..keyspace };
    let replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    let report = simple.runner(&MIGRATIONS).create_keyspace(replication).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    for risk in ["SimpleStrategy", "replication factor of 1"] {
        assert!(report.warnings.iter().any(|warning| warning.contains(risk)), "{risk}: {report:?}");
    }
}
