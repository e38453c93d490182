//! What the engine and the database below it say to one another.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::human::human;

/// The driver's error, behind one of ours.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// Why a store gave no definite answer.
#[derive(Debug, Clone, Error)]
pub enum StoreError {
    /// It may have been applied, or may still be.
    #[error("{0}")]
    Unknown(Cause),
    /// It was not applied; the same may work later.
    #[error("{0}")]
    Passing(Cause),
    /// It was not applied and will not be.
    #[error("{0}")]
    Refused(Cause),
    /// The statement is invalid: the table or the keyspace may be missing. Whether it is, `system_schema` tells.
    #[error("{0}")]
    Invalid(Cause),
    /// The caller's user lacks a permission.
    #[error("{0}")]
    Unauthorized(Cause),
    /// The server does not do conditional writes in this keyspace.
    #[error("{0}")]
    ConditionalRefused(Cause),
}

/// Why a statement has no known success.
#[derive(Debug, Clone, Error)]
pub enum SendError {
    /// It may have had its effect, or may still have it.
    #[error("{0}")]
    Unknown(Cause),
    /// It had none; the same may work later.
    #[error("{0}")]
    Passing(Cause),
    /// It had none and will not.
    #[error("{0}")]
    Refused(Cause),
}

/// A node that schema statements are sent to, as the journal names it: `host-id address:port`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coordinator(pub String);

/// What became of a node that a statement with an unknown outcome was sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// A fresh connection to it was answered: what it had to do, it has done.
    Answered,
    /// Its process is gone, or runs anew: what it had to do, it will not do.
    Gone,
    /// Neither, within the time: what it had to do may still come.
    Silent,
}

/// The nodes that are up have one schema version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreed {
    /// The node that was asked for is one of them, or none was.
    All,
    /// The node that was asked for is none of them: what only it knew, the others do not know.
    WithoutIt,
}

/// The nodes did not agree on one schema version.
#[derive(Debug, Clone, Error)]
#[error("no schema agreement within {}: {disagreeing}", human(*.waited))]
pub struct NoAgreement {
    /// How long was waited.
    pub waited: Duration,
    /// The nodes that differ or do not answer.
    pub disagreeing: String,
}
