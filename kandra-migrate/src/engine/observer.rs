//! Watching a run from outside.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Something that a run does, the moment that it is in the ledger, or that its task says: what
/// [`Runner::on_progress`](crate::Runner::on_progress) is told.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// Another run has the lease.
    Waiting {
        /// Its host, process and application.
        holder: String,
    },
    /// A version is not begun for a while.
    PutOff {
        /// Until when, and why.
        reason: String,
    },
    /// A step begins, or begins again.
    Begun {
        /// The version.
        version: i64,
        /// The migration's name.
        name: String,
        /// The step's number, from 1.
        step: i64,
        /// How many steps the migration has.
        steps: usize,
        /// The name of its task.
        task: String,
    },
    /// A code task says how far it is.
    Far {
        /// The version.
        version: i64,
        /// The migration's name.
        name: String,
        /// The step's number, from 1.
        step: i64,
        /// The name of its task.
        task: String,
        /// So much is done.
        done: u64,
        /// Of so much, if the task knows it.
        total: Option<u64>,
        /// So much a second since it said so first.
        per_second: Option<u64>,
    },
    /// A step's effect is there.
    Done {
        /// The version.
        version: i64,
        /// The step's number, from 1.
        step: i64,
    },
    /// A version is completed.
    Applied {
        /// The version.
        version: i64,
        /// The migration's name.
        name: String,
        /// How long this run worked on it.
        took: Duration,
    },
}

/// Who is told. Nobody by default.
#[derive(Clone, Default)]
pub struct Observer(Option<Arc<dyn Fn(Progress) + Send + Sync>>);

impl Observer {
    /// Calls this function. It must not block: the run waits for it.
    #[must_use]
    pub(crate) fn new(tell: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tell)))
    }

    pub(crate) fn tell(&self, progress: Progress) {
        if let Some(tell) = &self.0 {
            tell(progress);
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Observer" } else { "no observer" })
    }
}
