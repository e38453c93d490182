//! A path by the name of the package.

use kandra_migrate::migration;

#[migration(version = 1)]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql(ui_tests::DROP_A)
    }
}

fn main() {}
