//! The path of the library in quotes.

use kandra_migrate::migration;

#[migration(version = 1, crate = "renamed")]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql("DROP TABLE ${keyspace}.a")
    }
}

fn main() {}
