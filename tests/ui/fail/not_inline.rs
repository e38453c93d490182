//! On a module in another file.

use kandra_migrate::migration;

#[migration(version = 1)]
mod drop_a;

fn main() {}
