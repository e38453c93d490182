//! Finding ports and a folder for a new cluster, beside whatever else runs.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cache;
use crate::error::{Doing as _, Error};
use crate::home::{Home, Manifest, Purpose, remove_stale};
use crate::keeper::Keeper;
use crate::process;
use crate::settings::{Ports, Settings, address};
use crate::supplies::Supplies;
use crate::terminal::say;
use crate::wait::{Lock, poll};

/// A cluster that takes any port takes the first free one from here.
const ANY_PORT: u16 = 19_042;
const CLUSTERS_MAX: u16 = 100;

/// The lock is held while files are written and processes are started, not while nodes come to serve.
const LOCK_SECS_MAX: u64 = 120;

/// The ports of a node that was killed stay open until its last thread is gone.
const PORT_SECS_MAX: u64 = 5;

const CONNECT_MS_MAX: u64 = 200;

/// Where the folders of clusters are.
pub(crate) fn clusters() -> Result<PathBuf, Error> {
    Ok(cache::folder()?.join("clusters"))
}

/// Starts the keeper and the nodes of a new cluster. They serve some time later.
pub(crate) fn launch(
    purpose: Purpose,
    settings: &Settings,
    supplies: &Supplies,
) -> Result<(Home, Keeper), Error> {
    let clusters = clusters()?;
    let _lock = lock(&clusters)?;
    launch_locked(&clusters, purpose, settings, supplies)
}

/// Joins the shared cluster, or launches it.
pub(crate) fn share(settings: &Settings, supplies: &Supplies) -> Result<(Home, Keeper), Error> {
    let clusters = clusters()?;
    let _lock = lock(&clusters)?;
    for home in running_clusters(&clusters).filter(|home| serves(home, settings) && is_whole(home)) {
        if let Some(keeper) = Keeper::join(home.path())? {
            watch_cargo(&keeper)?;
            return Ok((home, keeper));
        }
    }
    launch_locked(&clusters, Purpose::Shared, settings, supplies)
}

/// The cluster on a port, if one runs there. One that a crash left behind is none; it is tidied up.
pub(crate) fn find(cql_port: u16) -> Result<(Home, Keeper), Error> {
    let clusters = clusters()?;
    let path = Home::path_of(&clusters, cql_port);
    if let (Some(home), Some(keeper)) = (Home::load(path.clone()), Keeper::join(&path)?) {
        return Ok((home, keeper));
    }
    let _lock = lock(&clusters)?;
    remove_all_stale(&clusters)?;
    Err(Error::NoCluster { port: cql_port })
}

/// Waits until nobody listens on the ports of a node.
pub(crate) fn await_free(node: u8, ports: Ports) -> Result<(), Error> {
    let mut last = Ok(());
    let free = poll(Duration::from_secs(PORT_SECS_MAX), || {
        last = check_free(node, ports);
        last.is_ok().then_some(())
    });
    free.map_or(last, Ok)
}

fn launch_locked(
    clusters: &Path,
    purpose: Purpose,
    settings: &Settings,
    supplies: &Supplies,
) -> Result<(Home, Keeper), Error> {
    remove_all_stale(clusters)?;
    let ports = match settings.cql_port {
        Some(port) => named_ports(clusters, port, settings.nodes)?,
        None => any_ports(clusters, settings.nodes)?,
    };
    if purpose != Purpose::Private {
        let Settings { nodes, version, .. } = settings;
        say(&format!("starting {nodes} node(s) of Cassandra {version} on port {}", ports.cql));
    }
    let manifest =
        Manifest { purpose, settings: settings.clone(), cql_port: ports.cql, tls: supplies.tls.clone() };
    let home = Home::create(clusters, manifest, ports, &supplies.jars)?;
    let keeper = Keeper::spawn(home.path(), &supplies.java.program())?;
    for node in home.numbers() {
        keeper.ask(&format!("start {node}"))?;
    }
    if purpose == Purpose::Shared {
        watch_cargo(&keeper)?;
    }
    keeper.sync()?;
    Ok((home, keeper))
}

/// A shared cluster stays between the test binaries of one `cargo test`: cargo itself is the user that lasts.
fn watch_cargo(keeper: &Keeper) -> Result<(), Error> {
    if let Some(cargo) = process::cargo() {
        keeper.ask(&format!("watch {cargo}"))?;
        keeper.sync()?;
    }
    Ok(())
}

fn lock(clusters: &Path) -> Result<Lock, Error> {
    Lock::acquire(&clusters.join("lock"), Duration::from_secs(LOCK_SECS_MAX))
}

/// Whether a cluster is one for all tests that has what the settings ask for.
fn serves(home: &Home, settings: &Settings) -> bool {
    let has = &home.manifest.settings;
    let alike = Settings { nodes: has.nodes, ..settings.clone() };
    home.manifest.purpose == Purpose::Shared && has.nodes >= settings.nodes && *has == alike
}

/// Whether all nodes run: one may have ended by itself, for want of memory.
fn is_whole(home: &Home) -> bool {
    home.numbers().all(|node| home.running(node).is_some())
}

fn folders(clusters: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(clusters).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir())
}

/// The smallest first.
fn running_clusters(clusters: &Path) -> impl Iterator<Item = Home> {
    let mut homes: Vec<_> =
        folders(clusters).filter_map(Home::load).filter(|home| Keeper::is_alive(home.path())).collect();
    homes.sort_by_key(|home| (home.manifest.settings.nodes, home.ports.cql));
    homes.into_iter()
}

/// Clusters whose keeper is gone: it was killed, or the machine went down.
fn remove_all_stale(clusters: &Path) -> Result<(), Error> {
    for folder in folders(clusters).filter(|folder| !Keeper::is_alive(folder)) {
        remove_stale(&folder)?;
    }
    Ok(())
}

fn named_ports(clusters: &Path, cql_port: u16, nodes: u8) -> Result<Ports, Error> {
    let path = Home::path_of(clusters, cql_port);
    if let (Some(home), Some(_keeper)) = (Home::load(path.clone()), Keeper::join(&path)?) {
        return Err(Error::ClusterRuns {
            purpose: home.manifest.purpose.name(),
            nodes: home.manifest.settings.nodes,
            version: home.manifest.settings.version.to_string(),
            port: cql_port,
            advice: "end it (`cargo run -p cassandra -- down`, with the same `--port`) or take another port",
        });
    }
    let too_low = || Error::Settings(format!("port {cql_port} is too low"));
    let ports = Ports::of(cql_port).ok_or_else(too_low)?;
    (1..=nodes).try_for_each(|node| await_free(node, ports))?;
    Ok(ports)
}

fn any_ports(clusters: &Path, nodes: u8) -> Result<Ports, Error> {
    let mut last = Error::Settings(format!("no free port among the {CLUSTERS_MAX} from {ANY_PORT} on"));
    let candidates = (ANY_PORT..ANY_PORT + CLUSTERS_MAX).filter_map(Ports::of);
    for ports in candidates.filter(|ports| !Home::path_of(clusters, ports.cql).exists()) {
        match (1..=nodes).try_for_each(|node| check_free(node, ports)) {
            Ok(()) => return Ok(ports),
            Err(error @ Error::PortTaken { .. }) => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

fn check_free(node: u8, ports: Ports) -> Result<(), Error> {
    for port in [ports.cql, ports.storage] {
        let address = SocketAddr::from((address(node), port));
        // Where a program listens on all addresses, some systems let another one bind to a single address.
        if TcpStream::connect_timeout(&address, Duration::from_millis(CONNECT_MS_MAX)).is_ok() {
            return Err(Error::PortTaken { address });
        }
        match TcpListener::bind(address) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                return Err(Error::PortTaken { address });
            }
            Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => {
                return Err(Error::NoSuchAddress { address });
            }
            Err(error) => return Err(error).doing(|| format!("listen on {address}")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_with_a_listener_is_not_free() {
        let listener = TcpListener::bind((address(1), 0)).unwrap();
        let taken = listener.local_addr().unwrap();
        let ports = Ports { cql: taken.port(), storage: taken.port() };
        let error = check_free(1, ports).unwrap_err();
        assert!(matches!(error, Error::PortTaken { address } if address == taken), "{error}");
        assert!(error.to_string().contains(&taken.to_string()), "{error}");
    }

    #[test]
    fn a_shared_cluster_serves_who_asks_for_no_more() {
        let home = |purpose, settings: Settings| {
            let folder = std::env::temp_dir().join(format!("kandra-serves-{}", std::process::id()));
            let manifest = Manifest { purpose, settings, cql_port: 19_042, tls: None };
            let home = Home::create(&folder, manifest, Ports::of(19_042).unwrap(), &[]).unwrap();
            fs::remove_dir_all(folder).unwrap();
            home
        };
        let shared = home(Purpose::Shared, Settings::nodes(3));
        assert!(serves(&shared, &Settings::nodes(1)) && serves(&shared, &Settings::nodes(3)));
        assert!(!serves(&shared, &Settings::nodes(4)));
        assert!(!serves(&shared, &Settings { auth: true, ..Settings::nodes(1) }));
        assert!(!serves(&home(Purpose::Private, Settings::nodes(3)), &Settings::nodes(1)));
    }
}
