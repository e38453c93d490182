//! On a function.

use kandra_migrate::migration;

#[migration(version = 1)]
fn up() {}

fn main() {}
