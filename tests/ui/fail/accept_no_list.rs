//! A checksum that is not in a list.

use kandra_migrate::migration;

#[migration(version = 1, accept = "k1:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql("DROP TABLE ${keyspace}.a")
    }
}

fn main() {}
