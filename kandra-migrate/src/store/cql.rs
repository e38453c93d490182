//! The ledger in its table.
pub(crate) struct CqlStore;
