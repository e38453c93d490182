//! What stands in the way of a step before it is sent.

use super::executor::Executor;
use super::halt::Halt;
use super::hold::Holder;
use crate::clock::Clock;
use crate::cql::{Rule, mask};
use crate::error::Problem;
use crate::plan::Step;
use crate::schema::Effect;
use crate::store::Store;

impl<S: Store, C: Clock, X: Executor> Holder<'_, S, C, X> {
    /// Whether a step with IF NOT EXISTS finds something of another shape in its place: the server would do nothing and
    /// say nothing. Looked for before the sending, so that what the statement itself has made is never in question.
    pub(super) async fn in_the_way(&mut self, version: i64, step: &Step) -> Result<Option<Problem>, Halt> {
        let Some(change) = step.change().filter(|_| step.passes_over()) else { return Ok(None) };
        let Effect::OtherShape { expected, found } = self.probe(change).await? else { return Ok(None) };
        let at = self.at(version, step);
        if step.allowed.contains(&Rule::OtherShape) {
            let warning = format!("{at} does nothing, as it allows: expected {expected}; found {found}");
            tracing::warn!("{warning}");
            self.warnings.push(warning);
            return Ok(None);
        }
        let cql = step.cql().map(mask).unwrap_or_default();
        Ok(Some(Problem::OtherShape { at, expected, found, cql, in_file: step.in_file }))
    }
}
