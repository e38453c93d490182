use super::{change, effect, is_absent, is_other, is_there};
use crate::schema::probe::{Effect, observe};

#[test]
fn keyspaces() {
    is_there(&[
        "CREATE KEYSPACE s WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3, 'datacenter2': 3}",
        "CREATE KEYSPACE IF NOT EXISTS s WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': '3'}",
        "CREATE KEYSPACE s WITH REPLICATION = {'class': 'org.apache.cassandra.locator.NetworkTopologyStrategy', 'datacenter1': 3} AND durable_writes = TRUE",
        "CREATE KEYSPACE s WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 3, 'datacenter2': 3} AND tablets = {'enabled': false}",
        "ALTER KEYSPACE s WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3, 'datacenter2': 3}",
    ]);
    is_absent(&[
        "ALTER KEYSPACE s WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 2}",
        "ALTER KEYSPACE s WITH durable_writes = false",
        "DROP KEYSPACE s",
    ]);
    is_other(&[
        (
            "CREATE KEYSPACE s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
            "replication = {\"class\": \"SimpleStrategy\", \"replication_factor\": \"1\"}",
            "replication = {\"class\": \"org.apache.cassandra.locator.NetworkTopologyStrategy\", \"datacenter1\": \"3\", \"datacenter2\": \"3\"}",
        ),
        (
            "CREATE KEYSPACE s WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3} AND durable_writes = false",
            "durable_writes = false",
            "durable_writes = true",
        ),
    ]);
    assert_eq!(
        effect("ALTER KEYSPACE s WITH tablets = {'enabled': false}"),
        Effect::Unknown { why: "the server does not show an option that is set" }
    );
}

#[test]
fn without_the_keyspace_only_drops_have_their_effect() {
    for (source, expected) in [
        ("CREATE KEYSPACE s WITH durable_writes = true", Effect::Absent),
        ("CREATE TABLE s.t (a int PRIMARY KEY)", Effect::Absent),
        ("ALTER TABLE s.t DROP a", Effect::Absent),
        ("DROP KEYSPACE s", Effect::There),
        ("DROP TABLE s.t", Effect::There),
        ("DROP TYPE s.t", Effect::There),
        ("DROP INDEX s.t", Effect::There),
        ("DROP MATERIALIZED VIEW s.t", Effect::There),
        ("DROP FUNCTION s.f", Effect::There),
        ("DROP AGGREGATE s.f(int)", Effect::There),
    ] {
        assert_eq!(observe(&change(source), None), expected, "{source}");
    }
}
