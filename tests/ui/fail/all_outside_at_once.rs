//! Much is outside, and all of it is said.

use kandra_migrate::migration;

#[migration(version = 1)]
mod drop_a {
    use super::*;
    mod other;

    fn up() -> impl IntoPlan {
        crate::plan(env!("HOME"), tables!())
    }
}

fn main() {}
