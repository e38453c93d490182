//! A plan that asks for something.

use kandra_migrate::migration;

#[migration(version = 1)]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up(cx: TaskContext) -> impl IntoPlan {
        cql("DROP TABLE ${keyspace}.a")
    }
}

fn main() {}
