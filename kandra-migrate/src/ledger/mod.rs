//! The ledger: what its rows mean, and which changes of them are legal. Pure: no driver, no clock.

mod cell;
mod command;
mod event;
mod frontier;
mod history;
mod row;
mod state;
mod transaction;
mod transition;

pub use cell::{Cells, Key, Kind, Value};
pub use command::{Command, CommandKind};
pub use event::Event;
pub(crate) use frontier::frontier;
pub use history::{Ledger, LedgerError};
pub use row::{Head, StepRow, VersionRow};
pub use state::{IllegalTransition, StepState, VersionState};
pub use transaction::{Condition, Mutation, Transaction, Writer};
pub use transition::{Claim, Intent, SchemaRecord, Takeover, Transition};

/// The format of the rows that this version of the crate writes, and the newest that it reads.
pub const FORMAT: i32 = 1;

/// The head's `active_state` of a version whose claim was released because a step had failed.
pub const FAILED: &str = "FAILED";

/// The one scope of a keyspace that no service shares with another.
pub const MAIN_SCOPE: &str = "main";
