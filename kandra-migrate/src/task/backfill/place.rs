//! Where the backfills of one task are, in memory and in its checkpoint.

use std::collections::BTreeSet;

use super::error::BackfillError;
use super::finished::Finished;
use super::position::Position;
use super::range::TokenRange;

/// Of all backfills of a task.
#[derive(Debug, Default)]
pub(in crate::task) struct Place {
    position: Option<Position>,
    begun: BTreeSet<String>,
}

impl Place {
    /// What is done already of one that begins; `checkpoint` is the task's.
    pub(in crate::task) fn begin(
        &mut self,
        name: &str,
        checkpoint: Option<&str>,
    ) -> Result<Finished, BackfillError> {
        let position = match (&mut self.position, checkpoint) {
            (Some(position), _) => position,
            (none, None) => none.insert(Position::default()),
            (none, Some(checkpoint)) => {
                let other = |_| BackfillError::OtherCheckpoint { checkpoint: checkpoint.to_owned() };
                none.insert(checkpoint.parse().map_err(other)?)
            }
        };
        if !self.begun.insert(name.to_owned()) {
            return Err(BackfillError::SameName { name: name.to_owned() });
        }
        Ok(position.backfills.entry(name.to_owned()).or_default().clone())
    }

    /// The text of the checkpoint, once these ranges are done too.
    pub(in crate::task) fn finish(&mut self, name: &str, ranges: &[TokenRange]) -> String {
        let position = self.position.get_or_insert_default();
        let finished = position.backfills.entry(name.to_owned()).or_default();
        for range in ranges {
            finished.add(*range);
        }
        position.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_attempt_goes_on_where_this_one_was() {
        let mut place = Place::default();
        assert_eq!(place.begin("users", None).unwrap(), Finished::default());
        assert!(matches!(place.begin("users", None), Err(BackfillError::SameName { .. })));
        let half = TokenRange::ALL.cut(&[0], 1);
        let text = place.finish("users", &half[..1]);

        let mut place = Place::default();
        assert_eq!(place.begin("users", Some(&text)).unwrap().rest(), half[1..]);
        let text = place.finish("users", &half[1..]);
        assert_eq!(text, "backfill/1 users=*");
        assert!(!place.begin("orders", Some(&text)).unwrap().is_all());
    }

    #[test]
    fn the_tasks_own_checkpoint_is_not_overwritten() {
        let error = Place::default().begin("users", Some("17")).unwrap_err();
        assert!(matches!(error, BackfillError::OtherCheckpoint { .. }));
    }
}
