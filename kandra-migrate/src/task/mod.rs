//! What a code task is given and what it returns.

mod context;
mod error;
mod guard;
mod statement;

pub use context::TaskContext;
pub(crate) use context::ContextParts;
pub(crate) use error::TaskPanic;
pub use error::{TaskError, TaskResult};
pub use guard::Guard;
pub(crate) use guard::Checkpoint;
