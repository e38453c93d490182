//! A key given twice.

use kandra_migrate::migration;

#[migration(version = 1, version = 2)]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql("DROP TABLE ${keyspace}.a")
    }
}

fn main() {}
