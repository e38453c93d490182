//! What a developer sees of a test that fails.

mod connect;

use std::process::Command;
use std::sync::{Arc, LazyLock, OnceLock};

use connect::connect;
use kandra_migrate::testing::{Setup, TestKeyspace};
use kandra_migrate::{Registry, migration};

#[migration(version = 1)]
mod create_users {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY, name text)")
    }
}

#[migration(version = 2)]
mod count_users {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("CREATE TABLE ${keyspace}.attempts (id bigint PRIMARY KEY)")
                .undo("DROP TABLE ${keyspace}.attempts"),
            // Nothing of it is the same a second time.
            code("count", count).idempotent().undo("ALTER TABLE ${keyspace}.users ADD left_behind int"),
        ]
    }

    async fn count(cx: TaskContext) -> TaskResult {
        cx.execute("INSERT INTO ${keyspace}.attempts (id) VALUES (?)", (cx.attempt(),)).await
    }
}

static MIGRATIONS: LazyLock<Registry> =
    LazyLock::new(|| Registry::of([&create_users::MIGRATION, &count_users::MIGRATION]));

/// What something of a test's keyspace panics with.
async fn panic_of<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> String {
    let Err(ended) = tokio::spawn(work).await else { panic!("it has passed") };
    let panic = ended.into_panic();
    panic.downcast_ref::<String>().cloned().expect("a text")
}

#[kandra_migrate::test(MIGRATIONS, session = connect, up_to = 1)]
async fn an_undo_that_leaves_something_behind_is_shown(db: TestKeyspace) {
    let text = panic_of(async move { db.assert_undo_restores().await }).await;
    assert!(text.contains("version 2 count_users: the undo does not lead back"), "{text}");
    assert!(text.contains("\n+     \"left_behind\" int,\n"), "{text}");
}

#[kandra_migrate::test(MIGRATIONS, session = connect, up_to = 1)]
async fn a_task_that_is_not_idempotent_is_shown(db: TestKeyspace) {
    let (of_task, session) = (db.clone(), Arc::clone(db.session()));
    let text = panic_of(async move { of_task.assert_idempotent().await }).await;
    assert!(text.contains("\n+ attempts: {\"id\": 2}\n"), "{text}");
    let twin = text.split("not as in ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a name");
    assert_ne!(twin, db.name());
    session.query_unpaged(format!("DROP KEYSPACE {twin}"), ()).await.expect("the second keyspace is kept");
}

#[kandra_migrate::test(MIGRATIONS, session = connect)]
async fn a_schema_that_differs_is_shown(db: TestKeyspace) {
    let of_task = db.clone();
    let text = panic_of(async move { of_task.assert_schema("schema.cql").await }).await;
    assert!(text.contains("\n+ CREATE TABLE ${keyspace}.\"attempts\" (\n"), "{text}");
    assert!(text.contains("KANDRA_UPDATE_SNAPSHOTS=1"), "{text}");
    let text = panic_of(async move { db.assert_schema("nowhere.cql").await }).await;
    assert!(text.contains("there is no nowhere.cql yet"), "{text}");
}

#[kandra_migrate::test(MIGRATIONS, session = connect, up_to = 1)]
async fn a_task_that_is_not_there_is_named_with_those_that_are(db: TestKeyspace) {
    let of_task = db.clone();
    let text = panic_of(async move { of_task.run_task("fill").await }).await;
    assert!(text.contains("version 2 count_users, which is next, has no task `fill`"), "{text}");
    assert!(text.contains("`count`"), "{text}");
    db.run().await;
    let text = panic_of(async move { db.run_task("count").await }).await;
    assert!(text.contains("no version is pending"), "{text}");
}

/// Run by the test below.
#[ignore = "fails on purpose"]
#[kandra_migrate::test(MIGRATIONS, session = connect)]
async fn fails_on_purpose(db: TestKeyspace) -> Result<(), String> {
    Err(format!("on purpose in {}", db.name()))
}

/// Run by the test below.
#[ignore = "panics on purpose"]
#[kandra_migrate::test(MIGRATIONS, session = connect, up_to = 1)]
async fn panics_on_purpose(db: TestKeyspace) {
    db.execute("SELECT * FROM ${keyspace}.nowhere").await;
}

#[kandra_migrate::test(MIGRATIONS, session = connect, up_to = 0)]
async fn a_keyspace_of_a_failed_test_is_kept_and_named_and_an_old_one_dropped(db: TestKeyspace) {
    let old = db.name().replacen(&db.name()[..8], "kt_10000", 1);
    db.execute(&format!(
        "CREATE KEYSPACE {old} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
    ))
    .await;
    for (test, why) in
        [("fails_on_purpose", "on purpose in kt_"), ("panics_on_purpose", "${keyspace}.nowhere")]
    {
        let binary = std::env::current_exe().expect("this binary");
        let output = Command::new(binary).args(["--ignored", "--exact", test]).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!output.status.success() && text.contains(why), "{text}");
        let kept = text.split("keyspace is kept as ").nth(1).and_then(|rest| rest.lines().next());
        let kept = kept.unwrap_or_else(|| panic!("no keyspace is named: {text}"));
        let users = format!("SELECT * FROM {kept}.users");
        db.session().query_unpaged(users, ()).await.expect("the keyspace is there");
        db.execute(&format!("DROP KEYSPACE {kept}")).await;
    }
    let cql = "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?";
    assert_eq!(db.rows::<(String,)>(cql, (old,)).await, [], "the other processes have dropped it");
}

/// Run by the test below.
#[ignore = "needs what the test below says"]
#[kandra_migrate::test(MIGRATIONS, up_to = 0)]
async fn by_the_environment(db: TestKeyspace) {
    assert_eq!(db.runner().plan().await.expect("a plan").len(), 2);
}

#[test]
fn the_environment_names_the_database_or_it_is_said_what_to_do() {
    let hosts = cassandra::database(3).expect("a database to test with").contact_points().join(",");
    let run = |hosts: &str| {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command.args(["--ignored", "--exact", "by_the_environment"]).env("KANDRA_TEST_HOSTS", hosts);
        let output = command.output().expect("it runs");
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (passed, text) = run(&hosts);
    assert!(passed, "{text}");
    let (passed, text) = run("");
    assert!(!passed && text.contains("no database to test with. One of these:"), "{text}");
}

#[test]
fn the_keyspace_of_a_test_that_passes_is_dropped() {
    let name = Arc::new(OnceLock::new());
    let seen = Arc::clone(&name);
    Setup::new(&MIGRATIONS, "passes", "").session(connect).run(async move |db| {
        seen.set(db.name().to_owned()).expect("one test");
    });
    let name = name.get().expect("the test has run").clone();
    Setup::new(&MIGRATIONS, "looks", "").session(connect).up_to(0).run(async move |db| {
        let cql = "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?";
        assert_eq!(db.rows::<(String,)>(cql, (name,)).await, []);
    });
}
