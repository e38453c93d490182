//! Rows with their tokens.

use scylla::deserialize::row::{ColumnIterator, DeserializeRow};
use scylla::deserialize::value::DeserializeValue;
use scylla::deserialize::{DeserializationError, TypeCheckError};
use scylla::frame::response::result::ColumnSpec;
use thiserror::Error;

/// A row behind its token.
#[derive(Debug)]
pub(super) struct Tokened<T> {
    pub(super) token: i64,
    pub(super) row: T,
}

#[derive(Debug, Error)]
#[error("a row without its token")]
struct NoToken;

/// Which row does not fit.
#[derive(Debug, Error)]
#[error("the row with the token {token}: {source}")]
struct InRow {
    token: i64,
    source: DeserializationError,
}

impl<'frame, 'metadata, T: DeserializeRow<'frame, 'metadata>> DeserializeRow<'frame, 'metadata>
    for Tokened<T>
{
    fn type_check(specs: &[ColumnSpec<'_>]) -> Result<(), TypeCheckError> {
        let (token, rest) = specs.split_first().ok_or_else(|| TypeCheckError::new(NoToken))?;
        <i64 as DeserializeValue>::type_check(token.typ())?;
        T::type_check(rest)
    }

    fn deserialize(mut row: ColumnIterator<'frame, 'metadata>) -> Result<Self, DeserializationError> {
        let token = row.next().ok_or_else(|| DeserializationError::new(NoToken))??;
        let token = i64::deserialize(token.spec.typ(), token.slice)?;
        let in_row = |source| DeserializationError::new(InRow { token, source });
        Ok(Self { token, row: T::deserialize(row).map_err(in_row)? })
    }
}
