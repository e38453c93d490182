//! What a backfill has to know of its table.

use super::catalog::{Catalog, Size};
use super::column::{Column, Kind};
use super::error::BackfillError;
use super::names::{identifier, quoted};
use crate::cql::quote;
use crate::task::{TaskContext, TaskError};

/// Bytes a range is to have at most, where the servers know how much there is.
const RANGE_BYTES_MAX: u64 = 4 << 20;

/// Where nobody knows. An empty range costs a read.
const PARTS_UNKNOWN: u64 = 1024;
const PARTS_MAX: u64 = 65_536;
const PARTS_A_WORKER_MIN: u64 = 8;

#[derive(Debug, Clone)]
pub(super) struct Table {
    /// Without quotes.
    pub(super) name: String,
    /// Keyspace and name, as a statement has them.
    pub(super) quoted: String,
    /// The columns of the partition key, as a statement has them.
    pub(super) keys: String,
    /// The partition key, then what orders its rows, then the others by name.
    pub(super) columns: Vec<Column>,
    /// Of cells whose write says nothing of it; zero for none.
    pub(super) default_ttl_s: i64,
    /// The tokens at which the nodes' ranges end.
    pub(super) ring: Vec<i64>,
    /// Where it is known.
    size: Option<Size>,
}

impl Table {
    pub(super) async fn read(cx: &TaskContext, given: &str) -> Result<Self, TaskError> {
        let name = identifier(given);
        let catalog = Catalog { parts: cx.parts(), name: &name };
        catalog.check_partitioner().await?;
        let columns = catalog.columns().await?;
        if columns.is_empty() {
            let keyspace = cx.keyspace().to_owned();
            return Err(BackfillError::NoTable { keyspace, table: given.to_owned() }.into());
        }
        if let Some(table) = catalog.base_table().await? {
            return Err(BackfillError::View { view: name, table }.into());
        }
        if columns.iter().any(|column| column.cql_type == "counter") {
            return Err(BackfillError::Counters { table: name }.into());
        }
        let keys = columns.iter().filter(|column| column.kind == Kind::Partition);
        let keys = quoted(keys.map(|column| column.name.as_str()));
        let quoted = format!("{}.{}", quote(cx.keyspace()), quote(&name));
        let ring = cx
            .session()
            .get_cluster_state()
            .replica_locator()
            .ring()
            .iter()
            .map(|(token, _)| token.value())
            .collect();
        let default_ttl_s = catalog.default_ttl_s().await?;
        let size = catalog.size(&keys, &quoted).await;
        Ok(Self { name, quoted, keys, columns, default_ttl_s, ring, size })
    }

    /// One that no server knows, in the keyspace `s`.
    #[cfg(test)]
    pub(super) fn of_columns(name: &str, columns: Vec<Column>) -> Self {
        let keys = columns.iter().filter(|column| column.kind == Kind::Partition);
        Self {
            name: name.to_owned(),
            quoted: format!("\"s\".{}", quote(name)),
            keys: quoted(keys.map(|column| column.name.as_str())),
            columns,
            default_ttl_s: 0,
            ring: Vec::new(),
            size: None,
        }
    }

    /// Into how many ranges the whole ring is cut.
    pub(super) fn parts(&self, rows_a_range: u64, workers: usize) -> u64 {
        let Some(Size { partitions, bytes }) = self.size else { return PARTS_UNKNOWN };
        let wanted = partitions.div_ceil(rows_a_range.max(1)).max(bytes.div_ceil(RANGE_BYTES_MAX));
        wanted.clamp(workers as u64 * PARTS_A_WORKER_MIN, PARTS_MAX)
    }

    /// The read of some of its columns in one range, with each row's token first.
    pub(super) fn select(&self, columns: &str) -> String {
        let Self { quoted, keys, .. } = self;
        format!(
            "SELECT token({keys}), {columns} FROM {quoted} WHERE token({keys}) > ? AND token({keys}) <= ?"
        )
    }

    /// The read of the partition keys that have a token.
    pub(super) fn select_keys(&self) -> String {
        let Self { quoted, keys, .. } = self;
        format!("SELECT DISTINCT {keys} FROM {quoted} WHERE token({keys}) = ?")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::backfill::column::column;

    fn table(partitions: u64, bytes: u64) -> Table {
        let keys = ["a", "b"].map(|name| column(name, "int", Kind::Partition));
        Table { size: Some(Size { partitions, bytes }), ..Table::of_columns("t", keys.to_vec()) }
    }

    #[test]
    fn as_many_parts_as_there_are_rows_for() {
        assert_eq!(Table { size: None, ..table(0, 0) }.parts(1000, 8), PARTS_UNKNOWN);
        assert_eq!(table(0, 0).parts(1000, 8), 64);
        assert_eq!(table(10, 10).parts(1000, 8), 64);
        assert_eq!(table(1_000_000, 1).parts(1000, 8), 1000);
        assert_eq!(table(100_000, 100 << 30).parts(1000, 8), 25_600);
        assert_eq!(table(u64::MAX, u64::MAX).parts(1, 8), PARTS_MAX);
    }

    #[test]
    fn a_composite_key() {
        assert_eq!(
            table(0, 0).select("c"),
            r#"SELECT token("a", "b"), c FROM "s"."t" WHERE token("a", "b") > ? AND token("a", "b") <= ?"#
        );
    }
}
