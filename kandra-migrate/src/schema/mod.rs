//! What `system_schema` says: agreement, the ledger's table, and what of a statement can be seen there.

pub(crate) mod agreement;
pub(crate) mod bootstrap;
pub(crate) mod building;
pub(crate) mod definition;
pub(crate) mod drift;
pub(crate) mod load;
pub mod probe;
pub(crate) mod script;
pub mod shape;
mod snapshot;

#[cfg(test)]
mod tests;

pub use crate::cql::SchemaChange;
pub use probe::Effect;
