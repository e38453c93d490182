//! Schema and data migrations for Apache Cassandra and `ScyllaDB`.

pub mod cql;
pub mod schema;
