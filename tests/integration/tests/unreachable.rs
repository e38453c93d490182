//! A cluster that does not answer.

use std::time::Duration;

use integration::{Keyspace, MIGRATIONS, within};
use kandra_migrate::Code;

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_gone() {
    let (keyspace, relay) = Keyspace::behind_relay("gone").await;
    relay.cut();
    let limit = Duration::from_secs(3);
    let runner = || keyspace.runner(&MIGRATIONS).unreachable_after(limit);
    let error = within("a run gives up", runner().run()).await.unwrap_err();
    assert_eq!(error.code(), Code::Unreachable, "{error}");
    assert!(error.is_unreachable() && error.retryable(), "{error}");
    let error = within("a look gives up", runner().status()).await.unwrap_err();
    assert_eq!(error.code(), Code::Unreachable, "{error}");
}
