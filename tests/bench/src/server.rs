//! The database that is measured.

use std::sync::Arc;

use cassandra::{Cluster, Settings};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;

use crate::Error;

/// Five hundred keyspaces with a ledger each: with the default heap a node dies of them.
const ONE_NODE_HEAP_MIB: u32 = 3072;

const COPIES_MAX: usize = 3;

/// The nodes of `KANDRA_TEST_HOSTS`, or a cluster that ends with this value.
#[derive(Debug)]
pub(crate) struct Server {
    nodes: u8,
    hosts: Vec<String>,
    /// Ends the nodes when it is dropped.
    _cluster: Option<Cluster>,
}

impl Server {
    /// A cluster of so many nodes, unless `KANDRA_TEST_HOSTS` names a database.
    pub(crate) fn start(nodes: u8) -> Result<Self, Error> {
        if std::env::var("KANDRA_TEST_HOSTS").is_ok_and(|hosts| !hosts.is_empty()) {
            let database = cassandra::database(nodes)?;
            return Ok(Self { nodes, hosts: database.contact_points().to_vec(), _cluster: None });
        }
        println!("starts {nodes} nodes");
        let mut settings = Settings::nodes(nodes);
        if nodes == 1 {
            settings.heap_mib = ONE_NODE_HEAP_MIB;
        }
        // A schema statement would mostly be a wait for the disk, and how long that takes says nothing of a driver or of us.
        settings.java_options.push("-Dcassandra.test.flush_local_schema_changes=false".to_owned());
        let cluster = Cluster::start(settings)?;
        let hosts = cluster.contact_points().iter().map(ToString::to_string).collect();
        Ok(Self { nodes, hosts, _cluster: Some(cluster) })
    }

    pub(crate) fn nodes(&self) -> u8 {
        self.nodes
    }

    /// `host:port` of each node.
    pub(crate) fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// A session with the driver's defaults.
    pub(crate) async fn session(&self) -> Result<Arc<Session>, Error> {
        session(&self.hosts).await
    }

    /// A session that leaves agreement to its user.
    pub(crate) async fn tuned_session(&self) -> Result<Arc<Session>, Error> {
        let builder = SessionBuilder::new().known_nodes(&self.hosts).auto_await_schema_agreement(false);
        Ok(Arc::new(builder.build().await?))
    }
}

/// A session with the driver's defaults.
pub(crate) async fn session(hosts: &[String]) -> Result<Arc<Session>, Error> {
    Ok(Arc::new(SessionBuilder::new().known_nodes(hosts).build().await?))
}

/// A keyspace that no other measurement has.
pub(crate) struct Keyspace<'a> {
    pub(crate) name: String,
    session: &'a Session,
}

impl<'a> Keyspace<'a> {
    /// Created with a copy on each node, three at most; `session` awaits agreement by itself.
    pub(crate) async fn create(session: &'a Session, prefix: &str) -> Result<Self, Error> {
        let name = cassandra::fresh_keyspace_name(prefix);
        let copies = session.get_cluster_state().get_nodes_info().len().min(COPIES_MAX);
        let replication = format!("{{'class': 'NetworkTopologyStrategy', 'replication_factor': {copies}}}");
        session.query_unpaged(format!("CREATE KEYSPACE {name} WITH replication = {replication}"), ()).await?;
        Ok(Self { name, session })
    }

    /// Tables that stay make each later schema statement slower.
    pub(crate) async fn drop(self) -> Result<(), Error> {
        self.session.query_unpaged(format!("DROP KEYSPACE {}", self.name), ()).await?;
        Ok(())
    }
}
