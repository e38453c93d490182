//! What the lint finds.

use std::fmt;

use crate::cql::{Finding, Position, Rule, mask};
use crate::migration::{Migration, Version};
use crate::plan::{Steps, findings};

/// Something in a migration that is likely to go wrong, told from its text alone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LintFinding {
    /// The rule; [`Rule::page`] says why it is one, and how to allow it in place.
    pub rule: Rule,
    /// The version.
    pub version: Version,
    /// The migration's name.
    pub name: String,
    /// The number of the step, from 1.
    pub step: i64,
    /// The task's name.
    pub task: String,
    /// Where the task is in the source, as `file:line`.
    pub location: String,
    /// Where the statement begins in the text that it was read from.
    pub position: Position,
    /// The statement, its variables as they are, with the literals of data and role statements masked.
    pub statement: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl LintFinding {
    /// What is found in the plans of these migrations, in their order.
    pub(crate) fn all(plans: &[(&Migration, &Steps)]) -> Vec<Self> {
        let steps: Vec<_> = plans.iter().map(|(_, steps)| *steps).collect();
        let found = findings(&steps).into_iter().map(|(plan, step, finding)| {
            let Finding { rule, position, message, .. } = finding;
            let migration = plans[plan].0;
            Self {
                rule,
                version: migration.version(),
                name: migration.name().to_owned(),
                step: step.number(),
                task: step.task.clone(),
                location: step.location.clone(),
                position,
                statement: step.cql().map(mask).unwrap_or_default(),
                message,
            }
        });
        found.collect()
    }
}

impl fmt::Display for LintFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, version, name, step, task, location, message, .. } = self;
        write!(f, "{rule} version {version} {name}, step {step} ({location}, {task}): {message}")
    }
}
