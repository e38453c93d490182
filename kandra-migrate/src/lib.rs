//! Schema and data migrations for Apache Cassandra and `ScyllaDB`, for services of which many instances start at once.
//!
//! Each instance calls [`Runner::run`] before it serves. One of them migrates, the others wait, and all start on the
//! same schema. Where nothing is to be done, that is one read. An instance that is killed half-way is taken over by
//! another one, which goes on at the step where it stopped.
//!
//! # Quick start
//!
//! ```
//! use kandra_migrate::{Error, Report, Runner, migration};
//! use scylla::client::session::Session;
//!
//! // Collects the migrations of the crate in which this line stands.
//! kandra_migrate::registry!(pub static MIGRATIONS);
//!
//! #[migration(version = 1)]
//! mod create_users {
//!     use kandra_migrate::prelude::*;
//!
//!     fn up() -> impl IntoPlan {
//!         cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY, name text)")
//!     }
//! }
//!
//! #[migration(version = 2)]
//! mod split_user_name {
//!     use kandra_migrate::prelude::*;
//!
//!     fn up() -> impl IntoPlan {
//!         [
//!             cql("ALTER TABLE ${keyspace}.users ADD first_name text"),
//!             code("fill first_name", fill).idempotent(),
//!         ]
//!     }
//!
//!     async fn fill(cx: TaskContext) -> TaskResult {
//!         let users: Vec<(i64, String)> = cx.rows("SELECT id, name FROM ${keyspace}.users", ()).await?;
//!         for (id, name) in &users {
//!             let first = name.split(' ').next();
//!             cx.execute("UPDATE ${keyspace}.users SET first_name = ? WHERE id = ?", (first, id)).await?;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! async fn start(session: Session) -> Result<Report, Error> {
//!     let report = Runner::new(session, &MIGRATIONS).keyspace("shop").run().await?;
//!     println!("{report}"); // migrated: applied 2: 1 create_users, 2 split_user_name
//!     Ok(report)
//! }
//! # let migrations = MIGRATIONS.migrations().unwrap();
//! # assert_eq!(migrations.iter().map(|m| m.version().get()).collect::<Vec<_>>(), [1, 2]);
//! ```
//!
//! `up` describes and does nothing: the runner checks all pending plans before it sends the first statement, and keeps
//! a journal of each step. So a plan can be shown before ([`Runner::plan`]), and a crash resumes at its step.
//!
//! # Migrations as files
//!
//! Files of CQL are migrations as well, among those that are modules: with this `build.rs`, so that cargo looks for new
//! ones,
//!
//! ```ignore
//! fn main() {
//!     println!("cargo::rerun-if-changed=migrations");
//! }
//! ```
//!
//! `kandra_migrate::cql_dir!("migrations");` beside [`registry!`] compiles in `migrations/V0001__create_users.cql` and those
//! beside it. [`cql_dir!`] says what they are called, and what comments in them can say. [`cql_file!`] is a file as one
//! task of a plan, [`Registry::from_dir`] reads a directory at run time, and the command `kandra` (feature `cli`) needs no
//! program around the files. [`Runner::variable`] says what `${name}` stands for. [`check!`] in a unit test finds what is
//! wrong, without a database.
//!
//! # What a step is
//!
//! | task | when its outcome is unknown, after a crash or a timeout |
//! |---|---|
//! | [`cql`], a schema statement | its effect is looked for in `system_schema`, and it is sent again only if that is not there |
//! | [`cql`], a plain write | it is sent again, with the same write time |
//! | [`cql`], a counter, a condition, a list that is not frozen | the version is paused for an operator, as with `once` |
//! | [`code`]`.idempotent()` | it is run again, from its last checkpoint |
//! | [`code`]`.once()` | the version is paused until an operator says what became of it |
//!
//! # Guarantees
//!
//! Always, whatever fails, as long as the server's conditional writes are linearizable:
//!
//! - The history in the ledger has one writer at a time. A run that lost its lease changes no record.
//! - Versions complete once and in order, and a version only after each of its steps returned success, was seen in
//!   effect, or was marked done by an operator.
//! - A failure is never recorded as success, and `Ok` of [`Runner::run`] means that every version that this binary needs
//!   is applied with a compatible checksum (unless [`Wait::ReturnPending`] was asked for).
//!
//! If timing holds, that is, if no process stands still just between its last look at its lease and the sending, if a
//! server finishes or drops a statement within its own limits, and if clocks run at rates within 1.5 of one another:
//! there is at most one live holder, and at most one schema statement of the keyspace under way. If it does not hold,
//! the statements that the lapsed holder had under way may land late, and no more than those.
//!
//! A step is run a second time only if its outcome was unknown and its effect was not seen, or if it failed and is
//! tried again. So steps are idempotent, or can be looked for, or are marked `once`. Nobody can promise "exactly once"
//! without that.
//!
//! What this does not cover: what is done by other tools in the same keyspace, rows of the ledger that are edited,
//! truncated or restored, and range movements on Cassandra with Paxos v1, whose conditional writes are not linearizable
//! meanwhile.
//!
//! # Defaults
//!
//! | setting | default |
//! |---|---|
//! | [`Runner::wait`] for another instance | 10 min, then [`KM0061`](Code::WaitedTooLong) |
//! | [`Runner::lease`]: a killed instance is taken over after it | 60 s |
//! | [`Runner::heartbeat`] | 10 s |
//! | [`Runner::statement_timeout`] | 30 s |
//! | [`Runner::start_jitter`] | up to 1 s |
//! | [`Runner::agreement_timeout`] | 90 s |
//! | [`Runner::unreachable_after`] | 60 s |
//! | [`Runner::consistency`] of a plan's statements | `QUORUM` |
//! | [`Runner::serial_consistency`] of the ledger | `SERIAL` |
//! | [`Runner::table_ids`] | on |
//! | [`Task::retries`] | 0 |
//! | [`Task::timeout`] of code | none |
//! | [`Task::stall_timeout`] of code, and of a build with [`Task::wait_built`] | 10 min |
//! | [`Task::on_failure`] | the claim is released, a later run tries again |
//!
//! # What is where
//!
//! - **Writing migrations**: [`macro@migration`], [`registry!`], [`cql_dir!`], [`cql_file!`], [`check!`], [`cql`],
//!   [`code`], [`Task`], [`Plan`], [`IntoPlan`], [`TaskContext`], [`TaskError`]; [`prelude`] has what a migration's module
//!   needs.
//! - **Running them**: [`Runner`] with its verbs [`run`](Runner::run), [`run_to`](Runner::run_to) and
//!   [`run_deferred`](Runner::run_deferred), with a [`Value`] for each variable, and with
//!   [`wait_until_applied`](Runner::wait_until_applied), [`plan`](Runner::plan), [`verify`](Runner::verify) and
//!   [`status`](Runner::status), which only read, as [`drift`](Runner::drift) does; [`Wait`], [`Progress`], [`Report`],
//!   [`Outcome`], [`Status`], [`PlannedMigration`], [`Drift`].
//! - **Operating them**: [`Control`], from [`Runner::control`]: pause, resume, hold, mark done, rerun, abandon, restamp,
//!   baseline, and the audit trail as [`AuditEvent`]s. The same as a command line in the application's own binary:
//!   module `cli`, with the feature of that name.
//! - **Testing them**: `#[kandra_migrate::test]` and module `testing`, with the feature of that name.
//! - **Sets of migrations**: [`Registry`], [`Migration`], [`Version`]; what is likely to go wrong with them,
//!   [`Registry::lint`], each [`Rule`] with a page in [`lint_codes`].
//! - **What can go wrong**: [`Error`] with a stable [`Code`], and [`error_codes`] with a page for each.
//!
//! # The ledger
//!
//! One table in the migrated keyspace, [`LEDGER_TABLE`], holds the lease, the history, the journal and the audit trail.
//! The first run creates it. Only conditional statements write to it: do not edit, truncate or drop it, and leave its
//! `gc_grace_seconds` as it is. The session's user needs `CREATE`, `ALTER`, `DROP`, `SELECT` and `MODIFY` on the keyspace.
//! [`Runner::ledger_keyspace`] puts the table into another keyspace, one for all that are migrated.
//!
//! # Checksums
//!
//! A migration's checksum is over the tokens of its module, or of its CQL: an edit of an applied migration is refused
//! ([`KM0020`](Code::ChecksumMismatch)), a change of comments or formatting is not one. A module is closed for that: it
//! names nothing of its crate, or says why it does. What counts is on the page of [`macro@migration`]'s crate, as the
//! format `k1`.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `cli` | a command line to embed, with all verbs; the command `kandra` |
//! | `serde` | `Serialize` for reports, plans, status and events |
//! | `testing` | `#[kandra_migrate::test]`: a migrated keyspace for each test of an application's migrations |
//!
//! None is on by default.

#[cfg(test)]
mod arrows;
mod boxed;
#[cfg(feature = "cli")]
pub mod cli;
mod clock;
mod control;
mod cql;
mod directory;
mod driver;
mod duration;
mod engine;
mod error;
mod executor;
mod files;
mod human;
mod ledger;
mod migration;
mod mutant;
mod offline;
mod plan;
mod port;
mod registry;
mod report;
mod runner;
mod schema;
mod store;
mod task;
#[cfg(feature = "testing")]
pub mod testing;

pub use control::Control;
pub use cql::{Position, Rule, Value, lint_codes};
pub use engine::{Progress, Wait};
pub use error::{Code, Error, error_codes};
pub use kandra_migrate_macros::migration;
#[cfg(feature = "testing")]
pub use kandra_migrate_macros::test;
pub use ledger::LEDGER_TABLE;
pub use migration::{Migration, Version};
pub use plan::{CodeNeedsIdempotentOrOnce, IntoPlan, OnFailure, Plan, Task, code, cql};
pub use registry::Registry;
pub use report::{
    AuditEvent, Difference, Drift, LintFinding, MigrationReport, MigrationStatus, Outcome, PlannedMigration,
    PlannedStep, Report, Status, StepStatus,
};
pub use runner::{EachReport, RunEach, Runner};
pub use task::{
    Backfill, BackfillError, CopyError, TableCopy, TaskContext, TaskError, TaskResult, TokenRange,
};

/// What the macros expand to; no part of the API.
#[doc(hidden)]
pub mod __private {
    pub use crate::directory::{Directory, Embedded, RegisteredDirectory};
    pub use crate::migration::Source;
    pub use crate::plan::cql_file;
    pub use crate::registry::Registered;
    pub use inventory;
    pub use kandra_migrate_macros::embed_directory;

    use crate::{IntoPlan, Migration, Plan};

    #[must_use]
    pub const fn migration(source: Source) -> Migration {
        Migration::new(source)
    }

    pub fn into_plan(plan: impl IntoPlan) -> Plan {
        plan.into_plan()
    }
}

/// The engine and what it stands on, for this project's own tests and simulator; no part of the API.
#[doc(hidden)]
pub mod __internals {
    pub use crate::clock::{Clock, Dice, SystemClock};
    pub use crate::engine::{
        Catalog, CodeRun, Env, Executor, Expected, Identity, Observer, Operator, Progress, Run, Send,
        Settings, Shutdown, Verb,
    };
    pub use crate::ledger::*;
    #[cfg(feature = "__mutants")]
    pub use crate::mutant::{Mutant, break_rule};
    pub use crate::plan::Destination;
    pub use crate::port::{
        Agreed, BuildState, Cause, Coordinator, Drained, NoAgreement, SendError, StoreError,
    };
    pub use crate::schema::{Effect, SchemaChange};
    pub use crate::store::{
        Answer, CreateError, LedgerTable, MemoryStore, ReadLevel, Rows, Slice, Store, Tokens,
    };
    pub use crate::task::{Guard, Permit, RunEnded};

    /// CQL as text.
    pub mod cql {
        pub use crate::cql::*;
    }

    /// What `system_schema` shows of a statement.
    pub mod schema {
        pub use crate::schema::{probe, shape};
    }
}

/// What a migration's module usually needs.
pub mod prelude {
    pub use crate::{
        IntoPlan, OnFailure, Plan, Task, TaskContext, TaskError, TaskResult, code, cql, cql_file,
    };
}
