//! What `system_schema` says: agreement, the ledger's table, and whether a statement's effect is there.

pub(crate) mod agreement;
pub(crate) mod bootstrap;
pub(crate) mod definition;

/// What a schema statement changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaChange;

/// Whether that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// It is.
    There,
}
