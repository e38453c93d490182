//! The service's migrations.

use kandra_migrate::migration;

kandra_migrate::registry!(pub(crate) static MIGRATIONS);

#[migration(version = 1)]
mod create_users {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY, name text)")
    }
}

/// Takes some seconds, so that there is time to ask `/ready` or to stop the service meanwhile.
#[migration(version = 2)]
mod add_sample_users {
    use kandra_migrate::prelude::*;

    const USERS: i64 = 2000;
    const USERS_PER_CHECKPOINT: i64 = 200;

    fn up() -> impl IntoPlan {
        code("add users", add).idempotent()
    }

    async fn add(cx: TaskContext) -> TaskResult {
        let added = cx.checkpoint::<i64>()?.unwrap_or(0);
        for id in added + 1..=USERS {
            let name = format!("User {id}");
            cx.execute("INSERT INTO ${keyspace}.users (id, name) VALUES (?, ?)", (id, name)).await?;
            if id % USERS_PER_CHECKPOINT == 0 {
                cx.save_checkpoint(&id).await?;
                cx.progress(id.unsigned_abs(), Some(USERS.unsigned_abs()));
            }
        }
        Ok(())
    }
}

#[migration(version = 3)]
mod add_first_name {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("ALTER TABLE ${keyspace}.users ADD first_name text")
    }
}

/// The service is ready without it, and a real one would take hours.
#[migration(version = 4, after_start)]
mod fill_first_name {
    use kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        code("fill", fill).idempotent()
    }

    async fn fill(cx: TaskContext) -> TaskResult {
        cx.backfill("users")
            // So that there is time to ask `/progress` or to stop the service meanwhile.
            .rows_per_second(100)
            .for_each_row("id, name", async |cx, (id, name): (i64, String)| {
                let first = name.split(' ').next();
                cx.execute("UPDATE ${keyspace}.users SET first_name = ? WHERE id = ?", (first, id)).await
            })
            .await
    }
}

/// It waits for the one before.
#[migration(version = 5)]
mod index_first_name {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        // Until it is built, a read by it fails.
        cql("CREATE INDEX users_by_first_name ON ${keyspace}.users (first_name)").wait_built()
    }
}
