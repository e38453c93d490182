//! What cannot be copied or filled.

use kandra_migrate::{BackfillError, CopyError, migration};

use super::{cause, failure, people};

#[migration(version = 1)]
mod itself {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("copy", |cx| async move { cx.backfill("people").copy_into("People").run().await }).idempotent()
    }
}

#[migration(version = 1)]
mod no_target {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("copy", |cx| async move { cx.backfill("people").copy_into("nowhere").run().await }).idempotent()
    }
}

#[migration(version = 1)]
mod counters {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("copy", |cx| async move { cx.backfill("people").copy_into("tallies").run().await }).idempotent()
    }
}

#[migration(version = 1)]
mod view {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("copy", |cx| async move { cx.backfill("by_name").copy_into("people").run().await }).idempotent()
    }
}

#[migration(version = 1)]
mod into_less {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("copy", |cx| async move { cx.backfill("people").copy_into("less").run().await }).idempotent()
    }
}

#[migration(version = 1)]
mod null_keys {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("copy", |cx| async move {
            let copy = cx.backfill("people").copy_into("less");
            copy.except("motto, \"Full Name\", tags, sizes, home, work, visits").run().await
        })
        .idempotent()
    }
}

#[migration(version = 1)]
mod other_types {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("copy", |cx| async move {
            let copy = cx.backfill("people").copy_into("less");
            let copy = copy.except("motto, \"Full Name\", tags, sizes, home, work, visits");
            copy.compute("mail", "id", |(id,): (i32,)| Ok((id.to_string(),))).run().await
        })
        .idempotent()
    }
}

#[migration(version = 1)]
mod expiring_sets {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("copy", |cx| async move { cx.backfill("tagged").copy_into("tagged_2").run().await }).idempotent()
    }
}

#[migration(version = 1)]
mod key_filled {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            cx.backfill("people").rewrite("n", "n", async |(n,): (i32,)| Ok(Some((n,)))).await
        })
        .idempotent()
    }
}

#[migration(version = 1)]
mod missing_filled {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            cx.backfill("people").rewrite("age", "n", async |(n,): (i32,)| Ok(Some((n,)))).await
        })
        .idempotent()
    }
}

#[migration(version = 1)]
mod list_filled {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            cx.backfill("people").rewrite("visits", "n", async |(n,): (i32,)| Ok(Some((vec![n],)))).await
        })
        .idempotent()
    }
}

#[migration(version = 1)]
mod other_type_filled {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", |cx| async move {
            cx.backfill("people").rewrite("mail", "n", async |(n,): (i64,)| Ok(Some((n.to_string(),)))).await
        })
        .idempotent()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_work_is_refused_before_the_first_row() {
    let keyspace = people("copy_refused").await;
    keyspace.execute("CREATE TABLE ks.tallies (id bigint PRIMARY KEY, n counter)").await;
    keyspace
        .execute("CREATE TABLE ks.less (mail text, id bigint, n int, country text, PRIMARY KEY (mail, id))")
        .await;
    keyspace
        .execute(
            "CREATE MATERIALIZED VIEW ks.by_name AS SELECT country, id, n, mail FROM ks.people \
             WHERE country IS NOT NULL AND id IS NOT NULL AND n IS NOT NULL AND mail IS NOT NULL \
             PRIMARY KEY (mail, country, id, n)",
        )
        .await;
    for table in ["tagged", "tagged_2"] {
        let ttl = if table == "tagged" { " WITH default_time_to_live = 9000" } else { "" };
        keyspace.execute(&format!("CREATE TABLE ks.{table} (id int PRIMARY KEY, tags set<text>){ttl}")).await;
    }
    let of = async |migration| failure(&keyspace, migration).await;
    let error = of(&itself::MIGRATION).await;
    assert!(matches!(cause(&error), CopyError::Itself { table } if table == "people"), "{error}");
    let error = of(&no_target::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::NoTable { table, .. } if table == "nowhere"), "{error}");
    let error = of(&counters::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::Counters { .. }), "{error}");
    let error = of(&view::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::View { table, .. } if table == "people"), "{error}");
    let error = of(&into_less::MIGRATION).await;
    assert!(
        matches!(cause(&error), CopyError::NotInTarget { column, .. } if column == "Full Name" || column == "motto"),
        "{error}"
    );
    let error = of(&other_types::MIGRATION).await;
    assert!(matches!(cause(&error), CopyError::Types { .. }), "{error}");
    let error = of(&expiring_sets::MIGRATION).await;
    assert!(matches!(cause(&error), CopyError::CollectionTtl { column, .. } if column == "tags"), "{error}");

    let error = of(&key_filled::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::KeyColumn { column, .. } if column == "n"), "{error}");
    let error = of(&missing_filled::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::NoColumn { column, .. } if column == "age"), "{error}");
    let error = of(&list_filled::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::List { column, .. } if column == "visits"), "{error}");
    let error = of(&other_type_filled::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::Types { .. }), "{error}");
    assert!(keyspace.rows::<(String,)>("SELECT mail FROM ks.less").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_without_a_key_in_the_other_table_is_named() {
    let keyspace = people("copy_null_key").await;
    keyspace
        .execute("CREATE TABLE ks.less (mail text, id bigint, n int, country text, PRIMARY KEY (mail, id))")
        .await;
    keyspace.execute("INSERT INTO ks.people (country, id, n) VALUES ('de', 1000, 1)").await;
    let error = failure(&keyspace, &null_keys::MIGRATION).await;
    let BackfillError::Row { key, source, .. } = cause(&error) else { panic!("{error}") };
    assert!(
        matches!(source.downcast_ref(), Some(CopyError::NullKey { column, .. }) if column == "mail"),
        "{error}"
    );
    assert!(key.starts_with("the token "), "{key}");
}
