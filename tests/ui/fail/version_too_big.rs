//! A version above what an i64 holds.

use kandra_migrate::migration;

#[migration(version = 9223372036854775808)]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql("DROP TABLE ${keyspace}.a")
    }
}

fn main() {}
