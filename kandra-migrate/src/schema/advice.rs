//! What should be looked at in a keyspace, although everything works.

use std::collections::{BTreeMap, BTreeSet};

/// How a keyspace's rows are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replication {
    /// `replication`: `class`, and how many replicas.
    pub(crate) options: BTreeMap<String, String>,
    /// `durable_writes`.
    pub(crate) durable_writes: bool,
}

impl Replication {
    /// One line for each thing. `datacenters` has the data centre of each node.
    pub(crate) fn advice(&self, keyspace: &str, datacenters: &[&str]) -> Vec<String> {
        let mut advice = Vec::new();
        let is_simple = self.options.get("class").is_some_and(|class| class.ends_with("SimpleStrategy"));
        let centres: BTreeSet<_> = datacenters.iter().collect();
        if is_simple && centres.len() > 1 {
            advice.push(format!(
                "keyspace {keyspace} has SimpleStrategy in {} data centres, which it does not know of: use NetworkTopologyStrategy",
                centres.len()
            ));
        }
        for (name, replicas) in self.options.iter().filter(|(name, _)| *name != "class") {
            let (place, nodes) = match name.as_str() {
                "replication_factor" => ("all", datacenters.len()),
                datacenter => (datacenter, datacenters.iter().filter(|other| **other == datacenter).count()),
            };
            // `3/1` is three replicas, of which one is transient.
            let replicas = replicas.split('/').next().and_then(|count| count.parse::<usize>().ok());
            if let Some(replicas @ 1..=2) = replicas.filter(|replicas| *replicas < nodes) {
                advice.push(format!(
                    "keyspace {keyspace} has a replication factor of {replicas} ({place}, {nodes} nodes): a quorum there needs all of them; raise it to 3"
                ));
            }
        }
        if !self.durable_writes {
            advice.push(format!(
                "keyspace {keyspace} has durable_writes = false: nodes that crash at once forget what is applied"
            ));
        }
        advice
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(options: &[(&str, &str)], durable_writes: bool, datacenters: &[&str]) -> Vec<String> {
        let option = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Replication { options: options.iter().map(option).collect(), durable_writes }
            .advice("shop", datacenters)
    }

    const NETWORK: (&str, &str) = ("class", "org.apache.cassandra.locator.NetworkTopologyStrategy");
    const SIMPLE: (&str, &str) = ("class", "org.apache.cassandra.locator.SimpleStrategy");

    #[test]
    fn nothing_to_say_of_three_replicas_or_of_one_node() {
        assert!(
            advice(&[NETWORK, ("a", "3"), ("b", "3/1")], true, &["a", "a", "a", "b", "b", "b"]).is_empty()
        );
        assert!(advice(&[SIMPLE, ("replication_factor", "1")], true, &["a"]).is_empty());
    }

    #[test]
    fn too_few_replicas_by_data_centre() {
        let found = advice(&[NETWORK, ("a", "3"), ("b", "1")], true, &["a", "a", "a", "b", "b"]);
        assert_eq!(
            found,
            [
                "keyspace shop has a replication factor of 1 (b, 2 nodes): a quorum there needs all of them; raise it to 3"
            ]
        );
    }

    #[test]
    fn a_strategy_that_does_not_know_data_centres() {
        let found = advice(&[SIMPLE, ("replication_factor", "3")], true, &["a", "a", "b"]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("SimpleStrategy in 2 data centres"), "{found:?}");
    }

    #[test]
    fn writes_that_a_crash_forgets() {
        let found = advice(&[NETWORK, ("a", "3")], false, &["a", "a", "a"]);
        assert!(found[0].contains("durable_writes = false"), "{found:?}");
    }
}
