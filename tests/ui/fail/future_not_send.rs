//! Code that cannot move between threads.

use kandra_migrate::migration;

#[migration(version = 1)]
mod drop_a {
    use std::rc::Rc;

    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        code("fill", fill).idempotent()
    }

    async fn fill(_: TaskContext) -> TaskResult {
        let count = Rc::new(1);
        std::future::ready(()).await;
        drop(count);
        Ok(())
    }
}

fn main() {}
