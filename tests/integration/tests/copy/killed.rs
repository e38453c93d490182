//! A copy of which the instance is killed.

use std::collections::BTreeMap;

use integration::{Keyspace, eventually};
use tokio::sync::oneshot;

use super::mail;
use crate::instance::Instance;

/// Copies are killed again and again, while an application writes to both tables.
#[tokio::test(flavor = "multi_thread")]
async fn kills_and_writes_of_an_application_during_a_copy() {
    const ROWS: i64 = 8_000;
    const KILLS: usize = 2;
    let keyspace = Keyspace::fresh("copy_killed").await;
    keyspace.execute("CREATE TABLE ks.users (id bigint PRIMARY KEY, mail text, name text)").await;
    let insert = format!("INSERT INTO {}.users (id, mail, name) VALUES (?, ?, ?)", keyspace.name);
    let insert = keyspace.session.prepare(insert).await.unwrap();
    for id in 0..ROWS {
        keyspace.session.execute_unpaged(&insert, (id, mail(id), format!("First{id}"))).await.unwrap();
    }
    let killed = async {
        for _ in 0..KILLS {
            let saved = keyspace.position_so_far().await;
            let instance = Instance::start(&keyspace, &["copy"]);
            keyspace.has_saved_after(saved).await;
            instance.kill();
        }
        Instance::start(&keyspace, &["copy"]).outcome().await
    };
    let (stop, stopped) = oneshot::channel();
    let outcome = async {
        let outcome = killed.await;
        stop.send(()).unwrap();
        outcome
    };
    let (outcome, written) = tokio::join!(outcome, application(&keyspace, ROWS, stopped));
    assert!(outcome.starts_with("ok migrated"), "{outcome}");
    let copied =
        keyspace.rows::<(String, i64, Option<String>)>("SELECT mail, id, name FROM ks.users_by_mail").await;
    let copied: BTreeMap<_, _> = copied.into_iter().map(|(mail, id, name)| (id, (mail, name))).collect();
    let mut wrong = Vec::new();
    for id in 0..ROWS {
        let wanted = match written.get(&id) {
            None => Some((mail(id), Some(format!("First{id}")))),
            Some(Some(name)) => Some((mail(id), Some(name.clone()))),
            Some(None) => None,
        };
        if copied.get(&id) != wanted.as_ref() {
            wrong.push(format!("row {id} is {:?} and should be {wanted:?}", copied.get(&id)));
        }
    }
    assert!(wrong.is_empty(), "{} rows are wrong, {wrong:?}", wrong.len());
    assert!(written.len() > 100, "the application wrote {} rows", written.len());
}

/// Writes names, and deletes rows, in both tables, until it is stopped: rows and their last names. It does so from the
/// time on at which there is the other table.
async fn application(
    keyspace: &Keyspace,
    rows: i64,
    mut stopped: oneshot::Receiver<()>,
) -> BTreeMap<i64, Option<String>> {
    eventually("there is the table", || async {
        keyspace.rows_so_far::<(i64,)>("SELECT id FROM ks.users_by_mail LIMIT 1").await
    })
    .await;
    let prepare = async |cql: &str| {
        let text = cql.replace("ks.", &format!("{}.", keyspace.name));
        keyspace.session.prepare(text).await.unwrap()
    };
    let update = prepare("UPDATE ks.users SET name = ? WHERE id = ?").await;
    let update_copy = prepare("UPDATE ks.users_by_mail SET name = ? WHERE mail = ? AND id = ?").await;
    let delete = prepare("DELETE FROM ks.users WHERE id = ?").await;
    let delete_copy = prepare("DELETE FROM ks.users_by_mail WHERE mail = ? AND id = ?").await;
    let mut written = BTreeMap::new();
    let mut id = 0;
    while stopped.try_recv() == Err(oneshot::error::TryRecvError::Empty) {
        id = (id + 7919) % rows;
        if id % 4 == 0 {
            keyspace.session.execute_unpaged(&delete, (id,)).await.unwrap();
            keyspace.session.execute_unpaged(&delete_copy, (mail(id), id)).await.unwrap();
            written.insert(id, None);
        } else {
            let name = format!("Own{id}-{}", written.len());
            keyspace.session.execute_unpaged(&update, (&name, id)).await.unwrap();
            keyspace.session.execute_unpaged(&update_copy, (&name, mail(id), id)).await.unwrap();
            written.insert(id, Some(name));
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    written
}
