//! What is risky about the replication of a keyspace.

use std::time::Duration;

use scylla::statement::Consistency;

use super::{Database, Grid};
use crate::cql::literal;

/// What should be looked at. Nothing where it cannot be read: advice must not fail a run.
pub(crate) async fn advice(database: &Database, keyspace: &str, timeout: Duration) -> Vec<String> {
    let text = format!(
        "SELECT toJson(replication) AS replication FROM system_schema.keyspaces WHERE keyspace_name = {}",
        literal(keyspace)
    );
    let Ok(result) = database.send(database.statement(text, Consistency::One, timeout)).await else {
        return Vec::new();
    };
    let Ok(grid) = Grid::from_result(result) else { return Vec::new() };
    let replication = grid.first().and_then(|row| row.text("replication"));
    replication.map(|replication| of_replication(keyspace, replication)).unwrap_or_default()
}

fn of_replication(keyspace: &str, replication: &str) -> Vec<String> {
    let mut advice = Vec::new();
    if replication.contains("SimpleStrategy") {
        advice.push(format!(
            "keyspace {keyspace} has SimpleStrategy, which knows no data centres: use NetworkTopologyStrategy"
        ));
    }
    if replication.replace(' ', "").contains(":\"1\"") {
        advice.push(format!(
            "keyspace {keyspace} has a replication factor of 1: while one node is down, no migration can run, and what it \
             holds is lost with it"
        ));
    }
    advice
}

#[cfg(test)]
mod tests {
    use super::of_replication;

    #[test]
    fn what_loses_data_is_named() {
        let simple = r#"{"class": "org.apache.cassandra.locator.SimpleStrategy", "replication_factor": "1"}"#;
        assert_eq!(of_replication("shop", simple).len(), 2);
        let one =
            r#"{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "3", "dc2": "1"}"#;
        assert_eq!(of_replication("shop", one).len(), 1);
        let three =
            r#"{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "3", "dc2": "13"}"#;
        assert_eq!(of_replication("shop", three), [""; 0]);
    }
}
