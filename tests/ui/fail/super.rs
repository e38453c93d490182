//! A path above the module.

use kandra_migrate::migration;

const TABLE: &str = "a";

#[migration(version = 1)]
mod drop_a {
    use super::TABLE;
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql(format!("DROP TABLE ${{keyspace}}.{TABLE}"))
    }
}

fn main() {}
