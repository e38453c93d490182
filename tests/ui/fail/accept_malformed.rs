//! Checksums that are none.

use kandra_migrate::migration;

#[migration(
    version = 1,
    accept = [
        "k1:abc",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "k1:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
        1,
    ],
)]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql("DROP TABLE ${keyspace}.a")
    }
}

fn main() {}
