//! What a run would do.

use std::fmt;

use crate::cql;
use crate::migration::{Migration, Version};
use crate::plan::{Steps, Work};

/// Whether the values in statements on data and roles are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Literals {
    Masked,
    #[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only a person at a command line gets them"))]
    Shown,
}

/// A pending migration, as [`Runner::plan`](crate::Runner::plan) shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PlannedMigration {
    /// The version.
    pub version: Version,
    /// The name.
    pub name: String,
    /// Where it is in the source, as `file:line`.
    pub location: String,
    /// The steps, in order.
    pub steps: Vec<PlannedStep>,
    /// What is likely to go wrong, told from the statements alone: each with the code of its rule, `KL01` and so on.
    pub findings: Vec<String>,
}

/// A step that would be run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PlannedStep {
    /// Its number in the plan, from 1.
    pub number: i64,
    /// The task's name.
    pub task: String,
    /// `schema`, `data` or `code`.
    pub kind: &'static str,
    /// What an unknown outcome of it means: `probe`, `idempotent` or `once`.
    pub repeat: &'static str,
    /// The statement, with the literals of data and role statements masked; `None` for code.
    pub cql: Option<String>,
}

impl PlannedMigration {
    pub(crate) fn of(migration: &Migration, steps: &Steps, literals: Literals) -> Self {
        let planned = steps.iter().map(|step| PlannedStep {
            number: step.number(),
            task: step.task.clone(),
            kind: step.kind.name(),
            repeat: step.repeat.name(),
            cql: match &step.work {
                Work::Cql { statement, .. } => Some(match literals {
                    Literals::Masked => cql::mask(statement.text()),
                    Literals::Shown => statement.text().to_owned(),
                }),
                Work::Code(_) => None,
            },
        });
        let findings = steps
            .findings()
            .into_iter()
            .map(|finding| format!("{} step {}: {}", finding.rule.code(), finding.step + 1, finding.message));
        Self {
            version: migration.version(),
            name: migration.name().to_owned(),
            location: migration.location(),
            steps: planned.collect(),
            findings: findings.collect(),
        }
    }
}

impl fmt::Display for PlannedMigration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "version {} {} ({})", self.version, self.name, self.location)?;
        for step in &self.steps {
            write!(f, "\n  {} {} [{}]", step.number, step.kind, step.repeat)?;
            match &step.cql {
                Some(cql) => write!(f, " {}", cql.split_whitespace().collect::<Vec<_>>().join(" "))?,
                None => write!(f, " {}", step.task)?,
            }
        }
        for finding in &self.findings {
            write!(f, "\n  ! {finding}")?;
        }
        Ok(())
    }
}
