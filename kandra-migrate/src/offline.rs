//! What can be told of migrations without a database.

use crate::error::{Error, Problem};
use crate::registry::Registry;

impl Registry {
    /// Checks the migrations without a database: that there is one, that no two have one version, that each plan can be
    /// read as CQL that a migration may hold, and that what was compiled in of directories of files is what is there
    /// now. Variables may have any value.
    ///
    /// For a unit test: [`check!`](crate::check).
    ///
    /// # Errors
    /// Those of [`Registry::migrations`] and of plans, `KM003x` and `KM004x`; [`KM0037`](crate::Code::Stale) where a file
    /// is on disk that is not in this binary.
    pub fn check(&self) -> Result<(), Error> {
        let differences = self.differences();
        if !differences.is_empty() {
            return Err(Problem::Stale { differences }.into());
        }
        self.lint().map(drop)
    }
}
