//! Code of which it is not said whether it may run twice.

use kandra_migrate::migration;

#[migration(version = 1)]
mod drop_a {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        [code("fill", fill)]
    }

    async fn fill(_: TaskContext) -> TaskResult {
        Ok(())
    }
}

fn main() {}
