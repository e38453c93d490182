//! No reason is given.

use kandra_migrate::migration;

#[migration(version = 1, reaches_outside)]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql("DROP TABLE ${keyspace}.a")
    }
}

fn main() {}
