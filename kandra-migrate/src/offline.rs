//! What can be told of migrations without a database.

use crate::engine::Catalog;
use crate::error::{Error, Problem};
use crate::ledger::Ledger;
use crate::plan::Destination;
use crate::registry::Registry;
use crate::report::{Literals, PlannedMigration};

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
        self.planned().map(drop)
    }

    /// What all of them would do in an empty keyspace, with the findings of the lint.
    pub(crate) fn planned(&self) -> Result<Vec<PlannedMigration>, Error> {
        let mut catalog = Catalog::new(&self.migrations()?, None);
        catalog.compile(&Ledger::default(), &Destination::unknown())?;
        Ok(catalog.entries().map(|entry| PlannedMigration::of(entry, Literals::Masked)).collect())
    }
}
