//! What a code task is given and what it returns.

mod backfill;
mod context;
mod error;
mod guard;
mod statement;
mod term;

pub use backfill::{Backfill, BackfillError, CopyError, TableCopy, TokenRange};
pub(crate) use context::ContextParts;
pub use context::TaskContext;
pub(crate) use error::TaskPanic;
pub use error::{TaskError, TaskResult};
pub(crate) use guard::{Checkpoint, Far};
pub use guard::{Guard, Permit, RunEnded};
pub(crate) use term::Term;
