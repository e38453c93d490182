//! An item with the name of ours.

use kandra_migrate::migration;

#[migration(version = 1)]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql("DROP TABLE ${keyspace}.a")
    }

    static MIGRATION: u8 = 1;
}

fn main() {}
