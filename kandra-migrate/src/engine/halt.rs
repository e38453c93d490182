//! Why a holder stops.

use crate::error::Problem;
use crate::ledger::IllegalTransition;
use crate::port::StoreError;

/// Why a holder stops before everything is applied.
#[derive(Debug)]
pub(crate) enum Halt {
    /// Another run has the lease, or may have it: nothing more is recorded.
    Lost,
    /// A write or a read of the ledger stayed unanswered until the lease's deadline: so may have another run.
    Unanswered(StoreError),
    /// The run ends with this.
    Failed(Problem),
}

impl From<Problem> for Halt {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}

impl From<IllegalTransition> for Halt {
    fn from(illegal: IllegalTransition) -> Self {
        Self::Failed(illegal.into())
    }
}
