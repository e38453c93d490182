//! Code tasks that do not end as they should.

use integration::{Gate, Keyspace};
use kandra_migrate::{Code, Error, Migration, Outcome, Registry, Wait, migration};

#[migration(version = 1)]
mod create_executions {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql(
            "CREATE TABLE ${keyspace}.executions (step text, id uuid, attempt bigint, PRIMARY KEY (step, id))",
        )
    }
}

mod broken {
    use super::migration;

    #[migration(version = 2, reaches_outside = "executions are counted in one place")]
    pub(super) mod panics {
        use integration::execution::record;
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            code("fill", |cx| async move {
                record(&cx, "fill").await?;
                let nobody: Option<u64> = None;
                nobody.map(drop).expect("a user in row 7");
                Ok(())
            })
            .idempotent()
        }
    }
}

mod corrected {
    use super::migration;

    #[migration(version = 2, reaches_outside = "executions are counted in one place")]
    pub(super) mod panics {
        use integration::execution::record;
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            code("fill", |cx| async move { record(&cx, "fill").await }).idempotent()
        }
    }
}

#[migration(version = 2, reaches_outside = "executions are counted in one place")]
mod never_ends {
    use integration::execution::record;
    use kandra_migrate::prelude::*;
    use std::time::Duration;
    fn up() -> impl IntoPlan {
        [
            code("fill", |cx| async move {
                record(&cx, "fill").await?;
                std::future::pending().await
            })
            .idempotent()
            .timeout(Duration::from_secs(2)),
            code("next", |cx| async move { record(&cx, "next").await }).idempotent(),
        ]
    }
}

#[migration(version = 2, reaches_outside = "executions are counted in one place")]
mod stalls {
    use integration::execution::record;
    use kandra_migrate::prelude::*;
    use std::time::Duration;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            record(&cx, "fill").await?;
            std::future::pending().await
        })
        .idempotent()
        .stall_timeout(Duration::from_secs(2))
    }
}

#[migration(version = 2, reaches_outside = "executions are counted in one place")]
mod fails_once {
    use integration::execution::record;
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("mail", |cx| async move {
            record(&cx, "mail").await?;
            Err("the mail server said 451".into())
        })
        .once()
    }
}

#[migration(version = 2, reaches_outside = "executions are counted in one place")]
mod fails_twice {
    use integration::{Gate, execution::record};
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            record(&cx, "fill").await?;
            // The count of those who came stands for what changes in the world meanwhile.
            let gate = Gate::of(cx.keyspace());
            gate.open();
            gate.pass().await;
            if gate.count() < 3 { Err("not yet".into()) } else { Ok(()) }
        })
        .idempotent()
        .retries(2)
    }
}

/// A keyspace with the table, and the run of a migration that does not succeed.
async fn fails(migration: &'static Migration) -> (Keyspace, Registry, Error) {
    let keyspace = Keyspace::fresh("tasks").await;
    keyspace.runner(&Registry::of([&create_executions::MIGRATION])).run().await.unwrap();
    let registry = Registry::of([&create_executions::MIGRATION, migration]);
    let error = keyspace.runner(&registry).run().await.unwrap_err();
    assert_eq!(error.version().map(kandra_migrate::Version::get), Some(2));
    (keyspace, registry, error)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_a_failure_that_releases_the_claim() {
    let (keyspace, registry, error) = fails(&broken::panics::MIGRATION).await;
    assert_eq!(error.code(), Code::StepPanicked, "{error}");
    assert!(error.to_string().contains("a user in row 7"), "{error}");
    assert_eq!(keyspace.versions().await.keys().copied().collect::<Vec<_>>(), [1], "the claim is released");
    assert_eq!(keyspace.head().await.unwrap().owner, None, "and so is the lease");
    let failure = keyspace.events().await.into_iter().find(|event| event.error.is_some()).unwrap();
    assert_eq!(failure.lines, ["failed 2/1"]);
    assert!(failure.error.is_some_and(|error| error.contains("a user in row 7")));

    let error = keyspace.runner(&registry).wait(Wait::Fail).run().await.unwrap_err();
    assert_eq!(error.code(), Code::BackingOff, "not tried again at once: {error}");
    assert_eq!(keyspace.executions("fill").await, [1]);

    let corrected = Registry::of([&create_executions::MIGRATION, &corrected::panics::MIGRATION]);
    let report = keyspace.runner(&corrected).wait(Wait::Fail).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "an edited text is tried at once: {report}");
    assert_eq!(keyspace.executions("fill").await, [1, 1]);
}

/// The version is paused, its step was executed once, and no later run submits it around that.
async fn is_paused(keyspace: &Keyspace, registry: &Registry, error: &Error, reason: &str) {
    assert_eq!(error.code(), Code::Paused, "{error}");
    assert!(error.is_paused() && error.to_string().contains(reason), "{error}");
    assert_eq!(keyspace.versions().await[&2], "PAUSED");
    assert_eq!(keyspace.head().await.unwrap().owner, None);
    let before = keyspace.snapshot().await;
    let again = keyspace.runner(registry).run().await.unwrap_err();
    assert_eq!(again.code(), Code::Paused, "{again}");
    assert!(again.to_string().contains(reason), "the next run says why: {again}");
    assert_eq!(keyspace.snapshot().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_never_ends_is_paused_by_its_timeout() {
    let (keyspace, registry, error) = fails(&never_ends::MIGRATION).await;
    is_paused(&keyspace, &registry, &error, "did not end within its timeout").await;
    assert_eq!(keyspace.executions("fill").await, [1]);
    assert_eq!(keyspace.executions("next").await, [0; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_without_progress_is_paused_by_its_stall_timeout() {
    let (keyspace, registry, error) = fails(&stalls::MIGRATION).await;
    is_paused(&keyspace, &registry, &error, "no sign of progress").await;
    assert_eq!(keyspace.executions("fill").await, [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_once_task_that_fails_is_paused_until_an_operator_says_what_it_did() {
    let (keyspace, registry, error) = fails(&fails_once::MIGRATION).await;
    is_paused(&keyspace, &registry, &error, "the mail server said 451").await;
    keyspace.runner(&registry).control().mark_done(2, "the mail is out").await.unwrap();
    let report = keyspace.runner(&registry).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    assert_eq!(keyspace.executions("mail").await, [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_are_made_in_process() {
    let keyspace = Keyspace::fresh("retries").await;
    let registry = Registry::of([&create_executions::MIGRATION, &fails_twice::MIGRATION]);
    let report = keyspace.runner(&registry).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    assert_eq!(Gate::of(&keyspace.name).count(), 3);
    assert_eq!(keyspace.lines("begun 2/1").await.len(), 1, "they are one attempt");
}
