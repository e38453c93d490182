//! Rows as a store sees them: a key, and values by column.

use std::collections::BTreeMap;

use uuid::Uuid;

/// What a row of the ledger is; the first clustering column after the scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The lease and the frontier of a scope: one row.
    Head,
    /// A claim, and once completed the history.
    Version,
    /// The journal of a step.
    Step,
    /// The audit trail.
    Event,
    /// A lock on a resource that scopes share.
    Lock,
}

impl Kind {
    /// The stored number.
    #[must_use]
    pub const fn number(self) -> i8 {
        match self {
            Self::Head => 0,
            Self::Version => 1,
            Self::Step => 2,
            Self::Event => 3,
            Self::Lock => 4,
        }
    }

    /// The kind with this stored number.
    #[must_use]
    pub const fn from_number(number: i8) -> Option<Self> {
        Some(match number {
            0 => Self::Head,
            1 => Self::Version,
            2 => Self::Step,
            3 => Self::Event,
            4 => Self::Lock,
            _ => return None,
        })
    }
}

/// The clustering key of a row within a scope. Orders like the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// What the row is.
    pub kind: Kind,
    /// The version that it belongs to, or 0.
    pub version: i64,
    /// The ordinal of a step, or the revision of an event, or 0.
    pub n: i64,
}

impl Key {
    /// The head's row.
    pub const HEAD: Self = Self { kind: Kind::Head, version: 0, n: 0 };

    /// The row of a version.
    #[must_use]
    pub const fn version(version: i64) -> Self {
        Self { kind: Kind::Version, version, n: 0 }
    }

    /// The journal row of a step.
    #[must_use]
    pub const fn step(version: i64, n: i64) -> Self {
        Self { kind: Kind::Step, version, n }
    }

    /// The event of a revision.
    #[must_use]
    pub const fn event(rev: i64) -> Self {
        Self { kind: Kind::Event, version: 0, n: rev }
    }
}

/// A value of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Absent.
    Null,
    /// `int`, `tinyint` or `bigint`: the column decides.
    Int(i64),
    /// `text`.
    Text(String),
    /// `uuid`.
    Uuid(Uuid),
    /// `timestamp`, in milliseconds since the epoch.
    Millis(i64),
    /// `boolean`.
    Bool(bool),
}

/// The values of a row by column; an absent column is null.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cells(BTreeMap<&'static str, Value>);

impl Cells {
    /// No values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With this value.
    #[must_use]
    pub fn with(mut self, column: &'static str, value: impl Into<Value>) -> Self {
        self.set(column, value);
        self
    }

    /// Sets a value. A null stays in here: it is a cell to be deleted.
    pub fn set(&mut self, column: &'static str, value: impl Into<Value>) {
        self.0.insert(column, value.into());
    }

    /// The values that differ from those of `other`.
    #[must_use]
    pub fn different_from(&self, other: &Self) -> Self {
        let differs = |(column, value): &(&&'static str, &Value)| other.get(column) != *value;
        Self(self.0.iter().filter(differs).map(|(column, value)| (*column, value.clone())).collect())
    }

    /// All values by the columns' names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(column, value)| (*column, value))
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.values().all(|value| *value == Value::Null)
    }

    fn get(&self, column: &str) -> &Value {
        self.0.get(column).unwrap_or(&Value::Null)
    }

    /// A whole number.
    #[must_use]
    pub fn int(&self, column: &str) -> Option<i64> {
        match self.get(column) {
            Value::Int(value) | Value::Millis(value) => Some(*value),
            _ => None,
        }
    }

    /// A text.
    #[must_use]
    pub fn text(&self, column: &str) -> Option<String> {
        match self.get(column) {
            Value::Text(value) => Some(value.clone()),
            _ => None,
        }
    }

    /// A uuid.
    #[must_use]
    pub fn uuid(&self, column: &str) -> Option<Uuid> {
        match self.get(column) {
            Value::Uuid(value) => Some(*value),
            _ => None,
        }
    }

    /// A boolean.
    #[must_use]
    pub fn bool(&self, column: &str) -> Option<bool> {
        match self.get(column) {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Int(value.into())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Uuid> for Value {
    fn from(value: Uuid) -> Self {
        Self::Uuid(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
