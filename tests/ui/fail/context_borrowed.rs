//! Code that borrows what it must own.

use kandra_migrate::migration;

#[migration(version = 1)]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        code("fill", fill).idempotent()
    }

    async fn fill(_: &TaskContext) -> TaskResult {
        Ok(())
    }
}

fn main() {}
