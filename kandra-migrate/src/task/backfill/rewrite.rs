//! Columns filled from others of their row.

use std::sync::Arc;

use scylla::deserialize::row::DeserializeRow;
use scylla::frame::response::result::ColumnSpec;
use scylla::serialize::row::SerializeRow;

use super::cells::{Cell, Cells, RawRow, decode, encode, now_s};
use super::column::{Column, Kind};
use super::error::BackfillError;
use super::names::{identifiers, time_of};
use super::table::Table;
use crate::cql::quote;
use crate::task::{TaskContext, TaskError, TaskResult};

/// The statements of a rewrite, and what is where in them.
#[derive(Debug, PartialEq, Eq)]
struct Texts {
    /// What is read after the token: the keys, write time and TTL of columns, and what was asked for.
    reads: String,
    update: String,
    keys: usize,
    times: usize,
    /// Rows that are there for their static columns alone are rewritten too.
    is_static: bool,
}

impl Texts {
    fn of(table: &Table, columns: &str, from: &str) -> Result<Self, BackfillError> {
        let filled = filled(table, columns)?;
        let is_static = filled.iter().all(|column| column.kind == Kind::Static);
        let is_part = |column: &&Column| {
            column.kind == Kind::Partition || column.kind == Kind::Clustering && !is_static
        };
        let keys: Vec<_> = table.columns.iter().filter(is_part).map(|column| column.name.as_str()).collect();
        let kind = if is_static { Kind::Static } else { Kind::Regular };
        let has_time = |column: &&Column| column.kind == kind && !column.is_multi_cell();
        let timed: Vec<_> =
            table.columns.iter().filter(has_time).map(|column| time_of(&column.name)).collect();
        let mut reads: Vec<_> = keys.iter().map(|name| quote(name)).collect();
        reads.extend(timed.iter().cloned());
        reads.push(from.to_owned());
        let sets: Vec<_> = filled.iter().map(|column| format!("{} = ?", quote(&column.name))).collect();
        let places: Vec<_> = keys.iter().map(|name| format!("{} = ?", quote(name))).collect();
        Ok(Self {
            reads: reads.join(", "),
            update: format!(
                "UPDATE {} USING TTL ? SET {} WHERE {}",
                table.quoted,
                sets.join(", "),
                places.join(" AND ")
            ),
            keys: keys.len(),
            times: timed.len(),
            is_static,
        })
    }
}

/// The columns that are to be filled.
fn filled<'a>(table: &'a Table, columns: &str) -> Result<Vec<&'a Column>, BackfillError> {
    let names = identifiers(columns);
    if names.is_empty() {
        return Err(BackfillError::NoColumn { table: table.name.clone(), column: columns.to_owned() });
    }
    names.iter().map(|name| fillable(table, name)).collect()
}

fn fillable<'a>(table: &'a Table, name: &str) -> Result<&'a Column, BackfillError> {
    let found = table.columns.iter().find(|column| column.name == name);
    let (table, column) = (table.name.clone(), name.to_owned());
    match found {
        None => Err(BackfillError::NoColumn { table, column }),
        Some(found) if found.is_key() => Err(BackfillError::KeyColumn { table, column }),
        Some(found) if found.is_list() => Err(BackfillError::List { table, column }),
        Some(found) => Ok(found),
    }
}

/// A rewrite that is ready to begin.
#[derive(Debug)]
pub(super) struct Rewrite<F> {
    texts: Texts,
    from: Vec<ColumnSpec<'static>>,
    columns: Vec<ColumnSpec<'static>>,
    function: F,
}

impl<F> Rewrite<F> {
    pub(super) async fn prepare<T>(
        cx: &TaskContext,
        table: &Table,
        columns: &str,
        from: &str,
        function: F,
    ) -> Result<Self, TaskError>
    where
        T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
    {
        let texts = Texts::of(table, columns, from)?;
        let read = cx.prepare(&table.select(&texts.reads)).await?;
        // The token, the keys, the times.
        let skipped = 1 + texts.keys + 2 * texts.times;
        let specs = read.get_current_result_set_col_specs();
        let from: Vec<_> = specs.get().iter().skip(skipped).cloned().collect();
        T::type_check(&from)
            .map_err(|source| BackfillError::Types { table: table.name.clone(), source: source.into() })?;
        let update = cx.prepare(&texts.update).await?;
        // The TTL, and behind the columns the keys.
        let specs = update.get_variable_col_specs();
        let count = specs.len().saturating_sub(1 + texts.keys);
        let columns = specs.iter().skip(1).take(count).cloned().collect();
        Ok(Self { texts, from, columns, function })
    }

    pub(super) fn reads(&self) -> &str {
        &self.texts.reads
    }

    pub(super) async fn row<T, V, Fut>(self: Arc<Self>, cx: TaskContext, row: RawRow) -> TaskResult
    where
        T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
        V: SerializeRow,
        F: Fn(T) -> Fut,
        Fut: Future<Output = Result<Option<V>, TaskError>>,
    {
        let Texts { keys, times, update, is_static, .. } = &self.texts;
        let (key, rest) = row.cells.split_at((*keys).min(row.cells.len()));
        // Only static columns have a row without a whole key.
        if !is_static && key.iter().any(Option::is_none) {
            return Ok(());
        }
        let from = rest.get(2 * times..).unwrap_or_default();
        let Some(values) = (self.function)(decode(&self.from, from)?).await? else { return Ok(()) };
        let values = encode(&self.columns, &values)?;
        let expires_s = (0..*times).filter_map(|n| row.time(keys + 2 * n)).map(|time| time.expires_s);
        let Some(ttl) = ttl(expires_s, now_s()) else { return Ok(()) };
        let mut cells = vec![ttl];
        cells.extend(values);
        cells.extend(key.iter().map(|value| Cell::value(value.as_ref())));
        cx.execute(update, Cells(cells)).await
    }
}

/// That of the cell that is there longest, so that nothing stays of a row that expires; `None` where it has.
fn ttl(expires_s: impl Iterator<Item = Option<i64>>, now_s: i64) -> Option<Cell> {
    match expires_s.max_by_key(|expires_s| expires_s.unwrap_or(i64::MAX)) {
        // That of the table.
        None => Some(Cell::Unset),
        Some(None) => Some(Cell::int(0)),
        Some(Some(at_s)) => i32::try_from(at_s - now_s).ok().filter(|left_s| *left_s > 0).map(Cell::int),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::backfill::column::column;

    fn table() -> Table {
        let columns = vec![
            column("country", "text", Kind::Partition),
            column("Id", "int", Kind::Clustering),
            column("motto", "text", Kind::Static),
            column("anthem", "text", Kind::Static),
            column("name", "text", Kind::Regular),
            column("first", "text", Kind::Regular),
            column("tags", "set<text>", Kind::Regular),
            column("visits", "list<int>", Kind::Regular),
        ];
        Table::of_columns("people", columns)
    }

    #[test]
    fn statements() {
        let texts = Texts::of(&table(), "first, tags", "name").unwrap();
        assert_eq!(
            texts.reads,
            r#""country", "Id", WRITETIME("name"), TTL("name"), WRITETIME("first"), TTL("first"), name"#
        );
        assert_eq!(
            texts.update,
            r#"UPDATE "s"."people" USING TTL ? SET "first" = ?, "tags" = ? WHERE "country" = ? AND "Id" = ?"#
        );
        assert_eq!((texts.keys, texts.times, texts.is_static), (2, 2, false));
    }

    #[test]
    fn static_columns_are_of_the_partition() {
        let texts = Texts::of(&table(), "motto", "country").unwrap();
        assert_eq!(
            texts.reads,
            r#""country", WRITETIME("motto"), TTL("motto"), WRITETIME("anthem"), TTL("anthem"), country"#
        );
        assert_eq!(texts.update, r#"UPDATE "s"."people" USING TTL ? SET "motto" = ? WHERE "country" = ?"#);
    }

    #[test]
    fn what_cannot_be_filled() {
        let refused = |columns: &str| Texts::of(&table(), columns, "name").unwrap_err();
        assert!(matches!(refused("first, age"), BackfillError::NoColumn { column, .. } if column == "age"));
        assert!(matches!(refused(""), BackfillError::NoColumn { .. }));
        assert!(matches!(refused("\"Id\""), BackfillError::KeyColumn { column, .. } if column == "Id"));
        assert!(matches!(refused("visits"), BackfillError::List { column, .. } if column == "visits"));
    }

    #[test]
    fn it_expires_with_the_last_of_its_row() {
        let of = |expires_s: &[Option<i64>]| ttl(expires_s.iter().copied(), 1000);
        assert_eq!(of(&[]), Some(Cell::Unset));
        assert_eq!(of(&[Some(1010), None]), Some(Cell::int(0)));
        assert_eq!(of(&[Some(1010), Some(1060)]), Some(Cell::int(60)));
        assert_eq!(of(&[Some(1000)]), None);
    }
}
