//! The error of a task.

use std::error::Error;
use std::fmt;

/// What a code task returns.
pub type TaskResult = Result<(), TaskError>;

/// Why a code task failed. Made from any error by `?`, so it is itself no [`Error`]; the run's error has it as its
/// source.
pub struct TaskError(Box<dyn Error + Send + Sync>);

impl TaskError {
    /// From a message.
    #[must_use]
    pub fn msg(message: impl Into<String>) -> Self {
        Self(message.into().into())
    }

    pub(super) fn as_dyn(&self) -> &(dyn Error + 'static) {
        self.0.as_ref()
    }

    pub(crate) fn into_inner(self) -> Box<dyn Error + Send + Sync> {
        self.0
    }
}

/// A code task panicked: its [`TaskError`] is made from this.
#[derive(Debug, thiserror::Error)]
#[error("panicked: {0}")]
pub(crate) struct TaskPanic(pub(crate) String);

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for TaskError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl fmt::Debug for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
