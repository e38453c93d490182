//! What can go wrong between asking for a node and being served by it.

use std::io;
use std::net::SocketAddr;

/// Why there is no database, or why a node did not do what it was asked to; says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting, or the environment variable that carries it, is not valid.
    #[error("{0}")]
    Settings(String),

    /// Java 17 or Maven is missing and was not installed.
    #[error("{0}")]
    Missing(String),

    /// A program outside did not do its work.
    #[error("{program} failed: {reason}")]
    Program {
        /// The program that was run.
        program: String,
        /// How it ended, with the end of what it wrote.
        reason: String,
    },

    /// Another program listens where a node was to listen. It was left alone.
    #[error(
        "{address} is in use by another program, which was left alone; end it (`lsof -i :{port}` names it) \
         or take other ports (`--port`, `Settings::cql_port`)",
        port = address.port()
    )]
    PortTaken {
        /// The address and port that are taken.
        address: SocketAddr,
    },

    /// The loopback interface has no such address. macOS has 127.0.0.1 only.
    #[error(
        "{address} is no address of this machine; on macOS type `sudo ifconfig lo0 alias {ip} up`, \
         and the same for the other nodes' addresses (127.0.0.2 to 127.0.0.9)",
        ip = address.ip()
    )]
    NoSuchAddress {
        /// The address that cannot be listened on.
        address: SocketAddr,
    },

    /// Another cluster of ours has the ports that were asked for.
    #[error(
        "a {purpose} cluster of {nodes} node(s) of Cassandra {version} runs on port {port} already; {advice}"
    )]
    ClusterRuns {
        /// What that cluster is for.
        purpose: &'static str,
        /// How many nodes it has.
        nodes: u8,
        /// Its version.
        version: String,
        /// Its CQL port.
        port: u16,
        /// What to do.
        advice: &'static str,
    },

    /// No cluster runs on this port.
    #[error("no cluster runs on port {port}; start one with `cargo run -p cassandra -- up 1`")]
    NoCluster {
        /// The CQL port that was asked for.
        port: u16,
    },

    /// The cluster has no such node.
    #[error("there is no node {number}: the cluster has {nodes} node(s), numbered from 1")]
    NoSuchNode {
        /// The number that was asked for.
        number: u8,
        /// How many nodes there are.
        nodes: u8,
    },

    /// The node has no process (any more).
    #[error("node {number} is not running; the end of what it wrote:\n{log_tail}")]
    NotRunning {
        /// The node's number, from 1.
        number: u8,
        /// The end of what it wrote.
        log_tail: String,
    },

    /// The node runs but did not come to serve in time.
    #[error(
        "node {number} does not serve after {waited_secs} s: {reason}; the end of what it wrote:\n{log_tail}"
    )]
    NotServing {
        /// The node's number, from 1.
        number: u8,
        /// How long it was waited for, in seconds.
        waited_secs: u64,
        /// What it was last seen to lack.
        reason: String,
        /// The end of what it wrote.
        log_tail: String,
    },

    /// Something that normally takes moments took too long.
    #[error("{what} did not happen within {waited_secs} s; {advice}")]
    TimedOut {
        /// What was waited for.
        what: String,
        /// For how long, in seconds.
        waited_secs: u64,
        /// What to do.
        advice: &'static str,
    },

    /// A node answered a statement with an error, or not as the protocol says.
    #[error("{address}: {reason}")]
    Cql {
        /// The node's address.
        address: SocketAddr,
        /// What it answered.
        reason: String,
    },

    /// The operating system refused something.
    #[error("cannot {doing}")]
    Io {
        /// What was being done, and to what.
        doing: String,
        /// The reason given.
        source: io::Error,
    },
}

/// Says what was being done when the operating system refused.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|source| Error::Io { doing: what(), source: source.into() })
    }
}
