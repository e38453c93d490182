//! Schema and data migrations for Apache Cassandra and `ScyllaDB`.

pub mod cql;
