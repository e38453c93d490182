//! A cluster and its nodes.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::certificates;
use crate::error::Error;
use crate::home::{Home, Purpose, remove_stale};
use crate::keeper::Keeper;
use crate::node::Node;
use crate::process;
use crate::readiness;
use crate::reserve;
use crate::settings::Settings;
use crate::supplies::Supplies;

/// A cluster of one's own, beside all others.
///
/// It ends when this value is dropped, and also when its process ends without that, by `kill -9` too. One that
/// was started by [`up`](Cluster::up) stays until [`end`](Cluster::end).
#[derive(Debug)]
pub struct Cluster {
    pub(crate) home: Home,
    pub(crate) keeper: Keeper,
    /// Whether it ends with this value.
    is_owned: bool,
}

impl Cluster {
    /// Starts a cluster for the caller alone and waits until all nodes serve and know each other.
    ///
    /// Takes 5 to 60 seconds, and minutes when Cassandra must be fetched first. Its ports are its own, so
    /// that its nodes can be killed without harm to other tests.
    pub fn start(settings: Settings) -> Result<Self, Error> {
        Self::launch(Purpose::Private, settings)
    }

    /// Starts a cluster that outlives its process, on port 9042 unless the settings name one.
    pub fn up(mut settings: Settings) -> Result<Self, Error> {
        settings.cql_port.get_or_insert(crate::settings::UP_PORT);
        let cluster = Self::launch(Purpose::Up, settings)?;
        cluster.keeper.ask("hold")?;
        cluster.keeper.sync()?;
        Ok(cluster)
    }

    /// The cluster on this CQL port, of whichever process. It does not end with this value.
    pub fn find(cql_port: u16) -> Result<Self, Error> {
        let (home, keeper) = reserve::find(cql_port)?;
        Ok(Self { home, keeper, is_owned: false })
    }

    /// The cluster that all tests of a `cargo test` share, with default settings and at least so many nodes.
    ///
    /// The first to ask starts it; it ends with the `cargo` that runs the tests, or with its last user if no
    /// `cargo` does. Its nodes cannot be killed. Asking again in the same process costs nothing.
    pub fn shared(nodes: u8) -> Result<SharedCluster, Error> {
        static SHARED: Mutex<Vec<SharedCluster>> = Mutex::new(Vec::new());
        // Held while it starts: the other tests of this process wait for the same cluster.
        let mut known = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cluster) = known.iter().find(|cluster| cluster.settings().nodes >= nodes) {
            return Ok(cluster.clone());
        }
        let (settings, supplies) = prepare(Settings { forgetful: true, ..Settings::nodes(nodes) })?;
        let (home, keeper) = reserve::share(&settings, &supplies)?;
        let cluster = Self { home, keeper, is_owned: false };
        cluster.await_all()?;
        let cluster = SharedCluster(Arc::new(cluster));
        known.push(cluster.clone());
        Ok(cluster)
    }

    fn launch(purpose: Purpose, settings: Settings) -> Result<Self, Error> {
        let (settings, supplies) = prepare(settings)?;
        let (home, keeper) = reserve::launch(purpose, &settings, &supplies)?;
        let cluster = Self { home, keeper, is_owned: purpose == Purpose::Private };
        cluster.await_all()?;
        Ok(cluster)
    }

    fn await_all(&self) -> Result<(), Error> {
        let nodes: Vec<_> = self.home.numbers().collect();
        readiness::await_serving(&self.home, &nodes)
    }

    /// Ends all nodes at once and removes their data.
    pub fn end(self) -> Result<(), Error> {
        self.end_now()
    }

    fn end_now(&self) -> Result<(), Error> {
        if self.keeper.end() {
            return Ok(());
        }
        // The keeper was killed; its nodes are ours to end.
        remove_stale(self.home.path())
    }

    /// Waits until each node that runs and is not paused serves, knows the others and gets their answers.
    pub fn await_serving(&self) -> Result<(), Error> {
        let serves = |node: &u8| self.home.running(*node).is_some_and(|pid| !process::is_stopped(pid));
        let nodes: Vec<_> = self.home.numbers().filter(serves).collect();
        readiness::await_serving(&self.home, &nodes)
    }

    /// Where each node serves, in order: `127.0.0.1:9042`, `127.0.0.2:9042`, …
    #[must_use]
    pub fn contact_points(&self) -> Vec<SocketAddr> {
        self.home.numbers().map(|node| readiness::cql_address(&self.home, node)).collect()
    }

    /// What the cluster was started with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.home.manifest.settings
    }

    /// The certificate (PEM) that signed those of the nodes, if clients must speak TLS.
    #[must_use]
    pub fn certificate_authority(&self) -> Option<PathBuf> {
        self.home.manifest.tls.as_deref().map(certificates::authority)
    }

    /// A node, numbered from 1.
    pub fn node(&self, number: u8) -> Result<Node<'_>, Error> {
        let nodes = self.settings().nodes;
        if (1..=nodes).contains(&number) {
            return Ok(Node::new(self, number));
        }
        Err(Error::NoSuchNode { number, nodes })
    }

    /// All nodes, in order.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        self.home.numbers().map(|number| Node::new(self, number))
    }

    /// The folder of the cluster; it is removed when the cluster ends.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.home.path()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.is_owned {
            // What remains is ended by the keeper, or by the next start.
            let _ = self.end_now();
        }
    }
}

/// The cluster that all tests of a `cargo test` share: see [`Cluster::shared`].
#[derive(Clone, Debug)]
pub struct SharedCluster(Arc<Cluster>);

impl SharedCluster {
    /// Where each node serves, in order.
    #[must_use]
    pub fn contact_points(&self) -> Vec<SocketAddr> {
        self.0.contact_points()
    }

    /// What the cluster was started with; it may have more nodes than were asked for.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        self.0.settings()
    }

    /// The log file of a node, numbered from 1.
    pub fn log_path(&self, number: u8) -> Result<PathBuf, Error> {
        Ok(self.0.node(number)?.log_path())
    }
}

fn prepare(settings: Settings) -> Result<(Settings, Supplies), Error> {
    let settings = settings.with_environment()?;
    settings.check()?;
    let supplies = Supplies::get(&settings)?;
    Ok((settings, supplies))
}
