//! What the environment says.

use std::env;

use crate::Failure;

/// What the service is told by its environment.
#[derive(Debug)]
pub(crate) struct Settings {
    /// `host:port` of some nodes. `CASSANDRA_HOSTS`, separated by commas, or else `KANDRA_TEST_HOSTS`; default
    /// `127.0.0.1:9042`.
    pub(crate) hosts: Vec<String>,
    /// `KEYSPACE`, default `service_example`.
    pub(crate) keyspace: String,
    /// How many replicas the keyspace gets if it has to be created. `REPLICAS`, default 1; production wants 3.
    pub(crate) replicas: u8,
    /// Where HTTP is served. `LISTEN`, default `127.0.0.1:8080`.
    pub(crate) listen: String,
}

impl Settings {
    pub(crate) fn from_env() -> Result<Self, Failure> {
        let hosts = set("CASSANDRA_HOSTS").or_else(|| set("KANDRA_TEST_HOSTS"));
        let replicas = set("REPLICAS").unwrap_or_else(|| "1".to_owned());
        Ok(Self {
            hosts: hosts.as_deref().unwrap_or("127.0.0.1:9042").split(',').map(str::to_owned).collect(),
            keyspace: set("KEYSPACE").unwrap_or_else(|| "service_example".to_owned()),
            replicas: replicas.parse().map_err(|error| format!("REPLICAS: `{replicas}`: {error}"))?,
            listen: set("LISTEN").unwrap_or_else(|| "127.0.0.1:8080".to_owned()),
        })
    }
}

/// A variable that is set, and not to nothing.
fn set(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
