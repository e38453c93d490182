//! What of a statement can be seen in `system_schema`.

pub(crate) mod load;
pub mod probe;
pub mod shape;

#[cfg(test)]
mod tests;

pub use crate::cql::SchemaChange;
pub use probe::Effect;
