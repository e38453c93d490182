//! A flag with a value.

use kandra_migrate::migration;

#[migration(version = 1, after_start = true)]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql("DROP TABLE ${keyspace}.a")
    }
}

fn main() {}
