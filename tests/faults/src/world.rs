//! The nodes, and what all tests share.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use cassandra::{Cluster, Node};
use scylla::client::session::Session;
use scylla::serialize::row::SerializeRow;
use tokio::sync::{Mutex, Semaphore};

use crate::instance;
use crate::trouble::{Result, Trouble};

/// Scenes that play at once: most of their time they wait for a lease to lapse.
const SCENES_MAX: usize = 16;

const ATTEMPTS_MAX: u32 = 4;

/// A private cluster, the test's own session, and the program that runs instances.
#[derive(Debug)]
pub struct World {
    /// The cluster.
    pub cluster: Cluster,
    /// The test's own session: to the nodes themselves.
    pub session: Arc<Session>,
    /// Of all that is chosen.
    pub seed: u64,
    /// Scenes that play at once.
    pub stage: Arc<Semaphore>,
    program: PathBuf,
    /// One schema statement of the tests' own at a time.
    schema: Mutex<()>,
}

impl World {
    /// Connects to a cluster and makes the table of effects. `program` is the binary of this package.
    pub async fn new(cluster: Cluster, program: PathBuf, seed: u64) -> Result<Self> {
        let session = instance::session(&direct(&cluster)).await?;
        let stage = Arc::new(Semaphore::new(SCENES_MAX));
        let world = Self { cluster, session, seed, stage, program, schema: Mutex::default() };
        world.keyspace("faults").await?;
        let columns = "scene text, task text, execution uuid, PRIMARY KEY (scene, task, execution)";
        world.schema(&format!("CREATE TABLE IF NOT EXISTS faults.effects ({columns})")).await?;
        Ok(world)
    }

    /// The nodes' own addresses.
    #[must_use]
    pub fn nodes(&self) -> Vec<SocketAddr> {
        self.cluster.contact_points()
    }

    /// The routes of an instance without relays.
    #[must_use]
    pub fn direct(&self) -> Vec<(SocketAddr, SocketAddr)> {
        direct(&self.cluster)
    }

    /// A command that starts this package's program.
    #[must_use]
    pub fn program(&self) -> tokio::process::Command {
        tokio::process::Command::new(&self.program)
    }

    /// Another cluster, with the same program and seed.
    pub async fn beside(&self, cluster: Cluster) -> Result<Self> {
        Self::new(cluster, self.program.clone(), self.seed).await
    }

    /// Does something to a node that takes its time.
    pub fn node<T>(
        &self,
        number: u8,
        act: impl FnOnce(Node<'_>) -> std::result::Result<T, cassandra::Error>,
    ) -> Result<T> {
        Ok(tokio::task::block_in_place(|| act(self.cluster.node(number)?))?)
    }

    /// Waits until all nodes that run serve and have one schema.
    pub fn await_serving(&self) -> Result<()> {
        Ok(tokio::task::block_in_place(|| self.cluster.await_serving())?)
    }

    /// Makes a keyspace that each node has.
    pub async fn keyspace(&self, name: &str) -> Result<()> {
        let replicas = self.nodes().len();
        let replication = format!("{{'class': 'NetworkTopologyStrategy', 'replication_factor': {replicas}}}");
        self.schema(&format!("CREATE KEYSPACE IF NOT EXISTS {name} WITH replication = {replication}")).await
    }

    /// A schema statement of the test's own.
    pub async fn schema(&self, text: &str) -> Result<()> {
        let _one_at_a_time = self.schema.lock().await;
        self.persist(text, ()).await?;
        let agreed = self.session.await_schema_agreement().await;
        agreed.map(drop).map_err(|error| Trouble::database(text, error))
    }

    /// A statement of the test's own, again where it fails: the session may still have a connection to a node that was
    /// killed.
    pub async fn persist(&self, text: &str, values: impl SerializeRow) -> Result<()> {
        let mut attempts = 0;
        while let Err(error) = self.session.query_unpaged(text, &values).await {
            attempts += 1;
            if attempts == ATTEMPTS_MAX {
                return Err(Trouble::database(text, error));
            }
        }
        Ok(())
    }
}

fn direct(cluster: &Cluster) -> Vec<(SocketAddr, SocketAddr)> {
    cluster.contact_points().into_iter().map(|node| (node, node)).collect()
}
