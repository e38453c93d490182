//! A file that is not part of the module.

use kandra_migrate::migration;

#[migration(version = 1)]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql(include_str!("super.rs"))
    }
}

fn main() {}
