//! Values as they are sent, whatever their types.

use std::time::SystemTime;

use scylla::deserialize::row::{ColumnIterator, DeserializeRow};
use scylla::deserialize::{DeserializationError, FrameSlice, TypeCheckError};
use scylla::frame::response::result::ColumnSpec;
use scylla::serialize::SerializationError;
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::RowWriter;

use crate::task::TaskError;

/// A value of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    /// What is there stays.
    Unset,
    Null,
    Value(Vec<u8>),
}

impl Cell {
    pub(super) fn int(value: i32) -> Self {
        Self::Value(value.to_be_bytes().to_vec())
    }

    pub(super) fn bigint(value: i64) -> Self {
        Self::Value(value.to_be_bytes().to_vec())
    }

    pub(super) fn value(value: Option<&Vec<u8>>) -> Self {
        value.map_or(Self::Unset, |value| Self::Value(value.clone()))
    }

    pub(super) fn into_value(self) -> Option<Vec<u8>> {
        match self {
            Self::Value(value) => Some(value),
            Self::Unset | Self::Null => None,
        }
    }
}

/// The values of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cells(pub(super) Vec<Cell>);

impl SerializeRow for Cells {
    fn serialize(
        &self,
        _context: &RowSerializationContext<'_>,
        writer: &mut RowWriter<'_>,
    ) -> Result<(), SerializationError> {
        for cell in &self.0 {
            let writer = writer.make_cell_writer();
            match cell {
                Cell::Unset => _ = writer.set_unset(),
                Cell::Null => _ = writer.set_null(),
                Cell::Value(value) => _ = writer.set_value(value).map_err(SerializationError::new)?,
            }
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// When a cell was written, and when it is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Time {
    pub(super) written_us: i64,
    /// By the wall clock.
    pub(super) expires_s: Option<i64>,
}

/// A row as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawRow {
    pub(super) cells: Vec<Option<Vec<u8>>>,
    read_at_s: i64,
}

impl RawRow {
    /// Of `WRITETIME(c), TTL(c)` at this place; `None` where there is no cell.
    pub(super) fn time(&self, at: usize) -> Option<Time> {
        let number = |at: usize| self.cells.get(at)?.as_deref();
        let written_us = i64::from_be_bytes(number(at)?.try_into().ok()?);
        let ttl_s = number(at + 1).and_then(|ttl| Some(i32::from_be_bytes(ttl.try_into().ok()?)));
        Some(Time { written_us, expires_s: ttl_s.map(|ttl_s| self.read_at_s + i64::from(ttl_s)) })
    }
}

impl<'frame, 'metadata> DeserializeRow<'frame, 'metadata> for RawRow {
    fn type_check(_specs: &[ColumnSpec<'_>]) -> Result<(), TypeCheckError> {
        Ok(())
    }

    fn deserialize(row: ColumnIterator<'frame, 'metadata>) -> Result<Self, DeserializationError> {
        let cell = |column: Result<scylla::deserialize::row::RawColumn<'_, '_>, _>| {
            column.map(|column| column.slice.map(|slice| slice.as_slice().to_vec()))
        };
        Ok(Self { cells: row.map(cell).collect::<Result<_, _>>()?, read_at_s: now_s() })
    }
}

pub(super) fn now_s() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// A row of a type of the task's own.
pub(super) fn decode<T>(specs: &[ColumnSpec<'static>], cells: &[Option<Vec<u8>>]) -> Result<T, TaskError>
where
    T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
{
    let mut frame = Vec::new();
    for cell in cells {
        match cell {
            Some(value) => {
                frame.extend(i32::try_from(value.len())?.to_be_bytes());
                frame.extend(value);
            }
            None => frame.extend((-1_i32).to_be_bytes()),
        }
    }
    Ok(T::deserialize(ColumnIterator::new(specs, FrameSlice::new_borrowed(&frame)))?)
}

/// The values of a row of a type of the task's own.
pub(super) fn encode(
    specs: &[ColumnSpec<'static>],
    values: &impl SerializeRow,
) -> Result<Vec<Cell>, TaskError> {
    let mut frame = Vec::new();
    values.serialize(&RowSerializationContext::from_specs(specs), &mut RowWriter::new(&mut frame))?;
    let mut rest = frame.as_slice();
    let mut cells = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk() {
        let length = i32::from_be_bytes(*length);
        let (value, after) = after.split_at(usize::try_from(length).unwrap_or_default());
        rest = after;
        cells.push(match length {
            -1 => Cell::Null,
            -2 => Cell::Unset,
            _ => Cell::Value(value.to_vec()),
        });
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use scylla::frame::response::result::{ColumnType, NativeType, TableSpec};
    use scylla::value::MaybeUnset;

    use super::*;

    fn specs() -> [ColumnSpec<'static>; 3] {
        let spec = |name: &str, native| {
            let table = TableSpec::owned("s".to_owned(), "t".to_owned());
            ColumnSpec::owned(name.to_owned(), ColumnType::Native(native), table)
        };
        [spec("a", NativeType::Int), spec("b", NativeType::Text), spec("c", NativeType::Text)]
    }

    #[test]
    fn a_row_of_the_tasks_own_and_back() {
        let values = (7_i32, None::<&str>, MaybeUnset::<&str>::Unset);
        let cells = encode(&specs(), &values).unwrap();
        assert_eq!(cells, [Cell::int(7), Cell::Null, Cell::Unset]);
        let row = [Some(vec![0, 0, 0, 7]), None, Some(b"x".to_vec())];
        assert_eq!(
            decode::<(i32, Option<String>, String)>(&specs(), &row).unwrap(),
            (7, None, "x".to_owned())
        );
        assert!(encode(&specs(), &(7_i32, "x")).is_err(), "too few");
        assert!(encode(&specs(), &("7", "x", "y")).is_err(), "of another type");
    }

    #[test]
    fn what_is_left_counts_from_the_read() {
        let cell = |value: Cell| value.into_value();
        let cells = vec![cell(Cell::bigint(5)), cell(Cell::int(60)), cell(Cell::bigint(6)), None, None, None];
        let row = RawRow { cells, read_at_s: 1000 };
        assert_eq!(row.time(0), Some(Time { written_us: 5, expires_s: Some(1060) }));
        assert_eq!(row.time(2), Some(Time { written_us: 6, expires_s: None }));
        assert_eq!(row.time(4), None, "no cell");
    }
}
