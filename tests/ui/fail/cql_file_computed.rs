//! A file whose path is not there to be read by the macro.

use kandra_migrate::migration;

#[migration(version = 1)]
mod create_tables {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql_file!(concat!("tables", ".cql"))
    }
}

fn main() {}
