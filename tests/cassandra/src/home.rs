//! The folder of one cluster: its settings, and for each node its files and its process.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::config;
use crate::error::{Doing as _, Error};
use crate::process;
use crate::settings::{Ports, Settings};
use crate::wait::poll_until;

const KILL_SECS_MAX: u64 = 10;
const LOG_TAIL_LINES_MAX: usize = 20;

/// For whom a cluster runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Purpose {
    /// The command: until it is told to end.
    Up,
    /// All tests of a `cargo test`.
    Shared,
    /// One owner.
    Private,
}

impl Purpose {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Up => "command-line",
            Self::Shared => "shared",
            Self::Private => "private",
        }
    }
}

/// What is written down of a cluster, for the processes that did not start it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) purpose: Purpose,
    pub(crate) settings: Settings,
    pub(crate) cql_port: u16,
    /// The folder with the certificates, if clients must speak TLS.
    pub(crate) tls: Option<PathBuf>,
}

/// The folder of one cluster, named by its CQL port: no two clusters can have the same.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    path: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) ports: Ports,
}

impl Home {
    pub(crate) fn path_of(clusters: &Path, cql_port: u16) -> PathBuf {
        clusters.join(cql_port.to_string())
    }

    /// Writes the folder of a new cluster.
    pub(crate) fn create(
        clusters: &Path,
        manifest: Manifest,
        ports: Ports,
        jars: &[PathBuf],
    ) -> Result<Self, Error> {
        let home = Self { path: Self::path_of(clusters, ports.cql), manifest, ports };
        create_folder(&home.path.join("acks"))?;
        for node in home.numbers() {
            let folder = home.node(node);
            for name in ["data", "logs", "tmp", "triggers"] {
                create_folder(&folder.join(name))?;
            }
            let yaml = config::yaml(&home.manifest, ports, node);
            write(&folder.join("cassandra.yaml"), &yaml)?;
            write(&folder.join("java.args"), &config::java_args(&home.manifest, jars, &folder))?;
            write(&folder.join("logback.xml"), config::LOGBACK)?;
        }
        let text = serde_json::to_string_pretty(&home.manifest)
            .map_err(std::io::Error::from)
            .doing(|| "write down the cluster".to_owned())?;
        write(&home.manifest_path(), &text)?;
        Ok(home)
    }

    /// The cluster of this folder; `None` if none was ever completely written there.
    pub(crate) fn load(path: PathBuf) -> Option<Self> {
        let text = fs::read_to_string(path.join("cluster.json")).ok()?;
        let manifest: Manifest = serde_json::from_str(&text).ok()?;
        let ports = Ports::of(manifest.cql_port)?;
        Some(Self { path, manifest, ports })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn manifest_path(&self) -> PathBuf {
        self.path.join("cluster.json")
    }

    /// The numbers of the nodes.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u8> + use<> {
        1..=self.manifest.settings.nodes
    }

    pub(crate) fn node(&self, node: u8) -> PathBuf {
        node_folder(&self.path, node)
    }

    pub(crate) fn log(&self, node: u8) -> PathBuf {
        self.node(node).join("logs/system.log")
    }

    /// The process of a node, if it runs.
    pub(crate) fn running(&self, node: u8) -> Option<u32> {
        running(&self.path, node)
    }

    /// The process of a node that is needed now.
    pub(crate) fn expect_running(&self, node: u8) -> Result<u32, Error> {
        let not_running = || Error::NotRunning { number: node, log_tail: self.log_tail(node) };
        self.running(node).ok_or_else(not_running)
    }

    /// Whether a node ended within the time.
    pub(crate) fn ended(&self, node: u8, timeout: Duration) -> bool {
        poll_until(timeout, || has_ended(&self.path, node))
    }

    /// The end of what a node wrote, and its last errors.
    pub(crate) fn log_tail(&self, node: u8) -> String {
        let written = fs::read_to_string(self.node(node).join("logs/stdout.log")).unwrap_or_default();
        let log = fs::read_to_string(self.log(node)).unwrap_or_default();
        let errors: Vec<_> = log.lines().filter(|line| line.starts_with("ERROR")).collect();
        let written: Vec<_> = written.lines().collect();
        let tails = [written, errors].map(|lines| {
            let start = lines.len().saturating_sub(LOG_TAIL_LINES_MAX);
            lines.get(start..).unwrap_or_default().join("\n")
        });
        tails.join("\n")
    }
}

/// Ends the nodes of a cluster whose keeper is gone and removes its folder.
///
/// A process is taken for a node only if its command line says so: its pid may be another's by now.
pub(crate) fn remove_stale(path: &Path) -> Result<(), Error> {
    let nodes = 1..=crate::settings::NODES_MAX;
    for pid in nodes.clone().filter_map(|node| running(path, node)) {
        // It may have ended in between.
        let _ = process::signal(pid, Signal::KILL);
    }
    let all_ended = || nodes.clone().all(|node| has_ended(path, node));
    if !poll_until(Duration::from_secs(KILL_SECS_MAX), all_ended) {
        return Err(Error::TimedOut {
            what: format!("the end of the nodes of {}", path.display()),
            waited_secs: KILL_SECS_MAX,
            advice: "end them by hand: their pids are in node*/pid there",
        });
    }
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).doing(|| format!("remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

fn node_folder(cluster: &Path, node: u8) -> PathBuf {
    cluster.join(format!("node{node}"))
}

fn running(cluster: &Path, node: u8) -> Option<u32> {
    let pid = pid_of(cluster, node)?;
    let mark = format!("@{}", node_folder(cluster, node).join("java.args").display());
    process::command_line(pid)?.contains(&mark).then_some(pid)
}

fn has_ended(cluster: &Path, node: u8) -> bool {
    running(cluster, node).is_none() && !pid_of(cluster, node).is_some_and(process::is_ending)
}

fn pid_of(cluster: &Path, node: u8) -> Option<u32> {
    fs::read_to_string(node_folder(cluster, node).join("pid")).ok()?.trim().parse().ok()
}

fn create_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).doing(|| format!("create {}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).doing(|| format!("write {}", path.display()))
}
