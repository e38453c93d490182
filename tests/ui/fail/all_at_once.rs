//! Much is wrong, and all of it is said.

use kandra_migrate::migration;

#[migration(version = 0, colour = "red")]
mod drop_a {
    use crate::a;
    const MIGRATION: u8 = 1;

    async fn up(cx: u8) {}
}

fn main() {}
