//! What kind of cluster is wanted.

use std::env;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The most nodes a cluster can have.
pub const NODES_MAX: u8 = 9;

/// The port of `cassandra up`, unless another is asked for.
pub const UP_PORT: u16 = 9042;

/// A released version of Cassandra, from 4.0 on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    text: String,
    major: u8,
    minor: u8,
}

impl Version {
    /// Whether it is this version or a later one, by its first two numbers.
    pub(crate) fn at_least(&self, major: u8, minor: u8) -> bool {
        (self.major, self.minor) >= (major, minor)
    }
}

impl Default for Version {
    /// 5.0.9.
    fn default() -> Self {
        Self { text: "5.0.9".to_owned(), major: 5, minor: 0 }
    }
}

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refused =
            || Error::Settings(format!("`{text}` is no version of Cassandra from 4.0 on; one is 5.0.9"));
        // It becomes part of a path.
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
        let mut numbers = text.split(['.', '-']).map(str::parse::<u8>);
        match (plain, numbers.next(), numbers.next()) {
            (true, Some(Ok(major)), Some(Ok(minor))) if major >= 4 => {
                Ok(Self { text: text.to_owned(), major, minor })
            }
            _ => Err(refused()),
        }
    }
}

impl TryFrom<String> for Version {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.text
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What kind of cluster is wanted.
///
/// ```
/// let settings = cassandra::Settings { auth: true, ..cassandra::Settings::nodes(3) };
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The version, 5.0.9 by default. Seen to work: 4.0.19, 4.1.10, 5.0.9, 6.0-alpha2.
    pub version: Version,
    /// How many nodes, 1 to 9. Node `i` is at 127.0.0.`i`.
    pub nodes: u8,
    /// Whether a login is needed: user `cassandra`, password `cassandra`. Every node can check it; with 4.0 only
    /// one can, so that its death locks all out.
    pub auth: bool,
    /// Whether clients must speak TLS; [`Cluster::certificate_authority`](crate::Cluster::certificate_authority)
    /// signed the nodes' certificates.
    pub tls: bool,
    /// The heap of a node in MiB, 512 by default. A node takes about as much again beside it.
    pub heap_mib: u32,
    /// The CQL port of all nodes. Another program on it is an error. `None`, the default, takes a free one.
    pub cql_port: Option<u16>,
    /// Whether a node that is killed may forget its schema, so that DDL takes half the time. False by default; those of
    /// [`Cluster::shared`](crate::Cluster::shared) may.
    pub forgetful: bool,
    /// More options for each node's Java.
    pub java_options: Vec<String>,
    /// More lines for each `cassandra.yaml`, after all others.
    pub yaml: String,
}

impl Settings {
    /// So many nodes, everything else by default.
    ///
    /// `KANDRA_CASSANDRA_VERSION` and `KANDRA_CASSANDRA_HEAP_MIB` replace the default version and heap when the
    /// cluster is started; a value that is not valid is an error then.
    #[must_use]
    pub fn nodes(nodes: u8) -> Self {
        Self { nodes, ..Self::default() }
    }

    /// The version of the environment in place of the default one.
    pub(crate) fn with_environment(mut self) -> Result<Self, Error> {
        if let (Ok(version), true) =
            (env::var("KANDRA_CASSANDRA_VERSION"), self.version == Version::default())
        {
            self.version = version.parse()?;
        }
        Ok(self)
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if !(1..=NODES_MAX).contains(&self.nodes) {
            return Err(Error::Settings(format!("{} nodes: 1 to {NODES_MAX} can be started", self.nodes)));
        }
        if self.heap_mib < 256 {
            return Err(Error::Settings(format!(
                "a heap of {} MiB: a node needs 256 or more",
                self.heap_mib
            )));
        }
        match self.cql_port {
            Some(port) if Ports::of(port).is_none() => {
                Err(Error::Settings(format!("port {port}: it must be {} or more", Ports::BETWEEN + 1024)))
            }
            _ => Ok(()),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: Version::default(),
            nodes: 1,
            auth: false,
            tls: false,
            heap_mib: 512,
            cql_port: None,
            forgetful: false,
            java_options: Vec::new(),
            yaml: String::new(),
        }
    }
}

/// The two ports that each node listens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ports {
    pub(crate) cql: u16,
    pub(crate) storage: u16,
}

impl Ports {
    /// 9042 and 7000 are Cassandra's own defaults.
    const BETWEEN: u16 = 9042 - 7000;

    pub(crate) fn of(cql: u16) -> Option<Self> {
        let storage = cql.checked_sub(Self::BETWEEN).filter(|storage| *storage >= 1024)?;
        Some(Self { cql, storage })
    }
}

/// The address of a node. Drivers find all nodes of a cluster on one port, so that the addresses differ.
pub(crate) fn address(node: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_from_4_0_on_are_read() {
        for text in ["4.0.19", "4.1.10", "5.0.9", "6.0-alpha2", "10.1"] {
            assert_eq!(text.parse::<Version>().unwrap().to_string(), text);
        }
        for text in ["", "5", "3.11.17", "latest", "5.0/../x", "5.x"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }

    #[test]
    fn versions_compare_by_number() {
        let version: Version = "6.0-alpha2".parse().unwrap();
        assert!(version.at_least(5, 0) && version.at_least(6, 0) && !version.at_least(6, 1));
        assert!(!"4.0.19".parse::<Version>().unwrap().at_least(4, 1));
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        assert!(Settings::default().check().is_ok());
        for nodes in [0, 10] {
            assert!(Settings::nodes(nodes).check().is_err());
        }
        assert!(Settings { heap_mib: 64, ..Settings::default() }.check().is_err());
        assert!(Settings { cql_port: Some(2042), ..Settings::default() }.check().is_err());
        assert!(Settings { cql_port: Some(9042), ..Settings::default() }.check().is_ok());
    }
}
