//! Users that may not do what a run needs.

use cassandra::Settings;
use integration::{Keyspace, connected_as, eventually, private};
use kandra_migrate::{Code, Outcome, Registry, migration};

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
        [
            cql("INSERT INTO ${keyspace}.users (id) VALUES (1)"),
            cql("CREATE TABLE ${keyspace}.orders (id bigint PRIMARY KEY)"),
        ]
    }
}

fn first() -> Registry {
    Registry::of([&create_users::MIGRATION])
}

fn both() -> Registry {
    Registry::of([&create_users::MIGRATION, &create_orders::MIGRATION])
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_user_may_not_do_is_an_error_that_changes_nothing() {
    let cluster = private(Settings { auth: true, ..Settings::nodes(1) }).await;
    let hosts = cluster.contact_points().iter().map(ToString::to_string).collect::<Vec<_>>();
    let admin = Keyspace::through(connected_as(&hosts, "cassandra").await, "rights", 1).await;
    for user in ["reader", "writer"] {
        admin.execute(&format!("CREATE ROLE {user} WITH LOGIN = true AND PASSWORD = '{user}'")).await;
        admin.execute(&format!("GRANT SELECT ON KEYSPACE {} TO {user}", admin.name)).await;
    }
    let reader = admin.by(connected_as(&hosts, "reader").await);
    let writer = admin.by(connected_as(&hosts, "writer").await);

    // There is no ledger, and it may not be created.
    let before = admin.snapshot().await;
    let error = reader.runner(&first()).run().await.unwrap_err();
    assert_eq!(error.code(), Code::Unauthorized, "{error}");
    assert!(!error.retryable(), "{error}");
    assert_eq!(admin.snapshot().await, before);

    // There is one, and it may not be written.
    admin.runner(&first()).run().await.unwrap();
    let before = admin.snapshot().await;
    let error = reader.runner(&both()).run().await.unwrap_err();
    assert_eq!(error.code(), Code::Unauthorized, "{error}");
    assert_eq!(reader.runner(&first()).run().await.unwrap().outcome, Outcome::AlreadyCurrent);
    assert_eq!(reader.runner(&both()).status().await.unwrap().migrations.len(), 2);
    assert_eq!(admin.snapshot().await, before);

    // It may be written, and a table may not be created.
    admin.execute(&format!("GRANT MODIFY ON KEYSPACE {} TO writer", admin.name)).await;
    eventually("the nodes know of the grant", || async {
        let text = format!("DELETE FROM {}.users WHERE id = 7", writer.name);
        writer.session.query_unpaged(text, ()).await.ok()
    })
    .await;
    let error = writer.runner(&both()).run().await.unwrap_err();
    assert_eq!(error.code(), Code::StepFailed, "{error}");
    let text = error.to_string();
    assert!(text.contains("version 2 create_orders, step 2 of 2"), "{text}");
    assert!(error.explain().contains("has no CREATE permission"), "the server's text: {}", error.explain());
    assert_eq!(admin.versions().await.keys().copied().collect::<Vec<_>>(), [1], "the claim is released");
    assert_eq!(admin.head().await.unwrap().owner, None);

    // Once it may, the step that is done stays done.
    admin.execute(&format!("GRANT CREATE ON KEYSPACE {} TO writer", admin.name)).await;
    let report =
        eventually("the nodes know of the grant", || async { writer.runner(&both()).run().await.ok() }).await;
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    assert_eq!(admin.lines("begun 2/1 ").await.len(), 1);
}
