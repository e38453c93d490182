//! A directory that is not there.

kandra_migrate::cql_dir!("nowhere");

fn main() {}
