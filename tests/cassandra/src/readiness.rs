//! Whether nodes serve, and see each other.

use std::net::SocketAddr;
use std::time::Duration;

use crate::certificates;
use crate::cql::{Connection, Consistency};
use crate::error::Error;
use crate::home::Home;
use crate::settings::address;
use crate::wait::poll;

/// Nodes that end by themselves are noticed at once; so long may slow ones take.
const SERVE_SECS_MAX: u64 = 300;

/// Every node holds this table. That the row does not exist does not matter: the nodes must answer.
const READ_REPLICAS: &str = "SELECT keyspace_name FROM system_distributed.view_build_status \
                             WHERE keyspace_name = 'none' AND view_name = 'none'";

/// Waits until these nodes serve, know each other, get answers of each other and have one schema.
pub(crate) fn await_serving(home: &Home, nodes: &[u8]) -> Result<(), Error> {
    let mut lacking = (0, String::new());
    let served = poll(Duration::from_secs(SERVE_SECS_MAX), || {
        // A node that ended will not come to serve.
        if let Some(error) = nodes.iter().find_map(|node| home.expect_running(*node).err()) {
            return Some(Err(error));
        }
        match check_all(home, nodes) {
            Ok(()) => Some(Ok(())),
            Err(found) => {
                lacking = found;
                None
            }
        }
    });
    served.unwrap_or_else(|| {
        let (number, reason) = lacking;
        let log_tail = home.log_tail(number);
        Err(Error::NotServing { number, waited_secs: SERVE_SECS_MAX, reason, log_tail })
    })
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

/// The first node that lacks something, and what.
fn check_all(home: &Home, nodes: &[u8]) -> Result<(), (u8, String)> {
    let mut schemas = Vec::new();
    for &node in nodes {
        let schema = check(home, node, nodes).map_err(|error| (node, error.to_string()))?;
        schemas.push((node, schema));
    }
    let first = schemas.first().map(|(_, schema)| schema);
    match schemas.iter().find(|(_, schema)| Some(schema) != first) {
        Some((node, _)) => Err((*node, format!("the nodes have different schemas: {schemas:?}"))),
        None => Ok(()),
    }
}

/// Checks one node and returns the version of its schema.
fn check(home: &Home, node: u8, nodes: &[u8]) -> Result<String, Error> {
    let lacks = |reason: String| Error::Cql { address: cql_address(home, node), reason };
    let mut connection = connect(home, node)?;
    let mut read =
        |statement| Ok::<_, Error>(connection.query(statement, Consistency::One)?.into_rows().rows);
    let local = read("SELECT bootstrapped, schema_version FROM system.local")?;
    let schema = match local.first().map(Vec::as_slice) {
        Some([bootstrapped, schema]) if bootstrapped == "COMPLETED" => schema.clone(),
        _ => return Err(lacks(format!("has not joined the ring: {local:?}"))),
    };
    // Drivers find the other nodes there, and pass over those without an identity.
    let known = read("SELECT peer, host_id FROM system.peers")?;
    for peer in nodes.iter().filter(|peer| **peer != node).map(|peer| address(*peer).to_string()) {
        if !known.iter().any(|row| row.first() == Some(&peer) && row.last().is_some_and(|id| id != "null")) {
            return Err(lacks(format!("does not know its peer {peer}")));
        }
    }
    if let Some(consistency) = answers_of(nodes.len(), home) {
        connection.query(READ_REPLICAS, consistency)?;
    }
    Ok(schema)
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
