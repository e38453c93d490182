//! A key that there is not.

use kandra_migrate::migration;

#[migration(version = 1, name = "a")]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql("DROP TABLE ${keyspace}.a")
    }
}

fn main() {}
