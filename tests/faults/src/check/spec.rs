//! What a set of migrations is to do.

use super::Record;

/// The versions that may be applied, ascending.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// The versions.
    pub versions: Vec<VersionSpec>,
}

/// One version.
#[derive(Clone, Debug)]
pub struct VersionSpec {
    /// The version.
    pub version: i64,
    /// Its steps, in order.
    pub steps: Vec<StepSpec>,
}

/// One step.
#[derive(Clone, Debug)]
pub struct StepSpec {
    /// What it does.
    pub effect: Effect,
    /// Whether it may have its effect at most once.
    pub is_once: bool,
    /// Whether it never succeeds.
    pub fails: bool,
}

/// What is there once a step is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A table.
    Table(&'static str),
    /// A table's column.
    Column(&'static str, &'static str),
    /// An index.
    Index(&'static str),
    /// A row of `items`.
    Item(i32),
    /// An execution of a code task.
    Execution(&'static str),
}

impl Effect {
    /// Whether it is there.
    #[must_use]
    pub fn is_in(self, record: &Record) -> bool {
        match self {
            Self::Table(table) => record.tables.contains_key(table),
            Self::Column(table, column) => record.columns.contains(&(table.to_owned(), column.to_owned())),
            Self::Index(index) => record.indexes.contains(index),
            Self::Item(id) => record.items.contains_key(&id),
            Self::Execution(task) => record.executions.contains_key(task),
        }
    }
}

impl StepSpec {
    /// A step that may be repeated.
    #[must_use]
    pub fn of(effect: Effect) -> Self {
        Self { effect, is_once: false, fails: false }
    }

    /// It may have its effect at most once.
    #[must_use]
    pub fn once(self) -> Self {
        Self { is_once: true, ..self }
    }

    /// It never succeeds.
    #[must_use]
    pub fn failing(self) -> Self {
        Self { fails: true, ..self }
    }
}

impl Spec {
    /// Each step, with its version and its ordinal from 0.
    pub fn steps(&self) -> impl Iterator<Item = (i64, i64, &StepSpec)> {
        self.versions
            .iter()
            .flat_map(|version| (0..).zip(&version.steps).map(|(n, step)| (version.version, n, step)))
    }

    /// How many steps a version has.
    #[must_use]
    pub fn steps_of(&self, version: i64) -> Option<usize> {
        self.versions.iter().find(|spec| spec.version == version).map(|spec| spec.steps.len())
    }

    /// All versions.
    #[must_use]
    pub fn numbers(&self) -> Vec<i64> {
        self.versions.iter().map(|version| version.version).collect()
    }
}
