//! What has to hold around a ledger before anything is begun.

use super::catalog::Catalog;
use super::reader::Reader;
use crate::clock::Clock;
use crate::cql::SchemaChange;
use crate::error::Problem;
use crate::ledger::Ledger;
use crate::plan::Step;
use crate::store::Store;

impl<S: Store, C: Clock> Reader<'_, S, C> {
    /// That no other table has the history of this keyspace, where this one has nothing of it: all of it would be applied
    /// a second time.
    pub(crate) async fn check_alone(&self, ledger: &Ledger) -> Result<(), Problem> {
        if ledger.head().is_some() {
            return Ok(());
        }
        match self.persistently(|| self.env.store.elsewhere()).await? {
            None => Ok(()),
            Some(elsewhere) => Err(Problem::LedgerElsewhere {
                keyspace: self.keyspace.clone(),
                table: self.table.clone(),
                elsewhere,
            }),
        }
    }

    /// That the keyspace is there, or that a pending migration creates it; else it is created, or this is the error. Only
    /// a ledger that is in another keyspace does not say so by itself.
    pub(super) async fn check_keyspace(&self, catalog: &Catalog, ledger: &Ledger) -> Result<(), Problem> {
        let is_created = |step: &Step| matches!(step.change(), Some(SchemaChange::CreateKeyspace { name, .. }) if *name == self.keyspace);
        if self.persistently(|| self.env.store.has_keyspace()).await?
            || catalog.pending(ledger).any(|entry| entry.steps().iter().any(is_created))
        {
            return Ok(());
        }
        self.create_keyspace().await.map(drop)
    }
}
