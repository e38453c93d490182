//! A ledger in another keyspace than the migrated ones.

use std::sync::Arc;

use cassandra::{Settings, fresh_keyspace_name};
use integration::{Keyspace, Relay, connect, connected_as, eventually, private, script, within};
use kandra_migrate::{Code, Migration, Outcome, Plan, Registry, RunEach, Runner, migration};

const REPLICATION: &str = "{'class': 'NetworkTopologyStrategy', 'replication_factor': 1}";

#[migration(version = 1)]
mod create_notes {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.notes (id int PRIMARY KEY, text text)")
    }
}

#[migration(version = 2)]
mod add_author {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("ALTER TABLE ${keyspace}.notes ADD author text")
    }
}

static MIGRATIONS: &[&Migration] = &[&create_notes::MIGRATION, &add_author::MIGRATION];

fn registry() -> Registry {
    Registry::of(MIGRATIONS.iter().copied())
}

/// A keyspace that may not be there yet.
fn named(session: &Keyspace, prefix: &str) -> Keyspace {
    Keyspace { name: fresh_keyspace_name(&format!("it_{prefix}")), ..session.clone() }
}

/// One to migrate, and one for the ledger.
async fn keyspaces(prefix: &str) -> (Keyspace, Keyspace) {
    let session = connect().await;
    let shop = Keyspace::through(Arc::clone(&session), prefix, 3).await;
    (shop, Keyspace::through(session, "ops", 3).await)
}

fn runner<'r>(shop: &Keyspace, ops: &Keyspace, registry: &'r Registry) -> Runner<'r> {
    shop.runner(registry).ledger_keyspace(&ops.name)
}

/// The states of a keyspace's versions in the ledger that `ops` has.
async fn versions(ops: &Keyspace, shop: &Keyspace) -> Vec<(i64, String)> {
    let key = format!("keyspace_name = '{}' AND scope = 'main' AND kind = 1", shop.name);
    ops.rows(&format!("SELECT version, state FROM ks.kandra_migrations WHERE {key}")).await
}

async fn tables(keyspace: &Keyspace) -> Vec<String> {
    let name = &keyspace.name;
    let cql = format!("SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{name}'");
    keyspace.rows::<(String,)>(&cql).await.into_iter().map(|(table,)| table).collect()
}

async fn assert_no_drift(runner: Runner<'_>) {
    let drift = runner.drift().await.unwrap();
    assert!(drift.compared && drift.differences.is_empty(), "{drift:?}");
}

fn completed(versions: &[i64]) -> Vec<(i64, String)> {
    versions.iter().map(|version| (*version, "COMPLETED".to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_instances_of_two_tenants_share_one_ledger_table() {
    const INSTANCES: usize = 12;
    let (shop, ops) = keyspaces("shared").await;
    let tenant = Keyspace::through(Arc::clone(&shop.session), "shared", 3).await;
    let mut runs = Vec::new();
    for n in 0..INSTANCES {
        let (shop, ops) = (if n % 2 == 0 { shop.clone() } else { tenant.clone() }, ops.clone());
        runs.push(tokio::spawn(
            async move { (n % 2, runner(&shop, &ops, &registry()).run().await.unwrap()) },
        ));
    }
    let mut applied = [0, 0];
    for run in runs {
        let (which, report) = within("the run ends", run).await.unwrap();
        applied[which] += report.applied.len();
    }
    assert_eq!(applied, [2, 2], "each version of each tenant once");
    for keyspace in [&shop, &tenant] {
        assert_eq!(versions(&ops, keyspace).await, completed(&[1, 2]));
        assert_eq!(tables(keyspace).await, ["notes"], "the ledger is not in it");
    }
    assert_eq!(tables(&ops).await, ["kandra_migrations"]);

    let registry = registry();
    assert_no_drift(runner(&shop, &ops, &registry)).await;
    let names = [&shop, &tenant].map(|keyspace| keyspace.name.clone());
    let reports = runner(&shop, &ops, &registry).run_each(names, RunEach::default()).await;
    assert!(reports.values().all(|report| report.as_ref().unwrap().outcome == Outcome::AlreadyCurrent));

    let relay = Relay::to(&shop.session).await;
    let behind = shop.by(relay.session().await);
    relay.forget();
    assert_eq!(runner(&behind, &ops, &registry).run().await.unwrap().outcome, Outcome::AlreadyCurrent);
    assert_eq!(relay.requests().len(), 1, "{:?}", relay.requests());
}

#[tokio::test(flavor = "multi_thread")]
async fn which_of_the_keyspaces_is_missing_is_said_with_the_statement_that_creates_it() {
    let (shop, ops) = keyspaces("missing").await;
    let registry = registry();
    let (no_shop, no_ops) = (named(&shop, "no_shop"), named(&shop, "no_ops"));
    let create = |keyspace: &Keyspace| format!("CREATE KEYSPACE \"{}\" WITH replication", keyspace.name);

    let error = runner(&shop, &no_ops, &registry).create_keyspace(REPLICATION).run().await.unwrap_err();
    assert_eq!(error.code(), Code::KeyspaceMissing, "{error}");
    assert!(error.to_string().contains("which is to have the ledger"), "{error}");
    assert!(error.explain().contains(&create(&no_ops)), "{}", error.explain());
    let error = runner(&shop, &no_ops, &registry).status().await.unwrap_err();
    assert_eq!(error.code(), Code::KeyspaceMissing, "{error}");

    for _ in ["without the table", "with it"] {
        let error = runner(&no_shop, &ops, &registry).run().await.unwrap_err();
        assert_eq!(error.code(), Code::KeyspaceMissing, "{error}");
        assert!(error.explain().contains(&create(&no_shop)), "{}", error.explain());
        assert_eq!(runner(&shop, &ops, &registry).run().await.unwrap().pending, []);
    }

    let report = runner(&no_shop, &ops, &registry).create_keyspace(REPLICATION).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    assert!(
        report.warnings.iter().any(|warning| warning.contains(&no_shop.name)),
        "it has one replica: {:?}",
        report.warnings
    );
}

fn creates_its_keyspace() -> Plan {
    script::plan(
        "CREATE KEYSPACE ${keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 3};
         CREATE TABLE ${keyspace}.t (a int PRIMARY KEY)",
    )
}

fn creates_it_anew() -> Plan {
    script::plan(
        "DROP KEYSPACE ${keyspace};
         CREATE KEYSPACE ${keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 3};
         CREATE TABLE ${keyspace}.u (a int PRIMARY KEY)",
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn migrations_create_and_drop_the_keyspace_that_they_migrate() {
    let (shop, ops) = keyspaces("own").await;
    let own = named(&shop, "own");
    let first = script::registry(&[creates_its_keyspace]);
    assert_eq!(runner(&own, &ops, &first).run().await.unwrap().outcome, Outcome::Migrated);
    assert_eq!(tables(&own).await, ["t"]);
    let both = script::registry(&[creates_its_keyspace, creates_it_anew]);
    assert_eq!(runner(&own, &ops, &both).run().await.unwrap().outcome, Outcome::Migrated);
    assert_eq!(tables(&own).await, ["u"]);
    assert_eq!(versions(&ops, &own).await, completed(&[1, 2]));
    assert_no_drift(runner(&own, &ops, &both)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_in_another_table_is_found_and_nothing_is_applied_twice() {
    let (shop, ops) = keyspaces("elsewhere").await;
    let (first, both) = (Registry::of([&create_notes::MIGRATION]), registry());
    shop.runner(&first).run().await.unwrap();
    let before = shop.snapshot().await;

    // It is in the keyspace itself, and looked for in another one.
    let here = format!("{}.kandra_migrations", shop.name);
    for error in [
        runner(&shop, &ops, &both).run().await.unwrap_err(),
        runner(&shop, &ops, &both).status().await.unwrap_err(),
        runner(&shop, &ops, &both).plan().await.unwrap_err(),
        runner(&shop, &ops, &both).verify().await.unwrap_err(),
        runner(&shop, &ops, &both).drift().await.unwrap_err(),
        runner(&shop, &ops, &both).wait_until_applied().await.unwrap_err(),
        runner(&shop, &ops, &both).control().rerun(1, "why").await.unwrap_err(),
    ] {
        assert_eq!(error.code(), Code::LedgerElsewhere, "{error}");
        assert!(error.to_string().contains(&here), "{error}");
        let setting = format!(".ledger_keyspace(\"{}\")", shop.name);
        assert!(error.explain().contains(&setting), "{}", error.explain());
    }
    assert_eq!(shop.snapshot().await, before);
    assert_eq!(tables(&ops).await, [""; 0], "nothing was made for it");

    // As the page says it is moved.
    runner(&shop, &ops, &first).control().baseline(1, "its ledger is in ops from now on").await.unwrap();
    shop.execute("DROP TABLE ks.kandra_migrations").await;
    let report = runner(&shop, &ops, &both).run().await.unwrap();
    assert_eq!(report.applied.len(), 1, "{report}");
    assert_eq!(versions(&ops, &shop).await, completed(&[1, 2]));

    // It is in another one, and looked for in the keyspace itself.
    let error = shop.runner(&both).run().await.unwrap_err();
    assert_eq!(error.code(), Code::LedgerElsewhere, "{error}");
    assert!(error.to_string().contains(&format!("{}.kandra_migrations", ops.name)), "{error}");
    assert_eq!(tables(&shop).await, ["notes"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_needs_to_read_and_write_the_ledger_and_no_other_one() {
    let cluster = private(Settings { auth: true, ..Settings::nodes(1) }).await;
    let hosts = cluster.contact_points().iter().map(ToString::to_string).collect::<Vec<_>>();
    let admin = Keyspace::through(connected_as(&hosts, "cassandra").await, "granted", 1).await;
    let ops = Keyspace::through(Arc::clone(&admin.session), "ops", 1).await;
    let other = Keyspace::through(Arc::clone(&admin.session), "other", 1).await;
    let (first, both) = (Registry::of([&create_notes::MIGRATION]), registry());
    // A ledger that the user may not read, and the table that it may only write.
    for keyspace in [&admin, &other] {
        runner(keyspace, &if keyspace.name == other.name { other.clone() } else { ops.clone() }, &first)
            .run()
            .await
            .unwrap();
    }
    let user = fresh_keyspace_name("it_user");
    let fresh = Keyspace::through(Arc::clone(&admin.session), "granted", 1).await;
    fresh.execute("CREATE TABLE ks.there_already (a int PRIMARY KEY)").await;
    admin.execute(&format!("CREATE ROLE {user} WITH LOGIN = true AND PASSWORD = '{user}'")).await;
    for permission in ["CREATE", "ALTER", "SELECT", "MODIFY"] {
        admin.execute(&format!("GRANT {permission} ON KEYSPACE {} TO {user}", fresh.name)).await;
    }
    let migrator = fresh.by(connected_as(&hosts, &user).await);
    let error = runner(&migrator, &ops, &both).run().await.unwrap_err();
    assert_eq!(error.code(), Code::Unauthorized, "{error}");
    for permission in ["SELECT", "MODIFY"] {
        admin.execute(&format!("GRANT {permission} ON KEYSPACE {} TO {user}", ops.name)).await;
    }
    let report = eventually("the nodes know of the grants", || async {
        runner(&migrator, &ops, &both).run().await.ok()
    })
    .await;
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    assert_eq!(versions(&ops, &fresh).await, completed(&[1, 2]));
}
