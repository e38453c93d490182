//! Whether nodes serve, and see each other.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::certificates;
use crate::cql::{Connection, Consistency, Rows};
use crate::error::Error;
use crate::home::Home;
use crate::settings::address;
use crate::wait::poll;

/// Nodes that end by themselves are noticed at once; so long may slow ones take.
const SERVE_SECS_MAX: u64 = 300;

/// Every node holds this table. That the row does not exist does not matter: the nodes must answer.
const READ_REPLICAS: &str = "SELECT keyspace_name FROM system_distributed.view_build_status \
                             WHERE keyspace_name = 'none' AND view_name = 'none'";

/// Waits until each of these nodes serves, knows the others, and gets answers of them.
pub(crate) fn await_serving(home: &Home, nodes: &[u8]) -> Result<(), Error> {
    let started = Instant::now();
    for &node in nodes {
        let mut reason = String::new();
        let remaining = Duration::from_secs(SERVE_SECS_MAX).saturating_sub(started.elapsed());
        let served = poll(remaining, || {
            if let Err(error) = home.expect_running(node) {
                return Some(Err(error));
            }
            match check(home, node, nodes) {
                Ok(()) => Some(Ok(())),
                Err(error) => {
                    reason = error.to_string();
                    None
                }
            }
        });
        served.unwrap_or_else(|| {
            Err(Error::NotServing {
                number: node,
                waited_secs: started.elapsed().as_secs(),
                reason,
                log_tail: home.log_tail(node),
            })
        })?;
    }
    Ok(())
}

/// Opens a connection to a node.
pub(crate) fn connect(home: &Home, node: u8) -> Result<Connection, Error> {
    let authority = home.manifest.tls.as_deref().map(certificates::authority);
    Connection::open(cql_address(home, node), authority.as_deref())
}

/// Where a node serves CQL.
pub(crate) fn cql_address(home: &Home, node: u8) -> SocketAddr {
    SocketAddr::from((address(node), home.ports.cql))
}

fn check(home: &Home, node: u8, nodes: &[u8]) -> Result<(), Error> {
    let lacks = |reason: String| Error::Cql { address: cql_address(home, node), reason };
    let mut connection = connect(home, node)?;
    let local =
        connection.query("SELECT bootstrapped, schema_version FROM system.local", Consistency::One)?;
    let [bootstrapped, schema] =
        first_row(&local).ok_or_else(|| lacks("no row in system.local".to_owned()))?;
    if bootstrapped != "COMPLETED" {
        return Err(lacks(format!("bootstrapped: {bootstrapped}")));
    }
    let peers =
        connection.query("SELECT peer, schema_version, host_id FROM system.peers", Consistency::One)?;
    for peer in nodes.iter().filter(|peer| **peer != node).map(|peer| address(*peer).to_string()) {
        let row = peers.rows.iter().find(|row| row.first() == Some(&peer));
        match row.map(Vec::as_slice) {
            Some([_, version, host]) if version == schema && host != "null" => {}
            Some(row) => return Err(lacks(format!("schema {schema}, but of its peer: {}", row.join(", ")))),
            None => return Err(lacks(format!("does not know its peer {peer}"))),
        }
    }
    if let Some(consistency) = answers_of(nodes.len(), home) {
        connection.query(READ_REPLICAS, consistency)?;
    }
    Ok(())
}

fn first_row(rows: &Rows) -> Option<&[String; 2]> {
    rows.rows.first()?.as_slice().try_into().ok()
}

/// How many nodes must answer one of them, itself included, so that it got an answer of each.
///
/// 4 to 8 running nodes of more cannot be asked for: three answers must do then. The same for four and more
/// nodes of 4.0, which keeps three copies of the table.
fn answers_of(running: usize, home: &Home) -> Option<Consistency> {
    let settings = &home.manifest.settings;
    let all = running == usize::from(settings.nodes) && settings.version.at_least(4, 1);
    match running {
        0 | 1 => None,
        2 => Some(Consistency::Two),
        3 => Some(Consistency::Three),
        _ if all => Some(Consistency::All),
        _ => Some(Consistency::Three),
    }
}
