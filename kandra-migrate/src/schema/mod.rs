//! What `system_schema` says: agreement, the ledger's table, and whether a statement's effect is there.

pub(crate) mod agreement;
pub(crate) mod bootstrap;
pub(crate) mod definition;
pub(crate) mod load;
pub mod probe;
pub mod shape;

#[cfg(test)]
mod tests;

pub use probe::Effect;

pub use crate::cql::SchemaChange;
