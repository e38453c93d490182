//! Plans that are refused before anything is sent.

use std::sync::Arc;

use integration::{Keyspace, Relay, connect};
use kandra_migrate::{Code, Error, Migration, Registry, migration};
use tokio::sync::OnceCell;

/// What they are to follow.
#[migration(version = 1)]
mod create_users {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY, name text)")
    }
}

/// An empty keyspace, and one with a ledger. No test here changes them, so all have the same two.
async fn keyspaces() -> [Keyspace; 2] {
    static NAMES: OnceCell<[String; 2]> = OnceCell::const_new();
    let session = connect().await;
    let names = NAMES.get_or_init(|| async {
        let empty = Keyspace::through(Arc::clone(&session), "refused", 3).await;
        let full = Keyspace::through(Arc::clone(&session), "refused", 3).await;
        full.runner(&Registry::of([&create_users::MIGRATION])).run().await.unwrap();
        [empty.name, full.name]
    });
    names.await.clone().map(|name| Keyspace { session: Arc::clone(&session), name })
}

/// Runs it on an empty keyspace and after another one: refused both times, and nothing is changed.
async fn refused(migration: &'static Migration, code: Code) -> Error {
    let [empty, full] = keyspaces().await;
    let relay = Relay::to(&empty.session).await;
    let session = relay.session().await;
    let registry = Registry::of([&create_users::MIGRATION, migration]);
    let mut errors = Vec::new();
    for keyspace in [empty, full] {
        let before = keyspace.snapshot().await;
        relay.forget();
        let error = keyspace.by(Arc::clone(&session)).runner(&registry).run().await.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(relay.writes(), [""; 0], "{error}");
        assert_eq!(keyspace.snapshot().await, before);
        errors.push(error);
    }
    let error = errors.remove(1);

    let text = error.to_string();
    assert!(text.starts_with(code.as_str()), "{text}");
    assert!(text.contains("version 2 ") && text.contains("tests/refused.rs:"), "{text}");
    assert_eq!(error.version().map(kandra_migrate::Version::get), Some(2));
    error
}

#[migration(version = 2)]
mod no_tasks {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        Plan::new([])
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_without_tasks() {
    refused(&no_tasks::MIGRATION, Code::PlanEmpty).await;
}

#[migration(version = 2)]
mod without_a_keyspace {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("CREATE TABLE ${keyspace}.orders (id bigint PRIMARY KEY)"),
            cql("CREATE TABLE carts (id bigint PRIMARY KEY)"),
        ]
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_without_a_keyspace() {
    let error = refused(&without_a_keyspace::MIGRATION, Code::Unqualified).await;
    assert!(error.to_string().contains("carts"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_without_a_keyspace_is_of_the_sessions_keyspace() {
    let (keyspace, other) = tokio::join!(Keyspace::fresh("session"), Keyspace::fresh("other"));
    let registry = Registry::of([&create_users::MIGRATION, &without_a_keyspace::MIGRATION]);
    let before = (keyspace.snapshot().await, other.snapshot().await);
    keyspace.session.use_keyspace(&other.name, false).await.unwrap();
    let error = keyspace.runner(&registry).run().await.unwrap_err();
    assert_eq!(error.code(), Code::Unqualified, "{error}");
    let text = error.to_string();
    assert!(text.contains(&keyspace.name) && text.contains(&other.name), "both are named: {text}");
    assert_eq!((keyspace.snapshot().await, other.snapshot().await), before);

    keyspace.session.use_keyspace(&keyspace.name, false).await.unwrap();
    keyspace.runner(&registry).run().await.unwrap();
    assert!(keyspace.snapshot().await.columns.contains(&"carts.id bigint".to_owned()));
    assert_eq!(keyspace.session.get_keyspace().map(|name| name.to_string()), Some(keyspace.name));
}

#[migration(version = 2)]
mod no_statement {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [cql("CREATE TABLE ${keyspace}.orders (id bigint PRIMARY KEY)"), cql(" -- later\n ; ")]
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_without_a_statement() {
    refused(&no_statement::MIGRATION, Code::CqlEmpty).await;
}

#[migration(version = 2)]
mod switches_the_keyspace {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [cql("USE ${keyspace}"), cql("CREATE TABLE orders (id bigint PRIMARY KEY)")]
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_use_statement() {
    refused(&switches_the_keyspace::MIGRATION, Code::CqlUse).await;
}

#[migration(version = 2)]
mod two_statements {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql(
            "CREATE TABLE ${keyspace}.a (id int PRIMARY KEY); CREATE TABLE ${keyspace}.b (id int PRIMARY KEY);",
        )
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_statements_in_one_task() {
    let error = refused(&two_statements::MIGRATION, Code::CqlTwo).await;
    assert!(error.explain().contains('^'), "a caret: {}", error.explain());
}

#[migration(version = 2)]
mod one_megabyte {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        let name = "x".repeat(1 << 20);
        [
            cql("CREATE TABLE ${keyspace}.orders (id bigint PRIMARY KEY)"),
            cql(format!("INSERT INTO ${{keyspace}}.users (id, name) VALUES (1, '{name}')")),
        ]
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_of_a_megabyte() {
    let error = refused(&one_megabyte::MIGRATION, Code::CqlTooLong).await;
    assert!(error.explain().len() < 4096, "the statement is not printed");
}

#[migration(version = 2)]
mod no_cql {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE TABEL ${keyspace}.orders (id bigint PRIMARY KEY)")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_is_no_cql() {
    refused(&no_cql::MIGRATION, Code::CqlMalformed).await;
}
