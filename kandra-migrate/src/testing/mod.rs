//! A migrated keyspace for each test of an application's migrations; feature `testing`.
//!
//! ```no_run
//! # mod shop { kandra_migrate::registry!(pub static MIGRATIONS); }
//! use kandra_migrate::testing::TestKeyspace;
//! use shop::MIGRATIONS;
//!
//! #[kandra_migrate::test(MIGRATIONS)]
//! async fn users_have_names(db: TestKeyspace) {
//!     db.execute("INSERT INTO ${keyspace}.users (id, name) VALUES (1, 'Ada')").await;
//!     assert_eq!(db.rows::<(String,)>("SELECT name FROM ${keyspace}.users", ()).await, [("Ada".to_owned(),)]);
//! }
//!
//! #[kandra_migrate::test(MIGRATIONS, up_to = 1)]
//! async fn first_names_are_filled(db: TestKeyspace) {
//!     db.execute("INSERT INTO ${keyspace}.users (id, name) VALUES (1, 'Ada Lovelace')").await;
//!     db.run_task("fill first_name").await; // of version 2, with the steps before it
//!     let names = db.rows::<(String,)>("SELECT first_name FROM ${keyspace}.users", ()).await;
//!     assert_eq!(names, [("Ada".to_owned(),)]);
//! }
//!
//! #[kandra_migrate::test(MIGRATIONS, up_to = 0)]
//! async fn what_is_undone_can_be_done_again(db: TestKeyspace) {
//!     db.assert_undo_restores().await;
//! }
//!
//! #[kandra_migrate::test(MIGRATIONS, up_to = 0)]
//! async fn a_lost_answer_does_no_harm(db: TestKeyspace) {
//!     db.assert_idempotent().await;
//! }
//!
//! #[kandra_migrate::test(MIGRATIONS)]
//! async fn the_schema_is_what_is_committed(db: TestKeyspace) {
//!     db.assert_schema("schema.cql").await; // KANDRA_UPDATE_SNAPSHOTS=1 writes it
//! }
//! # fn main() {}
//! ```
//!
//! # The database
//!
//! `KANDRA_TEST_HOSTS` has its contact points, as in `127.0.0.1:9042,127.0.0.2:9042`; or a function of yours connects,
//! where users, TLS or a container are needed: `session = path::to::connect`, a `fn() -> impl Future` whose output is a
//! `Session` or `Arc<Session>`.
//!
//! # The keyspaces
//!
//! Each test has one of its own, so that tests run in parallel, and many processes at one database. It is called
//! `kt_<hours since 1970, in hex>_<test>_<random>`, and dropped when the test has passed. When it has not, the keyspace
//! stays, and its name is the last line of the test's output, also where the test should panic. What is older than
//! [6 hours](STALE_AFTER_HOURS) is dropped by the next process that tests, up to [8](STALE_DROPPED_MAX) at a time; so
//! no test may take longer.
//!
//! # The attribute
//!
//! `#[kandra_migrate::test(REGISTRY, key = value, …)]` goes on an `async fn` with one argument, a [`TestKeyspace`]. What it
//! returns is what a `#[test]` may return. Other attributes, such as `#[ignore]`, stand beside it. [`Setup`] is the same
//! without the attribute.
//!
//! | key | what it says |
//! |---|---|
//! | `session = path` | the function that connects; default: `KANDRA_TEST_HOSTS` |
//! | `up_to = 3` | up to which version the keyspace is migrated before the test; default: all |
//! | `replication = "…"` | the keyspace's; default: `{'class': 'NetworkTopologyStrategy', 'replication_factor': 1}` |
//! | `runner = path` | a `fn(Runner<'_>) -> Runner<'_>` with your settings, as [variables](crate::Runner::variable) |
//! | `crate = path` | where the library is, if it is renamed; default: `::kandra_migrate` |
//!
//! `ScyllaDB` before 2025.4 needs `AND tablets = {'enabled': false}` at the end of the replication.
//!
//! In a test, what is wrong is a panic with a message: so are all errors here.

mod connect;
mod contents;
mod diff;
mod idempotent;
mod keyspace;
mod name;
mod setup;
mod snapshot;
mod staged;
mod stale;
mod undo;

pub use keyspace::TestKeyspace;
pub use name::STALE_AFTER_HOURS;
pub use setup::Setup;
pub use stale::STALE_DROPPED_MAX;
