//! How much a run asks of the database.

use integration::{Keyspace, MIGRATIONS};
use kandra_migrate::__private::{Source, into_plan};
use kandra_migrate::{Migration, Outcome, Plan, Registry, cql};

const MANY: i64 = 10_000;

/// Migrations as a macro would have left them.
fn many() -> Vec<&'static Migration> {
    let migration = |version: i64| -> &'static Migration {
        Box::leak(Box::new(Migration::new(Source {
            version,
            name: Box::leak(format!("migration_{version}").into_boxed_str()),
            checksum: Box::leak(format!("k1:{version:064x}").into_boxed_str()),
            also: &[],
            accept: &[],
            reaches_outside: None,
            out_of_order: false,
            after_start: false,
            file: file!(),
            line: u32::try_from(version).unwrap(),
            module_path: "many",
            files: &[],
            plan: plan_of_one,
        })))
    };
    (1..=MANY).map(migration).collect()
}

fn plan_of_one() -> Plan {
    into_plan(cql("CREATE TABLE ${keyspace}.t (id bigint PRIMARY KEY)"))
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_to_do_is_one_request_whatever_is_applied() {
    let (keyspace, relay) = Keyspace::behind_relay("nothing").await;
    keyspace.runner(&MIGRATIONS).run().await.unwrap();
    relay.forget();
    let report = keyspace.runner(&MIGRATIONS).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::AlreadyCurrent);
    assert_eq!(relay.requests().len(), 1, "{:?}", relay.requests());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_to_do_after_ten_thousand_versions_is_one_request() {
    let (keyspace, relay) = Keyspace::behind_relay("many").await;
    let registry = Registry::of(many());
    keyspace.runner(&registry).control().baseline(MANY, "before there was a ledger").await.unwrap();
    assert_eq!(keyspace.versions().await.len(), 10_000);

    relay.forget();
    let report = keyspace.runner(&registry).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::AlreadyCurrent);
    let requests = relay.requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert!(
        requests[0].text.starts_with("SELECT ") && requests[0].text.contains("\"kind\" = 0"),
        "{requests:?}"
    );

    // One less is accepted as well, and then they are read.
    let fewer = Registry::of(many().into_iter().take(9_999));
    let report = keyspace.runner(&fewer).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::AlreadyCurrent);
    assert_eq!(relay.writes(), [""; 0]);
}
