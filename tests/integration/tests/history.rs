//! Histories that the binary's migrations do not fit to.

use integration::Keyspace;
use kandra_migrate::{Code, Outcome, Registry, migration};

mod released {
    use super::migration;

    #[migration(version = 1)]
    pub(super) mod create_users {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY)")
        }
    }

    #[migration(version = 2)]
    pub(super) mod create_orders {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            cql("CREATE TABLE ${keyspace}.orders (id bigint PRIMARY KEY)")
        }
    }

    #[migration(version = 3)]
    pub(super) mod create_carts {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            cql("CREATE TABLE ${keyspace}.carts (id bigint PRIMARY KEY)")
        }
    }
}

mod edited {
    use super::migration;

    #[migration(version = 1)]
    pub(super) mod create_users {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY, name text)")
        }
    }
}

mod accepted {
    use super::migration;

    #[migration(version = 1, accept = ["k1:50f678c4a321a1020331437cd0da57635146277fba8ac86a600044a1e1688555"])]
    pub(super) mod create_users {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY) WITH comment = ''")
        }
    }
}

mod late {
    use super::migration;

    #[migration(version = 2, out_of_order)]
    pub(super) mod create_orders {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            cql("CREATE TABLE ${keyspace}.orders (id bigint PRIMARY KEY)")
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_migration() {
    let keyspace = Keyspace::fresh("edited").await;
    keyspace.runner(&Registry::of([&released::create_users::MIGRATION])).run().await.unwrap();
    let before = keyspace.snapshot().await;
    let registry = Registry::of([&edited::create_users::MIGRATION, &released::create_orders::MIGRATION]);
    let error = keyspace.runner(&registry).run().await.unwrap_err();
    assert_eq!(error.code(), Code::ChecksumMismatch, "{error}");
    assert!(error.is_mismatch());
    let (stored, ours) =
        (released::create_users::MIGRATION.checksum(), edited::create_users::MIGRATION.checksum());
    let explained = error.explain();
    for part in
        [stored, ours, &edited::create_users::MIGRATION.location(), &format!("accept = [\"{stored}\"]")]
    {
        assert!(explained.contains(part), "{part}: {explained}");
    }
    assert_eq!(keyspace.runner(&registry).verify().await.unwrap_err().code(), Code::ChecksumMismatch);
    let status = keyspace.runner(&registry).status().await.unwrap();
    assert_eq!(status.migrations[0].unchanged, Some(false), "status still shows where it stands: {status}");
    assert_eq!(keyspace.snapshot().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_is_declared_to_have_no_effect() {
    assert_eq!(accepted::create_users::MIGRATION.accept(), [released::create_users::MIGRATION.checksum()]);
    let keyspace = Keyspace::fresh("accepted").await;
    keyspace.runner(&Registry::of([&released::create_users::MIGRATION])).run().await.unwrap();
    let before = keyspace.snapshot().await;
    let accepted = Registry::of([&accepted::create_users::MIGRATION]);
    let report = keyspace.runner(&accepted).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::AlreadyCurrent);
    assert_eq!(keyspace.snapshot().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_below_the_applied_ones() {
    let keyspace = Keyspace::fresh("below").await;
    let without = [&released::create_users::MIGRATION, &released::create_carts::MIGRATION];
    keyspace.runner(&Registry::of(without)).run().await.unwrap();
    let before = keyspace.snapshot().await;
    let all = Registry::of([without[0], &released::create_orders::MIGRATION, without[1]]);
    let error = keyspace.runner(&all).run().await.unwrap_err();
    assert_eq!(error.code(), Code::BelowFrontier, "{error}");
    let explained = error.explain();
    assert!(
        explained.contains("version 2 create_orders") && explained.contains("tests/history.rs:"),
        "{explained}"
    );
    assert!(explained.contains("out_of_order"), "{explained}");
    assert_eq!(keyspace.snapshot().await, before);

    let all = Registry::of([without[0], &late::create_orders::MIGRATION, without[1]]);
    let report = keyspace.runner(&all).run().await.unwrap();
    assert_eq!(report.applied.iter().map(|one| one.version.get()).collect::<Vec<_>>(), [2]);
    assert_eq!(keyspace.runner(&all).run().await.unwrap().outcome, Outcome::AlreadyCurrent);
    // An image from before the late one still starts.
    let report = keyspace.runner(&Registry::of(without)).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::AlreadyCurrent);
    assert!(report.warnings.iter().any(|warning| warning.contains("version 2 create_orders")), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_applied_version_that_the_binary_does_not_have() {
    let keyspace = Keyspace::fresh("divergent").await;
    let [users, orders, carts] = [
        &released::create_users::MIGRATION,
        &released::create_orders::MIGRATION,
        &released::create_carts::MIGRATION,
    ];
    keyspace.runner(&Registry::of([users, orders, carts])).run().await.unwrap();
    let before = keyspace.snapshot().await;
    let error = keyspace.runner(&Registry::of([users, carts])).run().await.unwrap_err();
    assert_eq!(error.code(), Code::DivergentHistory, "{error}");
    assert!(error.to_string().contains("version 2 create_orders"), "{error}");

    let report = keyspace.runner(&Registry::of([users, orders])).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::AlreadyCurrent, "an image that was rolled back starts");
    assert!(report.warnings.iter().any(|warning| warning.contains("version 3 create_carts")), "{report:?}");
    assert_eq!(keyspace.snapshot().await, before);
}
