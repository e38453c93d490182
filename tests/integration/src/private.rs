//! Clusters of the tests' own, whose nodes may be killed or that need a login.

use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use cassandra::{Cluster, Settings};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// A cluster that no other test uses meanwhile.
#[derive(Debug)]
pub struct Private(OwnedMutexGuard<Option<Cluster>>);

impl Deref for Private {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        self.0.as_ref().expect("it is there from the start to the end of a test")
    }
}

/// The cluster with these settings, for one test at a time, with all nodes up. The one that the test before has used
/// is used again if it is like it, else ended first: never more than one runs.
///
/// # Panics
/// Where it cannot be started.
pub async fn private(settings: Settings) -> Private {
    static RUNNING: LazyLock<Arc<Mutex<Option<Cluster>>>> = LazyLock::new(Arc::default);
    let mut running = Arc::clone(&RUNNING).lock_owned().await;
    let before = running.take();
    let ready = tokio::task::spawn_blocking(move || {
        let is_alike = |its: &Settings| (its.nodes, its.auth) == (settings.nodes, settings.auth);
        let cluster = match before.filter(|cluster| is_alike(cluster.settings())) {
            Some(cluster) => cluster,
            None => Cluster::start(settings)?,
        };
        for node in cluster.nodes() {
            node.start()?;
        }
        Ok::<_, cassandra::Error>(cluster)
    });
    *running = Some(ready.await.expect("starting a cluster does not panic").expect("a cluster to test with"));
    Private(running)
}
