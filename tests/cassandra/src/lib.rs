//! Real Cassandra nodes on loopback, for tests and the quickstart.
