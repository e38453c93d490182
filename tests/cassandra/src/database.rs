//! The database that a test talks to.

use std::env;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use crate::cluster::{Cluster, SharedCluster};
use crate::error::Error;

const HOSTS: &str = "KANDRA_TEST_HOSTS";

/// What a keyspace may have at most.
const NAME_CHARS_MAX: usize = 48;

/// The database that a test talks to: one that is there already, or the shared cluster.
#[derive(Clone, Debug)]
pub struct Database {
    contact_points: Vec<String>,
    cluster: Option<SharedCluster>,
}

impl Database {
    /// `host:port` of each known node.
    #[must_use]
    pub fn contact_points(&self) -> &[String] {
        &self.contact_points
    }

    /// The shared cluster, unless `KANDRA_TEST_HOSTS` names the database.
    #[must_use]
    pub fn cluster(&self) -> Option<&SharedCluster> {
        self.cluster.as_ref()
    }
}

/// The database to test with: that of `KANDRA_TEST_HOSTS` (`host:port,host:port`) if it is set
/// and not empty, else the
/// shared cluster with at least so many nodes ([`Cluster::shared`]).
///
/// Blocks, up to minutes where Cassandra must be fetched first; in async code, call it before the runtime
/// starts or in `spawn_blocking`. How many nodes the named database has is not known here.
pub fn database(nodes: u8) -> Result<Database, Error> {
    if let Some(hosts) = env::var(HOSTS).ok().filter(|hosts| !hosts.is_empty()) {
        return Ok(Database { contact_points: parse_hosts(&hosts)?, cluster: None });
    }
    let cluster = Cluster::shared(nodes)?;
    let contact_points = cluster.contact_points().iter().map(ToString::to_string).collect();
    Ok(Database { contact_points, cluster: Some(cluster) })
}

/// A keyspace name that no other test has: the prefix and 16 random characters.
///
/// Valid without quotes and at most 48 characters long; of the prefix that takes 31, in lower case, with `_`
/// for what a name cannot have.
#[must_use]
pub fn fresh_keyspace_name(prefix: &str) -> String {
    let random = RandomState::new().build_hasher().finish();
    let suffix = format!("_{random:016x}");
    let plain = |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_lowercase() } else { '_' };
    // A name starts with a letter.
    let start = if prefix.starts_with(|char: char| char.is_ascii_alphabetic()) { "" } else { "t" };
    let name = start.chars().chain(prefix.chars().map(plain));
    name.take(NAME_CHARS_MAX - suffix.len()).collect::<String>() + &suffix
}

fn parse_hosts(hosts: &str) -> Result<Vec<String>, Error> {
    let host = |text: &str| {
        let (name, port) = text.trim().rsplit_once(':')?;
        let valid = !name.is_empty() && port.parse::<u16>().is_ok();
        valid.then(|| text.trim().to_owned())
    };
    let parsed: Option<Vec<_>> = hosts.split(',').map(host).collect();
    parsed.ok_or_else(|| {
        Error::Settings(format!(
            "{HOSTS}: `{hosts}` is no list of host:port; one is 127.0.0.1:9042,127.0.0.2:9042"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read() {
        assert_eq!(parse_hosts("127.0.0.1:9042").unwrap(), ["127.0.0.1:9042"]);
        assert_eq!(parse_hosts("a:1, [::1]:2").unwrap(), ["a:1", "[::1]:2"]);
        for hosts in ["", "localhost", "a:1,", ":9042", "a:65536"] {
            assert!(parse_hosts(hosts).unwrap_err().to_string().contains("KANDRA_TEST_HOSTS"), "{hosts}");
        }
    }

    #[test]
    fn names_are_valid_and_differ() {
        for prefix in ["shop", "", "7 dwarfs", "Größe", "a_name_that_is_longer_than_any_keyspace_may_be"] {
            let name = fresh_keyspace_name(prefix);
            assert!(name.len() <= NAME_CHARS_MAX, "{name}");
            assert!(name.starts_with(|first: char| first.is_ascii_lowercase()), "{name}");
            assert!(
                name.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_')
            );
            assert_ne!(name, fresh_keyspace_name(prefix));
        }
        assert!(fresh_keyspace_name("shop").starts_with("shop_"));
    }
}
