//! Ledgers that a run does not write to.

use integration::Keyspace;
use kandra_migrate::{Code, Error, Outcome, Registry, migration};
use scylla::statement::SerialConsistency;

#[migration(version = 1)]
mod create_users {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY)")
    }
}

#[migration(version = 2)]
mod create_orders {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.orders (id bigint PRIMARY KEY)")
    }
}

fn first() -> Registry {
    Registry::of([&create_users::MIGRATION])
}

fn both() -> Registry {
    Registry::of([&create_users::MIGRATION, &create_orders::MIGRATION])
}

/// A run of both is refused, and so is looking; the keyspace stays as it is.
async fn refused(keyspace: &Keyspace, code: Code) -> Error {
    let before = keyspace.snapshot().await;
    let both = both();
    let error = keyspace.runner(&both).status().await.unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    let error = keyspace.runner(&both).run().await.unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert_eq!(keyspace.snapshot().await, before);
    error
}

/// Changes the head as nobody but a newer version of the crate would.
async fn set_head(keyspace: &Keyspace, assignment: &str) {
    let key = format!(
        "keyspace_name = '{}' AND scope = 'main' AND kind = 0 AND version = 0 AND n = 0",
        keyspace.name
    );
    keyspace.execute(&format!("UPDATE ks.kandra_migrations SET {assignment} WHERE {key} IF EXISTS")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_its_name_with_other_columns() {
    let keyspace = Keyspace::fresh("shape").await;
    keyspace.execute("CREATE TABLE ks.kandra_migrations (id int PRIMARY KEY, note text)").await;
    keyspace.execute("INSERT INTO ks.kandra_migrations (id, note) VALUES (1, 'mine')").await;
    let error = refused(&keyspace, Code::LedgerShape).await;
    assert!(error.to_string().contains(&format!("{}.kandra_migrations", keyspace.name)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_of_another_type() {
    let keyspace = Keyspace::fresh("types").await;
    keyspace.runner(&first()).run().await.unwrap();
    keyspace.execute("ALTER TABLE ks.kandra_migrations DROP lease_ms").await;
    let error = refused(&keyspace, Code::LedgerShape).await;
    assert!(error.to_string().contains("lease_ms"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_format_that_this_binary_does_not_read() {
    let keyspace = Keyspace::fresh("format").await;
    keyspace.runner(&first()).run().await.unwrap();
    set_head(&keyspace, "fmt_read = 99, fmt_write = 99").await;
    let error = refused(&keyspace, Code::LedgerNewer).await;
    assert!(error.to_string().contains("99"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_format_that_this_binary_reads_and_does_not_write() {
    let keyspace = Keyspace::fresh("fmt_write").await;
    keyspace.runner(&first()).run().await.unwrap();
    set_head(&keyspace, "fmt_write = 99").await;
    let before = keyspace.snapshot().await;
    let report = keyspace.runner(&first()).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::AlreadyCurrent, "an older binary that needs nothing starts");
    let error = keyspace.runner(&both()).run().await.unwrap_err();
    assert_eq!(error.code(), Code::LedgerNewer, "{error}");
    assert_eq!(keyspace.snapshot().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_serial_level_than_the_stored_one() {
    let keyspace = Keyspace::fresh("serial").await;
    keyspace.runner(&first()).run().await.unwrap();
    let before = keyspace.snapshot().await;
    let both = both();
    let local = keyspace.runner(&both).serial_consistency(SerialConsistency::LocalSerial);
    let error = local.run().await.unwrap_err();
    assert_eq!(error.code(), Code::SerialDiffers, "{error}");
    let text = error.to_string();
    assert!(text.contains("consistency SERIAL") && text.contains("LOCAL_SERIAL"), "{text}");
    assert_eq!(keyspace.snapshot().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn local_serial_from_the_start_works() {
    let keyspace = Keyspace::fresh("local").await;
    let first = first();
    let local = || keyspace.runner(&first).serial_consistency(SerialConsistency::LocalSerial);
    assert_eq!(local().run().await.unwrap().outcome, Outcome::Migrated);
    assert_eq!(local().run().await.unwrap().outcome, Outcome::AlreadyCurrent);
}
