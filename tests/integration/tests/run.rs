//! Runs from a fresh keyspace on.

use std::sync::Arc;
use std::time::Duration;

use integration::keyspace;
use kandra_migrate::{Outcome, Registry, Runner, migration};

#[migration(version = 1)]
mod create_users {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY, name text)")
            .undo("DROP TABLE ${keyspace}.users")
    }
}

#[migration(version = 2)]
mod seed_users {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("INSERT INTO ${keyspace}.users (id, name) VALUES (1, 'Ada Lovelace')"),
            cql("ALTER TABLE ${keyspace}.users ADD first_name text"),
            code("fill first_name", fill).idempotent(),
        ]
    }
    async fn fill(cx: TaskContext) -> TaskResult {
        let users: Vec<(i64, String)> = cx.rows("SELECT id, name FROM ${keyspace}.users", ()).await?;
        for (id, name) in &users {
            let first = name.split(' ').next();
            cx.execute("UPDATE ${keyspace}.users SET first_name = ? WHERE id = ?", (first, id)).await?;
        }
        Ok(())
    }
}

fn all() -> Registry {
    Registry::of([&create_users::MIGRATION, &seed_users::MIGRATION])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_gets_its_schema_once_and_the_next_start_has_nothing_to_do() {
    let (session, keyspace) = keyspace("run", 3).await;
    let registry = all();
    let report = Runner::new(Arc::clone(&session), &registry).keyspace(&keyspace).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    let report = Runner::new(Arc::clone(&session), &registry).keyspace(&keyspace).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::AlreadyCurrent, "{report}");
    let rows = session.query_unpaged(format!("SELECT first_name FROM {keyspace}.users"), ()).await.unwrap();
    let (first,) = rows.into_rows_result().unwrap().single_row::<(String,)>().unwrap();
    assert_eq!(first, "Ada");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_runs_at_once_apply_each_step_once() {
    let (session, keyspace) = keyspace("hundred", 3).await;
    let runs: Vec<_> = (0..100)
        .map(|n| {
            let (session, keyspace) = (Arc::clone(&session), keyspace.clone());
            tokio::spawn(async move {
                let registry = all();
                let runner = Runner::new(session, &registry).keyspace(keyspace).application(format!("n{n}"));
                runner.start_jitter(Duration::from_secs(1)).run().await
            })
        })
        .collect();
    let mut migrated = 0;
    for run in runs {
        let report = run.await.unwrap().unwrap();
        migrated += usize::from(report.outcome == Outcome::Migrated);
    }
    assert_eq!(migrated, 1);
}
