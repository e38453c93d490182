//! What is no copy.

use integration::{Keyspace, within};
use kandra_migrate::{BackfillError, Code, CopyError, Error, Registry, migration};

use super::{cause, migrate};

#[migration(version = 1)]
mod fewer {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("CREATE TABLE ${keyspace}.by_name (name text PRIMARY KEY, id int)"),
            code("copy", |cx| async move { cx.backfill("items").copy_into("by_name").run().await })
                .idempotent(),
        ]
    }
}

#[migration(version = 2)]
mod fewer_verified {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("verify", |cx| async move { cx.backfill("items").copy_into("by_name").verify(100).await })
            .idempotent()
    }
}

/// The rows of one that is another's copy, once it has been changed by this.
async fn verified(keyspace: &Keyspace, change: &str) -> Result<(), Error> {
    keyspace.execute(change).await;
    let registry = Registry::of([&fewer::MIGRATION, &fewer_verified::MIGRATION]);
    within("the run ends", keyspace.runner(&registry).run()).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_copy_is_found() {
    let keyspace = Keyspace::fresh("copy_verify").await;
    keyspace.execute("CREATE TABLE ks.items (id int PRIMARY KEY, name text)").await;
    for id in 0..20 {
        keyspace.execute(&format!("INSERT INTO ks.items (id, name) VALUES ({id}, 'item {}')", id % 19)).await;
    }
    migrate(&keyspace, &fewer::MIGRATION).await;
    // Two rows have become one: the newer one.
    let ids = keyspace.rows::<(i32,)>("SELECT id FROM ks.by_name WHERE name = 'item 0'").await;
    assert_eq!(ids.len(), 1);
    let error = verified(&keyspace, "UPDATE ks.items SET name = 'item 0' WHERE id = 0").await.unwrap_err();
    assert_eq!(error.code(), Code::StepFailed, "{error}");
    let found = cause::<BackfillError>(&error);
    assert!(matches!(found, BackfillError::Row { .. }), "{error}");
    let error = verified(&keyspace, "DELETE FROM ks.items WHERE id = 19").await.unwrap_err();
    assert!(error.to_string().contains("which is not newer"), "{error}");
    // One that the other table has alone.
    let error = verified(&keyspace, "DELETE FROM ks.items WHERE id = 0").await.unwrap_err();
    assert!(matches!(cause(&error), CopyError::Count { from_rows: 18, into_rows: 19, .. }), "{error}");
    let error = verified(&keyspace, "DELETE FROM ks.by_name WHERE name = 'item 3'").await.unwrap_err();
    assert!(matches!(cause(&error), CopyError::Missing { .. }), "{error}");
    verified(&keyspace, "DELETE FROM ks.items WHERE id = 3").await.unwrap_err();
    verified(&keyspace, "DELETE FROM ks.by_name WHERE name = 'item 0'").await.unwrap();
}
