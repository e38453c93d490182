//! What of a statement can be seen in `system_schema`, and in the tables of roles.

pub(crate) mod building;
pub(crate) mod drift;
pub(crate) mod load;
pub mod probe;
pub(crate) mod roles;
pub(crate) mod script;
pub mod shape;
mod snapshot;

#[cfg(test)]
mod tests;

pub use crate::cql::SchemaChange;
pub use probe::Effect;
