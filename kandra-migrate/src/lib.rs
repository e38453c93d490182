//! Schema and data migrations for Apache Cassandra and `ScyllaDB`.
mod clock; mod cql; mod driver; mod engine; mod error; mod ledger; mod migration; mod plan; mod registry; mod report; mod schema; mod store; mod task;
pub use error::{Code, Error, error_codes};
pub use migration::{Migration, Version};
pub use plan::{IntoPlan, Plan, Task, CodeNeedsIdempotentOrOnce, cql, code};
pub use registry::Registry;
pub use report::{MigrationReport, Outcome, Report};
pub use task::{TaskContext, TaskError, TaskResult};
pub use kandra_migrate_macros::*;

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

/// What a migration's module usually needs.
pub mod prelude {
    pub use crate::{IntoPlan, Plan, Task, TaskContext, TaskError, TaskResult, code, cql};
}
