//! Columns filled from others of their row.

use integration::eventually;
use kandra_migrate::migration;

use super::{PEOPLE, migrate, people};

#[migration(version = 1)]
mod split_names {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("ALTER TABLE ${keyspace}.people ADD (first text, \"Last\" text)"),
            cql("ALTER TABLE ${keyspace}.people ADD shout text static"),
            code("fill names", |cx| async move { names(cx).await }).idempotent(),
            code("fill mottos", |cx| async move { mottos(cx).await }).idempotent(),
        ]
    }
    async fn names(cx: TaskContext) -> TaskResult {
        cx.backfill("people")
            .rewrite("first, \"Last\"", "\"Full Name\"", async |(name,): (Option<String>,)| {
                let names = name.as_deref().and_then(|name| name.split_once(' '));
                Ok(names.map(|(first, last)| (first.to_owned(), last.to_owned())))
            })
            .await
    }
    async fn mottos(cx: TaskContext) -> TaskResult {
        cx.backfill("people")
            .rewrite("shout", "motto", async |(motto,): (Option<String>,)| {
                Ok(motto.map(|motto| (format!("{motto}!"),)))
            })
            .await
    }
}

/// A key and names.
type Names = (i64, Option<String>, Option<String>, Option<String>, Option<String>);

#[tokio::test(flavor = "multi_thread")]
async fn columns_are_filled_from_others_of_their_row() {
    let keyspace = people("rewrite").await;
    keyspace.execute("INSERT INTO ks.people (country, id, motto) VALUES ('de', 1001, 'Einigkeit')").await;
    keyspace
        .execute("INSERT INTO ks.people (country, id, n, \"Full Name\") VALUES ('pt', 2000, 0, 'For Now') USING TTL 60")
        .await;
    migrate(&keyspace, &split_names::MIGRATION).await;
    let rows =
        keyspace.rows::<Names>("SELECT id, \"Full Name\", first, \"Last\", shout FROM ks.people").await;
    assert!(rows.len() >= usize::try_from(PEOPLE).unwrap());
    for (id, full, first, last, shout) in rows {
        let names = first.zip(last).map(|(first, last)| format!("{first} {last}"));
        assert_eq!(names, full, "{id}");
        let motto = [("Liberté!", id < PEOPLE && id % 3 != 0), ("Einigkeit!", id == 1001)];
        assert_eq!(shout.as_deref(), motto.iter().find(|(_, has)| *has).map(|(motto, _)| *motto), "{id}");
    }
    eventually("the row is gone with what it was filled with", || async {
        let select = "SELECT first FROM ks.people WHERE country = 'pt' AND id = 2000";
        keyspace.rows::<(Option<String>,)>(select).await.is_empty().then_some(())
    })
    .await;
}
