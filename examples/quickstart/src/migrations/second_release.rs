//! What the second release needs: another column. Filling it takes a while, and an instance is killed meanwhile.

use kandra_migrate::migration;

#[migration(version = 6)]
mod add_initials {
    use std::time::Duration;

    use kandra_migrate::prelude::*;

    /// Stands in for the size of a real table.
    const PAUSE: Duration = Duration::from_millis(400);

    fn up() -> impl IntoPlan {
        [cql("ALTER TABLE ${keyspace}.users ADD initials text"), code("fill initials", fill).idempotent()]
    }

    async fn fill(cx: TaskContext) -> TaskResult {
        // Where an earlier attempt has got to, or the start of the ring.
        let mut token: i64 = cx.checkpoint()?.unwrap_or(i64::MIN);
        let mut done = 0;
        loop {
            let next = "SELECT token(id), id, name FROM ${keyspace}.users WHERE token(id) > ? LIMIT 5";
            let users: Vec<(i64, i64, String)> = cx.rows(next, (token,)).await?;
            let Some(last) = users.last() else { return Ok(()) };
            for (_, id, name) in &users {
                let initials: String = name.split(' ').filter_map(|word| word.chars().next()).collect();
                cx.execute("UPDATE ${keyspace}.users SET initials = ? WHERE id = ?", (initials, id)).await?;
            }
            tokio::time::sleep(PAUSE).await;
            token = last.0;
            cx.save_checkpoint(&token).await?;
            done += users.len() as u64;
            cx.progress(done, None);
        }
    }
}
