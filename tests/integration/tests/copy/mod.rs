//! Tables copied into others, and columns filled from others.

mod killed;
mod refused;
mod rewrite;
mod verify;

use std::error::Error as _;

use integration::{Keyspace, eventually, within};
use kandra_migrate::{Code, Error, Migration, Outcome, Registry, migration};
use scylla::value::Row;

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

/// Its values, their TTLs, and a write time.
type Session = (String, String, Option<i32>, Option<i32>, i64);

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
