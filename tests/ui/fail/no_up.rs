//! Nothing says what to do.

use kandra_migrate::migration;

#[migration(version = 1)]
mod drop_a {
    const A: u8 = 1;
}

fn main() {}
