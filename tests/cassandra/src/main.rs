//! The command: Cassandra nodes on loopback, by hand.

use std::error::Error as _;
use std::fs;
use std::io::{self, Write as _};
use std::process::ExitCode;

use cassandra::{Cluster, Error, Settings, UP_PORT, Version};
use clap::{Args, Parser, Subcommand};

/// Real Cassandra nodes on loopback, for tests and for trying things out.
///
/// Node I is at 127.0.0.I. The first start fetches Cassandra from Maven Central and needs Java 17 and Maven.
#[derive(Debug, Parser)]
#[command(name = "cassandra")]
struct Cli {
    /// The CQL port of the cluster; the port between its nodes is 2042 lower
    #[arg(long, global = true, default_value_t = UP_PORT)]
    port: u16,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a cluster that stays until `down`
    Up(Up),
    /// End the cluster and remove its data
    Down,
    /// Show each node: address, process, state
    Status,
    /// End a node at once (kill -9)
    Kill(NodeNumber),
    /// Stop the process of a node (SIGSTOP): it accepts connections and answers nothing
    Pause(NodeNumber),
    /// Let a paused node go on (SIGCONT)
    Resume(NodeNumber),
    /// Start a node again on its data and wait until it serves
    Start(NodeNumber),
    /// End a node in good order (SIGTERM)
    Stop(NodeNumber),
    /// Print the log of a node
    Logs(NodeNumber),
    /// Run a statement on a node
    Cql {
        #[command(flatten)]
        node: NodeNumber,
        /// The statement, such as "SELECT * FROM system.peers"
        statement: String,
    },
}

#[derive(Debug, Args)]
struct NodeNumber {
    /// The number of the node, from 1
    #[arg(value_name = "I")]
    node: u8,
}

#[derive(Debug, Args)]
struct Up {
    /// How many nodes, 1 to 9
    #[arg(default_value_t = 1)]
    nodes: u8,
    /// The version of Cassandra, from 4.0 on
    #[arg(long, env = "KANDRA_CASSANDRA_VERSION", default_value_t)]
    version: Version,
    /// Ask clients for a login: user cassandra, password cassandra
    #[arg(long)]
    auth: bool,
    /// Ask clients for TLS
    #[arg(long)]
    tls: bool,
    /// The heap of each node in MiB
    #[arg(long, value_name = "MIB", default_value_t = Settings::default().heap_mib)]
    heap: u32,
    /// One more option for each node's Java; may be repeated
    #[arg(long = "java-option", value_name = "OPTION", allow_hyphen_values = true)]
    java_options: Vec<String>,
    /// One more line for each cassandra.yaml; may be repeated
    #[arg(long = "yaml", value_name = "LINE")]
    yaml_lines: Vec<String>,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = io::stdout().lock();
    let done = run(cli, &mut out);
    match done.and_then(|()| out.flush().map_err(Failure::Output)) {
        Ok(()) => ExitCode::SUCCESS,
        // Such as `cassandra logs 1 | head`.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Output(error)) => fail(&format!("cannot write: {error}")),
        Err(Failure::Cluster(error)) => {
            let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
            fail(&format!("{error}{source}"))
        }
    }
}

/// Why the command did not do its work.
enum Failure {
    Cluster(Error),
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Cluster(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

fn fail(message: &str) -> ExitCode {
    // If stderr is gone as well, the exit code has to do.
    let _ = writeln!(io::stderr(), "cassandra: {message}");
    ExitCode::FAILURE
}

fn run(cli: Cli, out: &mut impl io::Write) -> Result<(), Failure> {
    let cluster = || Cluster::find(cli.port);
    match cli.command {
        Command::Up(up) => return up.run(cli.port, out),
        Command::Down => cluster()?.end()?,
        Command::Status => {
            for node in cluster()?.nodes() {
                let pid = node.pid().map_or_else(|| "-".to_owned(), |pid| pid.to_string());
                writeln!(out, "node {}  {}  pid {pid:<7}  {}", node.number(), node.address(), node.state())?;
            }
        }
        Command::Kill(which) => cluster()?.node(which.node)?.kill()?,
        Command::Pause(which) => cluster()?.node(which.node)?.pause()?,
        Command::Resume(which) => cluster()?.node(which.node)?.resume()?,
        Command::Start(which) => cluster()?.node(which.node)?.start()?,
        Command::Stop(which) => cluster()?.node(which.node)?.stop()?,
        Command::Logs(which) => out.write_all(&fs::read(cluster()?.node(which.node)?.log_path())?)?,
        Command::Cql { node, statement } => write!(out, "{}", cluster()?.node(node.node)?.cql(&statement)?)?,
    }
    Ok(())
}

impl Up {
    fn run(self, port: u16, out: &mut impl io::Write) -> Result<(), Failure> {
        let mut yaml = self.yaml_lines.join("\n");
        yaml.push('\n');
        let settings = Settings {
            version: self.version,
            nodes: self.nodes,
            auth: self.auth,
            tls: self.tls,
            heap_mib: self.heap,
            cql_port: Some(port),
            forgetful: false,
            java_options: self.java_options,
            yaml,
        };
        let cluster = Cluster::up(settings)?;
        let hosts: Vec<_> = cluster.contact_points().iter().map(ToString::to_string).collect();
        for host in &hosts {
            writeln!(out, "{host}")?;
        }
        if let Some(authority) = cluster.certificate_authority() {
            writeln!(out, "certificate authority: {}", authority.display())?;
        }
        writeln!(out, "export KANDRA_TEST_HOSTS={}", hosts.join(","))?;
        Ok(())
    }
}
