//! Schema and data migrations for Apache Cassandra and `ScyllaDB`.

mod clock;
mod control;
mod cql;
mod driver;
mod engine;
mod error;
mod ledger;
mod migration;
mod mutant;
mod plan;
mod registry;
mod report;
mod runner;
mod schema;
mod store;
mod task;

pub use control::Control;
pub use engine::Wait;
pub use error::{Code, Error, error_codes};
pub use kandra_migrate_macros::migration;
pub use migration::{Migration, Version};
pub use plan::{CodeNeedsIdempotentOrOnce, IntoPlan, OnFailure, Plan, Task, code, cql};
pub use registry::Registry;
pub use report::{
    AuditEvent, MigrationReport, MigrationStatus, Outcome, PlannedMigration, PlannedStep, Report, Status,
};
pub use runner::Runner;
pub use schema::definition::LEDGER_TABLE;
pub use task::{TaskContext, TaskError, TaskResult};

/// What the macros expand to; no part of the API.
#[doc(hidden)]
pub mod __private {
    pub use crate::migration::Source;
    pub use crate::registry::Registered;
    pub use inventory;

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
        Catalog, CodeRun, Coordinator, Drained, Env, Executor, Identity, NoAgreement, Run, Send, SendError,
        Settings, Shutdown,
    };
    pub use crate::ledger::*;
    #[cfg(feature = "__mutants")]
    pub use crate::mutant::{Mutant, break_rule};
    pub use crate::plan::Destination;
    pub use crate::schema::{Effect, SchemaChange};
    pub use crate::store::{
        Answer, Cause, CreateError, LedgerTable, MemoryStore, ReadLevel, Rows, Slice, Store, StoreError,
        Tokens,
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
    pub use crate::{IntoPlan, OnFailure, Plan, Task, TaskContext, TaskError, TaskResult, code, cql};
}
