//! A path from the root of the crate.

use kandra_migrate::migration;

const TABLE: &str = "a";

#[migration(version = 1)]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql(format!("DROP TABLE ${{keyspace}}.{}", crate::TABLE))
    }
}

fn main() {}
