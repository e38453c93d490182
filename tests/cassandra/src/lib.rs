//! Real Cassandra nodes on loopback, for tests and the quickstart.
//!
//! - [`database`] is what most tests want: the database of `KANDRA_TEST_HOSTS`, or a cluster that all tests of a
//!   `cargo test --workspace` share; with [`fresh_keyspace_name`] they stay out of each other's way.
//! - [`Cluster::start`] is for tests that kill, stop or pause nodes, or need a login or TLS: a cluster of their own.
//!
//! ```no_run
//! let cluster = cassandra::Cluster::start(cassandra::Settings::nodes(3))?;
//! let contact_points = cluster.contact_points();
//! cluster.node(2)?.kill()?;
//! cluster.node(2)?.start()?; // returns when node 2 serves and the others see it
//! # Ok::<(), cassandra::Error>(())
//! ```
//!
//! Everything blocks and nothing needs a runtime. In async code, start a cluster before the runtime or in
//! `spawn_blocking`; killing, pausing and resuming a node takes milliseconds.
//!
//! The jars come from Maven Central, once, into `~/.cache/kandra-migrate` (or `$XDG_CACHE_HOME`); the nodes run on
//! Java 17. Where Java or Maven are missing, a person at a terminal is asked before they are installed.
//! `KANDRA_CASSANDRA_VERSION` names another version, `KANDRA_CASSANDRA_HEAP_MIB` another heap. Nodes end with the process that asked for them, even if that is
//! killed: a small shell process, the keeper, watches over them.
//!
//! The command does the same by hand: `cargo run -p cassandra -- --help`.

mod cache;
mod certificates;
mod cluster;
mod config;
mod cql;
mod database;
mod error;
mod home;
mod install;
mod jars;
mod java;
mod keeper;
mod node;
mod process;
mod readiness;
mod reserve;
mod settings;
mod supplies;
mod terminal;
mod wait;

pub use cluster::{Cluster, SharedCluster};
pub use cql::Rows;
pub use database::{Database, database, fresh_keyspace_name};
pub use error::Error;
pub use node::{Node, State};
pub use settings::{NODES_MAX, Settings, UP_PORT, Version};
