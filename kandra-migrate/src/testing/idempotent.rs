//! Whether a lost answer does no harm.

use super::TestKeyspace;
use super::contents::lines;
use super::diff::diff;
use super::keyspace::ok;
use super::snapshot::text;
use super::staged::Stage;
use crate::engine::Shutdown;

impl TestKeyspace {
    /// Applies what is pending as after a crash at the end of each step, and compares schema and rows with those of a
    /// second keyspace, to which it is applied as ever.
    ///
    /// The first answer to each statement is lost: the effect of one that changes the schema has to be found in
    /// `system_schema`, another one is sent again. Code that is [`idempotent`](crate::CodeNeedsIdempotentOrOnce::idempotent)
    /// is run twice from its start. What is said to be [`once`](crate::Task::once), or is by nature, is done once.
    ///
    /// The rows that are there are copied into the second keyspace before, so that code has something to work on: say
    /// `up_to = …` in the attribute, and insert them in the test. Counters cannot be copied. Values that differ at
    /// each run, as those of `now()`, are differences; rows of views are not compared.
    ///
    /// # Panics
    /// With the lines that differ, where something does; then the second keyspace is kept as well.
    pub async fn assert_idempotent(&self) {
        let pending = self.not_begun().await;
        let first = pending.iter().map(|next| next.migration.version().get()).min().unwrap_or_default();
        let twin = self.twin().await;
        twin.up_to(first - 1).await;
        twin.fill(&self.contents().await).await;
        twin.run().await;

        let (_stop, shutdown) = Shutdown::new();
        let stage = Stage::lose_answers(pending.iter().flat_map(|next| next.steps.iter()));
        ok(self.run_staged(None, shutdown, stage).await);
        let schema = diff(&text(&twin.schema().await), &text(&self.schema().await));
        let rows = diff(&lines(&twin.contents().await), &lines(&self.contents().await));
        assert!(
            schema.is_empty() && rows.is_empty(),
            "with steps that were done twice (+), it is not as in {} (-):\n\n{schema}{rows}",
            twin.name()
        );
        twin.remove().await;
    }
}
