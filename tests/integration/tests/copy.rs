//! Tables copied into others, and columns filled from others.

use std::collections::BTreeMap;
use std::error::Error as _;

use integration::{Keyspace, eventually, within};
use kandra_migrate::{BackfillError, Code, CopyError, Error, Migration, Outcome, Registry, migration};
use scylla::value::Row;
use tokio::sync::oneshot;

use crate::instance::Instance;

const PEOPLE: i64 = 300;

#[migration(version = 1)]
mod by_mail {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql(
                "CREATE TABLE ${keyspace}.by_mail (mail text, id bigint, n int, country text, motto text, name text, \
                 domain text, tags set<text>, sizes map<text, int>, home address, work frozen<address>, \
                 visits frozen<list<int>>, PRIMARY KEY (mail, id, n))",
            ),
            code("copy", |cx| async move { copy(&cx).run().await }).idempotent(),
            code("verify", |cx| async move { copy(&cx).verify(u64::MAX).await }).idempotent(),
        ]
    }
    fn copy(cx: &TaskContext) -> kandra_migrate::TableCopy {
        cx.backfill("people")
            .page_rows(50)
            .copy_into("by_mail")
            .rename("\"Full Name\"", "name")
            .compute("domain", "mail", |(mail,): (Option<String>,)| {
                Ok((mail.and_then(|mail| Some(mail.split_once('@')?.1.to_owned())),))
            })
            .skip_null_keys()
    }
}

const PEOPLE_TABLE: &str = "CREATE TABLE ks.people (country text, id bigint, n int, motto text static, mail text, \
     \"Full Name\" text, tags set<text>, sizes map<text, int>, home address, work frozen<address>, visits list<int>, \
     PRIMARY KEY ((country, id), n))";

/// A table with a key of three columns, static ones, all sorts of collections, and rows that have less than others.
async fn people(prefix: &str) -> Keyspace {
    let keyspace = Keyspace::fresh(prefix).await;
    keyspace.execute("CREATE TYPE ks.address (street text, number int)").await;
    keyspace.execute(PEOPLE_TABLE).await;
    let text = |cql: &str| cql.replace("ks.", &format!("{}.", keyspace.name));
    let insert = "INSERT INTO ks.people (country, id, n, motto, mail, \"Full Name\", tags, sizes, home, work, visits) \
                  VALUES ('fr', ?, ?, 'Liberté', ?, ?, {'a', 'b'}, {'shoe': 42}, {street: 'Rue', number: 1}, \
                  {street: 'Quai'}, [1, 2, 1])";
    let insert = keyspace.session.prepare(text(insert)).await.unwrap();
    let less = keyspace
        .session
        .prepare(text("INSERT INTO ks.people (country, id, n, mail) VALUES ('pt', ?, 0, ?)"))
        .await
        .unwrap();
    for id in 0..PEOPLE {
        if id % 3 == 0 {
            keyspace.session.execute_unpaged(&less, (id, mail(id))).await.unwrap();
        } else {
            let values = (id, 7_i32, mail(id), format!("First{id} Last{id}"));
            keyspace.session.execute_unpaged(&insert, values).await.unwrap();
        }
    }
    keyspace
}

fn mail(id: i64) -> String {
    format!("{id}@example.org")
}

async fn migrate(keyspace: &Keyspace, migration: &'static Migration) {
    let registry = Registry::of([migration]);
    let report = within("the run ends", keyspace.runner(&registry).run()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated);
}

async fn failure(keyspace: &Keyspace, migration: &'static Migration) -> Error {
    let registry = Registry::of([migration]);
    let error = within("the run ends", keyspace.runner(&registry).run()).await.unwrap_err();
    assert_eq!(error.code(), Code::StepFailed, "{error}");
    error
}

/// The cause of this type, and those behind it.
fn cause<E: std::error::Error + 'static>(error: &Error) -> &E {
    let mut next = error.source();
    while let Some(error) = next {
        if let Some(cause) = error.downcast_ref() {
            return cause;
        }
        next = error.source();
    }
    panic!("another error: {error}");
}

/// Rows in an order that is the same for all tables.
async fn rows(keyspace: &Keyspace, cql: &str) -> Vec<String> {
    let rows = keyspace.rows::<Row>(cql).await;
    let mut rows: Vec<_> = rows.into_iter().map(|row| format!("{:?}", row.columns)).collect();
    rows.sort();
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_with_another_key_has_the_same_rows() {
    let keyspace = people("copy").await;
    // It has no mail, and cannot be in the other table.
    keyspace
        .execute("INSERT INTO ks.people (country, id, n, \"Full Name\") VALUES ('de', 1000, 1, 'Nobody')")
        .await;
    // There are no rows.
    keyspace.execute("INSERT INTO ks.people (country, id, motto) VALUES ('de', 1001, 'Einigkeit')").await;
    migrate(&keyspace, &by_mail::MIGRATION).await;
    let columns = |name: &str| {
        format!(
            "mail, id, n, country, motto, {name}, tags, sizes, home, work, visits, WRITETIME({name}), WRITETIME(work)"
        )
    };
    let from = rows(
        &keyspace,
        &format!("SELECT {} FROM ks.people WHERE id < 1000 ALLOW FILTERING", columns("\"Full Name\"")),
    )
    .await;
    let into = rows(&keyspace, &format!("SELECT {} FROM ks.by_mail", columns("name"))).await;
    assert_eq!(from.len(), usize::try_from(PEOPLE).unwrap());
    assert_eq!(into, from);
    let domains = keyspace.rows::<(String, i64)>("SELECT domain, WRITETIME(domain) FROM ks.by_mail").await;
    assert!(domains.iter().all(|(domain, _)| domain == "example.org"));
}

#[migration(version = 1)]
mod sessions {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql(
                "CREATE TABLE ${keyspace}.sessions_of (who text, id int, a text, b text, PRIMARY KEY (who, id))",
            ),
            code("copy", |cx| async move { cx.backfill("sessions").copy_into("sessions_of").run().await })
                .idempotent(),
        ]
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_expires_expires_in_the_copy_too() {
    let keyspace = Keyspace::fresh("copy_ttl").await;
    keyspace.execute("CREATE TABLE ks.sessions (id int PRIMARY KEY, who text, a text, b text)").await;
    let insert = |values: &str| format!("INSERT INTO ks.sessions (id, who, a, b) VALUES ({values})");
    keyspace.execute(&insert("1, 'x', 'a', 'b'")).await;
    keyspace.execute(&format!("{} USING TTL 9000", insert("2, 'x', 'a', 'b'"))).await;
    keyspace.execute(&insert("3, 'x', 'a', 'b'")).await;
    keyspace.execute("UPDATE ks.sessions USING TTL 9000 SET b = 'c' WHERE id = 3").await;
    keyspace.execute(&format!("{} USING TTL 60", insert("4, 'x', 'a', 'b'"))).await;
    migrate(&keyspace, &sessions::MIGRATION).await;
    let copied = "SELECT a, b, TTL(a), TTL(b), WRITETIME(b) FROM ks.sessions_of WHERE who = 'x' AND id =";
    let original = "SELECT a, b, TTL(a), TTL(b), WRITETIME(b) FROM ks.sessions WHERE id =";
    type Session = (String, String, Option<i32>, Option<i32>, i64);
    for id in 1..=3 {
        let (a, b, ttl_a, ttl_b, written) =
            keyspace.rows::<Session>(&format!("{copied} {id}")).await.remove(0);
        let from = keyspace.rows::<Session>(&format!("{original} {id}")).await.remove(0);
        assert_eq!((a, b, written), (from.0, from.1, from.4));
        for (ttl, from) in [(ttl_a, from.2), (ttl_b, from.3)] {
            // Read one after the other, and rounded to seconds.
            let slack = |ttl: i32| (from.unwrap() - 30..=from.unwrap() + 30).contains(&ttl);
            assert!(ttl.is_some() == from.is_some() && ttl.is_none_or(slack), "{id}: {ttl:?}, {from:?}");
        }
    }
    // All of the row, so that nothing is left of it.
    eventually("the row is gone", || async {
        let rows = keyspace.rows::<(i32,)>("SELECT id FROM ks.sessions_of WHERE who = 'x' AND id = 4").await;
        rows.is_empty().then_some(())
    })
    .await;
}

#[migration(version = 1)]
mod countries {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("CREATE TABLE ${keyspace}.countries (country text, id bigint, n int, motto text static, \
                 flags set<text> static, city text, PRIMARY KEY ((country), id, n))"),
            code("copy", |cx| async move { copy(&cx).run().await }).idempotent(),
            code("verify", |cx| async move { copy(&cx).verify(u64::MAX).await }).idempotent(),
        ]
    }
    fn copy(cx: &TaskContext) -> kandra_migrate::TableCopy {
        cx.backfill("places").copy_into("countries")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn static_columns_of_partitions_with_and_without_rows() {
    let keyspace = Keyspace::fresh("copy_static").await;
    keyspace
        .execute(
            "CREATE TABLE ks.places (country text, id bigint, n int, motto text static, flags set<text> static, \
             city text, PRIMARY KEY ((country), n, id))",
        )
        .await;
    keyspace
        .execute("INSERT INTO ks.places (country, motto, flags) VALUES ('de', 'Einigkeit', {'black', 'red'})")
        .await;
    keyspace
        .execute("INSERT INTO ks.places (country, motto, flags, n, id, city) VALUES ('fr', 'Liberté', {'blue'}, 1, 2, 'Lyon')")
        .await;
    keyspace.execute("INSERT INTO ks.places (country, n, id) VALUES ('fr', 2, 2)").await;
    migrate(&keyspace, &countries::MIGRATION).await;
    let columns = "country, id, n, motto, flags, city, WRITETIME(motto), WRITETIME(city)";
    let from = rows(&keyspace, &format!("SELECT {columns} FROM ks.places")).await;
    assert_eq!(from.len(), 3);
    assert_eq!(rows(&keyspace, &format!("SELECT {columns} FROM ks.countries")).await, from);
}

#[migration(version = 1)]
mod wider_key {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("copy", |cx| async move {
            let copy = cx.backfill("items").copy_into("items_2");
            copy.compute("id", "id", |(id,): (i32,)| Ok((i64::from(id),))).run().await
        })
        .idempotent()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_another_type_and_what_an_application_wrote_long_ago() {
    let keyspace = Keyspace::fresh("copy_type").await;
    keyspace.execute("CREATE TABLE ks.items (id int PRIMARY KEY, name text)").await;
    keyspace.execute("CREATE TABLE ks.items_2 (id bigint PRIMARY KEY, name text)").await;
    for id in 0..20 {
        keyspace
            .execute(&format!("INSERT INTO ks.items (id, name) VALUES ({id}, 'old') USING TIMESTAMP 100"))
            .await;
    }
    // By a clock that is years behind: older than the claim, and newer than what is copied.
    keyspace.execute("INSERT INTO ks.items_2 (id, name) VALUES (7, 'new') USING TIMESTAMP 101").await;
    keyspace.execute("DELETE FROM ks.items_2 USING TIMESTAMP 101 WHERE id = 8").await;
    migrate(&keyspace, &wider_key::MIGRATION).await;
    let mut items = keyspace.rows::<(i64, String)>("SELECT id, name FROM ks.items_2").await;
    items.sort();
    let wanted = (0..20).filter(|id| *id != 8).map(|id| (id, if id == 7 { "new" } else { "old" }.to_owned()));
    assert_eq!(items, wanted.collect::<Vec<_>>());
}

mod refused {
    use super::migration;

    #[migration(version = 1)]
    pub(super) mod itself {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            code("copy", |cx| async move { cx.backfill("people").copy_into("People").run().await })
                .idempotent()
        }
    }

    #[migration(version = 1)]
    pub(super) mod no_target {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            code("copy", |cx| async move { cx.backfill("people").copy_into("nowhere").run().await })
                .idempotent()
        }
    }

    #[migration(version = 1)]
    pub(super) mod counters {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            code("copy", |cx| async move { cx.backfill("people").copy_into("tallies").run().await })
                .idempotent()
        }
    }

    #[migration(version = 1)]
    pub(super) mod view {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            code("copy", |cx| async move { cx.backfill("by_name").copy_into("people").run().await })
                .idempotent()
        }
    }

    #[migration(version = 1)]
    pub(super) mod into_less {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            code("copy", |cx| async move { cx.backfill("people").copy_into("less").run().await }).idempotent()
        }
    }

    #[migration(version = 1)]
    pub(super) mod null_keys {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            code("copy", |cx| async move {
                let copy = cx.backfill("people").copy_into("less");
                copy.except("motto, \"Full Name\", tags, sizes, home, work, visits").run().await
            })
            .idempotent()
        }
    }

    #[migration(version = 1)]
    pub(super) mod other_types {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            code("copy", |cx| async move {
                let copy = cx.backfill("people").copy_into("less");
                let copy = copy.except("motto, \"Full Name\", tags, sizes, home, work, visits");
                copy.compute("mail", "id", |(id,): (i32,)| Ok((id.to_string(),))).run().await
            })
            .idempotent()
        }
    }

    #[migration(version = 1)]
    pub(super) mod expiring_sets {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            code("copy", |cx| async move { cx.backfill("tagged").copy_into("tagged_2").run().await })
                .idempotent()
        }
    }

    #[migration(version = 1)]
    pub(super) mod key_filled {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            code("fill", |cx| async move {
                cx.backfill("people").rewrite("n", "n", async |(n,): (i32,)| Ok(Some((n,)))).await
            })
            .idempotent()
        }
    }

    #[migration(version = 1)]
    pub(super) mod missing_filled {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            code("fill", |cx| async move {
                cx.backfill("people").rewrite("age", "n", async |(n,): (i32,)| Ok(Some((n,)))).await
            })
            .idempotent()
        }
    }

    #[migration(version = 1)]
    pub(super) mod list_filled {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            code("fill", |cx| async move {
                cx.backfill("people").rewrite("visits", "n", async |(n,): (i32,)| Ok(Some((vec![n],)))).await
            })
            .idempotent()
        }
    }

    #[migration(version = 1)]
    pub(super) mod other_type_filled {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            code("fill", |cx| async move {
                cx.backfill("people")
                    .rewrite("mail", "n", async |(n,): (i64,)| Ok(Some((n.to_string(),))))
                    .await
            })
            .idempotent()
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_work_is_refused_before_the_first_row() {
    let keyspace = people("copy_refused").await;
    keyspace.execute("CREATE TABLE ks.tallies (id bigint PRIMARY KEY, n counter)").await;
    keyspace
        .execute("CREATE TABLE ks.less (mail text, id bigint, n int, country text, PRIMARY KEY (mail, id))")
        .await;
    keyspace
        .execute(
            "CREATE MATERIALIZED VIEW ks.by_name AS SELECT country, id, n, mail FROM ks.people \
             WHERE country IS NOT NULL AND id IS NOT NULL AND n IS NOT NULL AND mail IS NOT NULL \
             PRIMARY KEY (mail, country, id, n)",
        )
        .await;
    for table in ["tagged", "tagged_2"] {
        let ttl = if table == "tagged" { " WITH default_time_to_live = 9000" } else { "" };
        keyspace.execute(&format!("CREATE TABLE ks.{table} (id int PRIMARY KEY, tags set<text>){ttl}")).await;
    }
    let of = async |migration| failure(&keyspace, migration).await;
    let error = of(&refused::itself::MIGRATION).await;
    assert!(matches!(cause(&error), CopyError::Itself { table } if table == "people"), "{error}");
    let error = of(&refused::no_target::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::NoTable { table, .. } if table == "nowhere"), "{error}");
    let error = of(&refused::counters::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::Counters { .. }), "{error}");
    let error = of(&refused::view::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::View { table, .. } if table == "people"), "{error}");
    let error = of(&refused::into_less::MIGRATION).await;
    assert!(
        matches!(cause(&error), CopyError::NotInTarget { column, .. } if column == "Full Name" || column == "motto"),
        "{error}"
    );
    let error = of(&refused::other_types::MIGRATION).await;
    assert!(matches!(cause(&error), CopyError::Types { .. }), "{error}");
    let error = of(&refused::expiring_sets::MIGRATION).await;
    assert!(matches!(cause(&error), CopyError::CollectionTtl { column, .. } if column == "tags"), "{error}");

    let error = of(&refused::key_filled::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::KeyColumn { column, .. } if column == "n"), "{error}");
    let error = of(&refused::missing_filled::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::NoColumn { column, .. } if column == "age"), "{error}");
    let error = of(&refused::list_filled::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::List { column, .. } if column == "visits"), "{error}");
    let error = of(&refused::other_type_filled::MIGRATION).await;
    assert!(matches!(cause(&error), BackfillError::Types { .. }), "{error}");
    assert!(keyspace.rows::<(String,)>("SELECT mail FROM ks.less").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_without_a_key_in_the_other_table_is_named() {
    let keyspace = people("copy_null_key").await;
    keyspace
        .execute("CREATE TABLE ks.less (mail text, id bigint, n int, country text, PRIMARY KEY (mail, id))")
        .await;
    keyspace.execute("INSERT INTO ks.people (country, id, n) VALUES ('de', 1000, 1)").await;
    let error = failure(&keyspace, &refused::null_keys::MIGRATION).await;
    let BackfillError::Row { key, source, .. } = cause(&error) else { panic!("{error}") };
    assert!(
        matches!(source.downcast_ref(), Some(CopyError::NullKey { column, .. }) if column == "mail"),
        "{error}"
    );
    assert!(key.starts_with("the token "), "{key}");
}

#[migration(version = 1)]
mod fewer {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("CREATE TABLE ${keyspace}.by_name (name text PRIMARY KEY, id int)"),
            code("copy", |cx| async move { cx.backfill("items").copy_into("by_name").run().await })
                .idempotent(),
        ]
    }
}

#[migration(version = 2)]
mod fewer_verified {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("verify", |cx| async move { cx.backfill("items").copy_into("by_name").verify(100).await })
            .idempotent()
    }
}

/// The rows of one that is another's copy, once it has been changed by this.
async fn verified(keyspace: &Keyspace, change: &str) -> Result<(), Error> {
    keyspace.execute(change).await;
    let registry = Registry::of([&fewer::MIGRATION, &fewer_verified::MIGRATION]);
    within("the run ends", keyspace.runner(&registry).run()).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_copy_is_found() {
    let keyspace = Keyspace::fresh("copy_verify").await;
    keyspace.execute("CREATE TABLE ks.items (id int PRIMARY KEY, name text)").await;
    for id in 0..20 {
        keyspace.execute(&format!("INSERT INTO ks.items (id, name) VALUES ({id}, 'item {}')", id % 19)).await;
    }
    migrate(&keyspace, &fewer::MIGRATION).await;
    // Two rows have become one: the newer one.
    let ids = keyspace.rows::<(i32,)>("SELECT id FROM ks.by_name WHERE name = 'item 0'").await;
    assert_eq!(ids.len(), 1);
    let error = verified(&keyspace, "UPDATE ks.items SET name = 'item 0' WHERE id = 0").await.unwrap_err();
    assert_eq!(error.code(), Code::StepFailed, "{error}");
    let found = cause::<BackfillError>(&error);
    assert!(matches!(found, BackfillError::Row { .. }), "{error}");
    let error = verified(&keyspace, "DELETE FROM ks.items WHERE id = 19").await.unwrap_err();
    assert!(error.to_string().contains("which is not newer"), "{error}");
}

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
            let saved = position(&keyspace).await;
            let instance = Instance::start(&keyspace, &["copy"]);
            eventually("it has saved its place", || async {
                let now = position(&keyspace).await;
                (now.is_some() && now != saved).then_some(())
            })
            .await;
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

async fn position(keyspace: &Keyspace) -> Option<String> {
    let text = format!(
        "SELECT position FROM ks.kandra_migrations WHERE keyspace_name = '{}' AND scope = 'main' AND kind = 2 AND version = 2",
        keyspace.name
    );
    keyspace.rows_so_far::<(Option<String>,)>(&text).await?.pop()?.0
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

#[tokio::test(flavor = "multi_thread")]
async fn columns_are_filled_from_others_of_their_row() {
    let keyspace = people("rewrite").await;
    keyspace.execute("INSERT INTO ks.people (country, id, motto) VALUES ('de', 1001, 'Einigkeit')").await;
    keyspace
        .execute("INSERT INTO ks.people (country, id, n, \"Full Name\") VALUES ('pt', 2000, 0, 'For Now') USING TTL 60")
        .await;
    migrate(&keyspace, &split_names::MIGRATION).await;
    type Names = (i64, Option<String>, Option<String>, Option<String>, Option<String>);
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
