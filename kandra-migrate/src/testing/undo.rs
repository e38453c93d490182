//! Whether undos lead back.

use super::TestKeyspace;
use super::diff::diff;
use super::keyspace::{Pending, ok};
use super::snapshot::text;
use crate::registry::Registry;

impl TestKeyspace {
    /// Applies each pending version, sends its undos in reverse, compares the schema with the one before, and applies it
    /// again: which the undo must not keep from working, and which must lead to the same schema.
    ///
    /// That is done for versions of which each task has an [`undo`](crate::Task::undo); others are applied. Of the data
    /// nothing is compared. Say `up_to = 0` in the attribute to begin with the first version.
    ///
    /// # Panics
    /// With the lines that differ; and where none of the pending versions can be undone, since nothing would be tested.
    pub async fn assert_undo_restores(&self) {
        let pending = self.not_begun().await;
        let can_be_undone = |pending: &Pending| pending.steps.iter().all(|step| step.undo.is_some());
        assert!(pending.iter().any(can_be_undone), "no pending version has an undo for each of its tasks");
        for next in pending {
            let version = next.migration.version().get();
            if !can_be_undone(&next) {
                self.up_to(version).await;
                continue;
            }
            let before = text(&self.schema().await);
            self.rehearse(&next).await;
            let first = text(&self.schema().await);
            for undo in next.steps.iter().rev().filter_map(|step| step.undo.as_deref()) {
                self.execute(undo).await;
            }
            let differs = diff(&before, &text(&self.schema().await));
            assert!(
                differs.is_empty(),
                "version {next}: the undo does not lead back to what was before (-):\n\n{differs}"
            );
            self.up_to(version).await;
            let differs = diff(&first, &text(&self.schema().await));
            assert!(
                differs.is_empty(),
                "version {next}: after up, undo, up it differs from after up (-):\n\n{differs}"
            );
        }
    }

    /// Applies a version, with a history of its own: the ledger has no undo, and would not apply it again.
    async fn rehearse(&self, next: &Pending) {
        let registry = Registry::of([next.migration]);
        let scope = format!("rehearsal of {}", next.migration.version());
        ok(self.runner_of(&registry).scope(scope).run().await);
    }
}
