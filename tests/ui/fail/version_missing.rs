//! Without a version.

use kandra_migrate::migration;

#[migration]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql("DROP TABLE ${keyspace}.a")
    }
}

fn main() {}
