//! Rows whose columns are known only from the answer.

use scylla::response::query_result::QueryResult;
use scylla::value::{CqlValue, Row};
use thiserror::Error;
use uuid::Uuid;

/// Rows as the server sent them. An answer to a conditional write has other columns than its rejection has.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grid {
    names: Vec<String>,
    rows: Vec<Vec<Option<CqlValue>>>,
}

/// An answer that the statement cannot have.
#[derive(Debug, Clone, Error)]
#[error("unexpected answer: {0}")]
pub(crate) struct UnexpectedAnswer(pub(crate) String);

impl Grid {
    #[cfg(test)]
    pub(crate) fn of(names: &[&str], rows: impl IntoIterator<Item = Vec<Option<CqlValue>>>) -> Self {
        Self {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            rows: rows.into_iter().collect(),
        }
    }

    pub(crate) fn from_result(result: QueryResult) -> Result<Self, UnexpectedAnswer> {
        let result = result.into_rows_result().map_err(|error| UnexpectedAnswer(error.to_string()))?;
        let names = result.column_specs().iter().map(|spec| spec.name().to_owned()).collect();
        let rows = result.rows::<Row>().map_err(|error| UnexpectedAnswer(error.to_string()))?;
        let rows = rows.map(|row| row.map(|row| row.columns)).collect::<Result<_, _>>();
        Ok(Self { names, rows: rows.map_err(|error| UnexpectedAnswer(error.to_string()))? })
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = Record<'_>> {
        self.rows.iter().map(|values| Record { names: &self.names, values })
    }

    pub(crate) fn first(&self) -> Option<Record<'_>> {
        self.rows().next()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|other| other == name)
    }
}

/// One row of a [`Grid`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'a> {
    names: &'a [String],
    values: &'a [Option<CqlValue>],
}

impl<'a> Record<'a> {
    /// A column's value; `None` also where the answer has no such column.
    pub(crate) fn get(&self, name: &str) -> Option<&'a CqlValue> {
        let index = self.names.iter().position(|other| other == name)?;
        self.values.get(index)?.as_ref()
    }

    /// The columns that are not null.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a str, &'a CqlValue)> {
        let named = self.names.iter().zip(self.values);
        named.filter_map(|(name, value)| Some((name.as_str(), value.as_ref()?)))
    }

    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        match self.get(name)? {
            CqlValue::Text(text) | CqlValue::Ascii(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn uuid(&self, name: &str) -> Option<Uuid> {
        match self.get(name)? {
            CqlValue::Uuid(uuid) => Some(*uuid),
            _ => None,
        }
    }

    pub(crate) fn bool(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            CqlValue::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// A whole number of any width; a timestamp as milliseconds.
    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            CqlValue::TinyInt(value) => Some((*value).into()),
            CqlValue::Int(value) => Some((*value).into()),
            CqlValue::BigInt(value) => Some(*value),
            CqlValue::Timestamp(value) => Some(value.0),
            _ => None,
        }
    }
}
