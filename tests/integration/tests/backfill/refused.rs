//! Backfills that cannot work.

use integration::{Keyspace, within};
use kandra_migrate::{BackfillError, Code, Error, Migration, Registry, migration};

use super::people;

#[migration(version = 1)]
mod no_table {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move { cx.backfill("nobody").for_each_range(async |_, _| Ok(0)).await })
            .idempotent()
    }
}

#[migration(version = 1)]
mod counters {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move { cx.backfill("tallies").for_each_range(async |_, _| Ok(0)).await })
            .idempotent()
    }
}

#[migration(version = 1)]
mod view {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move { cx.backfill("by_name").for_each_range(async |_, _| Ok(0)).await })
            .idempotent()
    }
}

#[migration(version = 1)]
mod no_page {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            cx.backfill("people").page_rows(0).for_each_range(async |_, _| Ok(0)).await
        })
        .idempotent()
    }
}

#[migration(version = 1, reaches_outside = "it has two backfills at once")]
mod twice_at_once {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            let one = || cx.backfill("people").for_each_range(async |_, _| Ok(0));
            tokio::try_join!(one(), one()).map(drop)
        })
        .idempotent()
    }
}

#[migration(version = 1)]
mod no_value {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            cx.backfill("people").for_each_row("nickname", async |_, (_,): (String,)| Ok(())).await
        })
        .idempotent()
    }
}

#[migration(version = 1)]
mod no_workers {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            cx.backfill("people").concurrency(0).for_each_range(async |_, _| Ok(0)).await
        })
        .idempotent()
    }
}

#[migration(version = 1)]
mod twice {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            cx.backfill("people").for_each_range(async |_, _| Ok(0)).await?;
            cx.backfill("people").for_each_range(async |_, _| Ok(0)).await
        })
        .idempotent()
    }
}

#[migration(version = 1)]
mod other_type {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            cx.backfill("people").for_each_row("name", async |_, (_,): (i32,)| Ok(())).await
        })
        .idempotent()
    }
}

#[migration(version = 1)]
mod key_changed {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            cx.backfill("people")
                .for_each_row("id", async |cx, (id,): (i64,)| {
                    cx.execute(
                        "UPDATE ${keyspace}.people SET id = 1 WHERE country = 'de' AND id = ? AND n = 0",
                        (id,),
                    )
                    .await
                })
                .await
        })
        .idempotent()
    }
}

#[migration(version = 1)]
mod poison {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            cx.backfill("people")
                .for_each_row("id", async |_, (id,): (i64,)| match id {
                    7 => Err(TaskError::msg("no such person")),
                    _ => Ok(()),
                })
                .await
        })
        .idempotent()
    }
}

#[migration(version = 1)]
mod shown_poison {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            cx.backfill("people")
                .show_keys()
                .for_each_row("id", async |_, (id,): (i64,)| match id {
                    7 => Err(TaskError::msg("no such person")),
                    _ => Ok(()),
                })
                .await
        })
        .idempotent()
    }
}

async fn failure(keyspace: &Keyspace, migration: &'static Migration) -> Error {
    let registry = Registry::of([migration]);
    let error = within("the run ends", keyspace.runner(&registry).run()).await.unwrap_err();
    assert_eq!(error.code(), Code::StepFailed, "{error}");
    error
}

/// The cause, and those behind it.
fn cause(error: &Error) -> &BackfillError {
    let mut next = std::error::Error::source(error);
    while let Some(error) = next {
        if let Some(cause) = error.downcast_ref() {
            return cause;
        }
        next = error.source();
    }
    panic!("not of a backfill: {error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_work_is_refused_with_its_reason() {
    let keyspace = people("backfill_refused", 20).await;
    keyspace.execute("CREATE TABLE ks.tallies (id bigint PRIMARY KEY, n counter)").await;
    let error = failure(&keyspace, &no_table::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::NoTable { table, .. } if table == "nobody"), "{error}");
    let error = failure(&keyspace, &counters::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::Counters { .. }), "{error}");
    let view = "CREATE MATERIALIZED VIEW ks.by_name AS SELECT * FROM ks.people WHERE name IS NOT NULL AND country IS NOT NULL \
                AND id IS NOT NULL AND n IS NOT NULL PRIMARY KEY (name, country, id, n)";
    keyspace.execute(view).await;
    let error = failure(&keyspace, &view::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::View { table, .. } if table == "people"), "{error}");
    let error = failure(&keyspace, &no_page::MIGRATION).await;
    assert!(
        matches!(cause(&error), BackfillError::Setting { setting: "page_rows", value: 0, .. }),
        "{error}"
    );
    let error = failure(&keyspace, &no_workers::MIGRATION).await;
    assert!(
        matches!(cause(&error), BackfillError::Setting { setting: "concurrency", value: 0, .. }),
        "{error}"
    );
    for twice in [&twice::MIGRATION, &twice_at_once::MIGRATION] {
        let error = failure(&keyspace, twice).await;
        assert!(matches!(cause(&error), BackfillError::SameName { .. }), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_does_not_fit_is_an_error_with_its_column() {
    let keyspace = people("backfill_row", 20).await;
    let error = failure(&keyspace, &other_type::MIGRATION).await;
    let text = error.to_string();
    assert!(matches!(cause(&error), BackfillError::Range { attempts: 1, .. }), "{text}");
    assert!(text.contains("name") && text.contains("i32") && text.contains("Text"), "{text}");
    keyspace.execute("ALTER TABLE ks.people ADD nickname text").await;
    let error = failure(&keyspace, &no_value::MIGRATION).await;
    let text = error.to_string();
    assert!(matches!(cause(&error), BackfillError::Range { attempts: 1, .. }), "{text}");
    assert!(text.contains("the row with the token ") && text.contains("nickname"), "{text}");
    assert!(text.contains("String") && text.contains("Text"), "{text}");
    let error = failure(&keyspace, &key_changed::MIGRATION).await;
    let text = error.to_string();
    assert!(matches!(cause(&error), BackfillError::Row { .. }), "{text}");
    assert!(text.contains("PRIMARY KEY part id found in SET part"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_row_that_fails_is_named() {
    let keyspace = people("backfill_poison", 20).await;
    let error = failure(&keyspace, &poison::MIGRATION).await;
    let text = error.to_string();
    let (token,) = keyspace
        .rows::<(i64,)>("SELECT token(country, id) FROM ks.people WHERE country = 'fr' AND id = 7")
        .await[0];
    assert!(text.contains(&format!("the row with the token {token}: no such person")), "{text}");
    assert!(!text.contains("fr"), "{text}");
    let text = failure(&keyspace, &shown_poison::MIGRATION).await.to_string();
    assert!(text.contains("the row with the key fr, 7: no such person") || text.contains("'fr'"), "{text}");
}
