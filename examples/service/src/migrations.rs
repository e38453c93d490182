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
            let name = format!("user {id}");
            cx.execute("INSERT INTO ${keyspace}.users (id, name) VALUES (?, ?)", (id, name)).await?;
            if id % USERS_PER_CHECKPOINT == 0 {
                cx.save_checkpoint(&id).await?;
                cx.progress(id.unsigned_abs(), Some(USERS.unsigned_abs()));
            }
        }
        Ok(())
    }
}
