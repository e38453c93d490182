//! A plan that is not returned.

use kandra_migrate::migration;

#[migration(version = 1)]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() {
        [cql("DROP TABLE ${keyspace}.a")];
    }
}

fn main() {}
