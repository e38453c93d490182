//! The session of a test.

use std::sync::Arc;
use std::time::Duration;

use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;

const HOSTS: &str = "KANDRA_TEST_HOSTS";
/// The driver goes on trying for longer.
const CONNECT_TIMEOUT_SECS: u64 = 30;
const KEEPALIVE: Duration = Duration::from_secs(5);

/// To the database that the environment names.
pub(super) async fn from_environment() -> Arc<Session> {
    let hosts = std::env::var(HOSTS).unwrap_or_default();
    let hosts: Vec<_> = hosts.split(',').map(str::trim).filter(|host| !host.is_empty()).collect();
    assert!(!hosts.is_empty(), "{}", what_to_do());
    let builder = SessionBuilder::new()
        .known_nodes(&hosts)
        .auto_await_schema_agreement(false)
        .keepalive_interval(KEEPALIVE)
        .keepalive_timeout(KEEPALIVE);
    let connected = tokio::time::timeout(Duration::from_secs(CONNECT_TIMEOUT_SECS), builder.build()).await;
    let hosts = hosts.join(",");
    let connected = connected.unwrap_or_else(|_| {
        panic!("no session to {HOSTS}={hosts} within {CONNECT_TIMEOUT_SECS} s");
    });
    Arc::new(connected.unwrap_or_else(|error| panic!("no session to {HOSTS}={hosts}: {error}")))
}

fn what_to_do() -> String {
    format!(
        "no database to test with. One of these:\n  \
         - there is one: {HOSTS}=host:9042 cargo test (several contact points with commas)\n  \
         - start one: docker run --rm -d -p 9042:9042 cassandra:5.0, and then {HOSTS}=127.0.0.1:9042 cargo test\n  \
         - connect by yourself, with a login, TLS or to a container: #[kandra_migrate::test(…, session = path::to::connect)], \
         an async fn that returns a Session"
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn three_ways_are_named() {
        let text = super::what_to_do();
        assert_eq!(text.lines().filter(|line| line.starts_with("  - ")).count(), 3, "{text}");
    }
}
