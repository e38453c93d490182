//! The checkpoint of a task with backfills.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::finished::Finished;

/// What every such checkpoint begins with, so that a task's own is told from it.
const MARK: &str = "backfill/1";

/// Of each backfill of the task, by its name, what is done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) backfills: BTreeMap<String, Finished>,
}

/// A checkpoint that was saved by something else.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("no position of a backfill")]
pub(super) struct NoPosition;

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MARK)?;
        self.backfills.iter().try_for_each(|(name, finished)| write!(f, " {name}={finished}"))
    }
}

impl FromStr for Position {
    type Err = NoPosition;

    fn from_str(text: &str) -> Result<Self, NoPosition> {
        let mut words = text.split(' ');
        if words.next() != Some(MARK) {
            return Err(NoPosition);
        }
        let backfill = |word: &str| {
            let (name, finished) = word.split_once('=')?;
            Some((name.to_owned(), finished.parse().ok()?))
        };
        let backfills = words.map(|word| backfill(word).ok_or(NoPosition)).collect::<Result<_, _>>()?;
        Ok(Self { backfills })
    }
}

/// Whether it can be in a checkpoint.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '=')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::backfill::TokenRange;

    #[test]
    fn several_backfills_in_one_text() {
        let mut position = Position::default();
        assert_eq!(position.to_string().parse(), Ok(position.clone()));
        position.backfills.entry("users".to_owned()).or_default().add(TokenRange::ALL);
        position.backfills.entry("orders".to_owned()).or_default().add(TokenRange::new(0, 1).unwrap());
        position.backfills.entry("empty".to_owned()).or_default();
        let text = position.to_string();
        assert_eq!(text, "backfill/1 empty= orders=8000000000000000-8000000000000001 users=*");
        assert_eq!(text.parse(), Ok(position));
    }

    #[test]
    fn a_tasks_own_checkpoint_is_none() {
        for text in ["", "17", "backfill/2 users=*", "backfill/1 users", "backfill/1 users=x"] {
            assert_eq!(text.parse::<Position>(), Err(NoPosition), "{text}");
        }
    }

    #[test]
    fn names() {
        assert!(is_name("users") && is_name("users.first_name"));
        assert!(!is_name("") && !is_name("a b") && !is_name("a=b"));
    }
}
