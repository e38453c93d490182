//! A macro that is defined around the module.

use kandra_migrate::migration;

macro_rules! drop_table {
    ($name:ident) => {
        cql(concat!("DROP TABLE ${keyspace}.", stringify!($name)))
    };
}

#[migration(version = 1)]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        drop_table!(a)
    }
}

fn main() {}
