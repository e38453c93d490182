//! What a code task is given and what it returns.

mod context;
mod error;
mod guard;

pub use context::TaskContext;
pub use error::{TaskError, TaskResult};
pub use guard::Guard;
pub(crate) use guard::Checkpoint;
