//! What a run would do.

use std::collections::BTreeMap;
use std::fmt;

use super::{LintFinding, Outlook};
use crate::cql::{self, Rule};
use crate::migration::{Migration, Version};
use crate::plan::{Step, Steps};

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
    /// Whether [`Runner::run`](crate::Runner::run) leaves it to [`Runner::run_deferred`](crate::Runner::run_deferred).
    pub deferred: bool,
    /// The steps, in order.
    pub steps: Vec<PlannedStep>,
    /// What is likely to go wrong, told from the statements and from what is there: each with the code of its rule,
    /// `KL01` and so on.
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
    /// What there is of its effect already, or why the server will refuse it; `None` where nothing is there, or where it
    /// cannot be told.
    pub found: Option<String>,
}

/// What is known of pending migrations besides their text.
#[derive(Debug)]
pub(crate) struct Foresight<'a> {
    pub(crate) literals: Literals,
    /// By version and ordinal.
    pub(crate) outlooks: &'a BTreeMap<(i64, i64), Outlook>,
    /// Of all of them.
    pub(crate) findings: &'a [LintFinding],
}

impl PlannedMigration {
    pub(crate) fn of(migration: &Migration, steps: &Steps, foresight: &Foresight<'_>) -> Self {
        let version = migration.version();
        let outlook = |step: &Step| foresight.outlooks.get(&(version.get(), step.n));
        let planned = steps.iter().map(|step| PlannedStep {
            number: step.number(),
            task: step.task.clone(),
            kind: step.kind.name(),
            repeat: step.repeat.name(),
            cql: step.cql().map(|cql| match foresight.literals {
                Literals::Masked => cql::mask(cql),
                Literals::Shown => cql.to_owned(),
            }),
            found: outlook(step).map(ToString::to_string),
        });
        let of_text = foresight.findings.iter().filter(|finding| finding.version == version);
        let of_text = of_text.map(|finding| (finding.step, finding.rule, finding.message.clone()));
        let of_database = steps.iter().filter_map(|step| match outlook(step)? {
            Outlook::PassedOver(effect) if !step.allowed.contains(&Rule::OtherShape) => {
                let message = format!("IF NOT EXISTS would do nothing: {effect}");
                Some((step.number(), Rule::OtherShape, message))
            }
            _ => None,
        });
        let mut findings: Vec<_> = of_text.chain(of_database).collect();
        findings.sort();
        let told = |(step, rule, message): (i64, Rule, String)| format!("{rule} step {step}: {message}");
        Self {
            version,
            name: migration.name().to_owned(),
            location: migration.location(),
            deferred: false,
            steps: planned.collect(),
            findings: findings.into_iter().map(told).collect(),
        }
    }
}

impl fmt::Display for PlannedMigration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let deferred = if self.deferred { ", deferred" } else { "" };
        write!(f, "version {} {} ({}){deferred}", self.version, self.name, self.location)?;
        for step in &self.steps {
            write!(f, "\n  {} {} [{}]", step.number, step.kind, step.repeat)?;
            match &step.cql {
                Some(cql) => write!(f, " {}", cql.split_whitespace().collect::<Vec<_>>().join(" "))?,
                None => write!(f, " {}", step.task)?,
            }
            if let Some(found) = &step.found {
                write!(f, "\n    ({found})")?;
            }
        }
        for finding in &self.findings {
            write!(f, "\n  ! {finding}")?;
        }
        Ok(())
    }
}
