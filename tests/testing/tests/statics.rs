//! Rows that are copied before versions are applied.

mod connect;

use std::sync::LazyLock;

use connect::connect;
use kandra_migrate::testing::TestKeyspace;
use kandra_migrate::{Registry, migration};

#[migration(version = 1)]
mod create_places {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql(
            "CREATE TABLE ${keyspace}.places (country text, city text, motto text static, \"Sights\" set<text>, \
             PRIMARY KEY (country, city))",
        )
    }
}

#[migration(version = 2)]
mod shout {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("shout", |cx| async move {
            cx.backfill("places")
                .rewrite("motto", "motto", async |(motto,): (Option<String>,)| {
                    Ok(motto.map(|motto| (motto.to_uppercase(),)))
                })
                .await
        })
        .idempotent()
    }
}

static MIGRATIONS: LazyLock<Registry> =
    LazyLock::new(|| Registry::of([&create_places::MIGRATION, &shout::MIGRATION]));

#[kandra_migrate::test(MIGRATIONS, session = connect, up_to = 1)]
async fn partitions_that_have_nothing_but_static_columns_are_copied(db: TestKeyspace) {
    db.execute("INSERT INTO ${keyspace}.places (country, motto) VALUES ('de', 'Einigkeit')").await;
    db.execute("INSERT INTO ${keyspace}.places (country, city, \"Sights\") VALUES ('fr', 'Lyon', {'bridge', 'hill'})")
        .await;
    db.assert_idempotent().await;
    let mottos =
        db.rows::<(String, Option<String>)>("SELECT country, motto FROM ${keyspace}.places", ()).await;
    assert!(mottos.contains(&("de".to_owned(), Some("EINIGKEIT".to_owned()))), "{mottos:?}");
}
