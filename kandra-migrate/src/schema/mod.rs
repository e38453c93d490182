//! What `system_schema` says: agreement, the ledger's table, and whether a statement's effect is there.
pub use crate::cql::SchemaChange;
/// Whether that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    There,
    Absent,
    Unknown,
}
impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
