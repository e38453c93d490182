//! A migration that depends on the build.

use kandra_migrate::migration;

#[migration(version = 1)]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        let mut plan = vec![cql("DROP TABLE ${keyspace}.a")];
        #[cfg(debug_assertions)]
        plan.push(cql("DROP TABLE ${keyspace}.b"));
        if cfg!(unix) {
            plan.clear();
        }
        plan
    }
}

fn main() {}
