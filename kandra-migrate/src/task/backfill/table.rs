//! What a backfill has to know of its table.

use scylla::errors::ExecutionError;
use scylla::statement::Consistency;

use super::error::BackfillError;
use crate::cql::{fold, literal, quote};
use crate::driver::{Grid, Record, pin};
use crate::task::context::ContextParts;
use crate::task::{TaskContext, TaskError};

/// Bytes a range is to have at most, where the servers know how much there is.
const RANGE_BYTES_MAX: u64 = 4 << 20;

/// Where they do not know. An empty range costs a read.
const PARTS_UNKNOWN: u64 = 1024;
const PARTS_MAX: u64 = 65_536;
const PARTS_A_WORKER_MIN: u64 = 8;

#[derive(Debug)]
pub(super) struct Table {
    /// Without quotes.
    pub(super) name: String,
    /// Keyspace and name, as a statement has them.
    pub(super) quoted: String,
    /// The columns of the partition key, as a statement has them.
    pub(super) keys: String,
    /// The tokens at which the nodes' ranges end.
    pub(super) ring: Vec<i64>,
    size: Size,
}

/// What the servers estimate.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Size {
    partitions: u64,
    bytes: u64,
}

impl Table {
    pub(super) async fn read(cx: &TaskContext, given: &str) -> Result<Self, TaskError> {
        let name = identifier(given);
        let catalog = Catalog { parts: cx.parts(), name: &name };
        catalog.check_partitioner().await?;
        let grid = catalog.of_table("column_name, kind, position, type", "system_schema.columns").await?;
        let columns: Vec<_> = grid.rows().filter_map(Column::of).collect();
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
        let mut keys: Vec<_> = columns.iter().filter(|column| column.is_key).collect();
        keys.sort_by_key(|column| column.position);
        let keys = keys.iter().map(|column| quote(&column.name)).collect::<Vec<_>>().join(", ");
        let quoted = format!("{}.{}", quote(cx.keyspace()), quote(&name));
        let ring = cx
            .session()
            .get_cluster_state()
            .replica_locator()
            .ring()
            .iter()
            .map(|(token, _)| token.value())
            .collect();
        let size = catalog.size().await;
        Ok(Self { name, quoted, keys, ring, size })
    }

    /// Into how many ranges the whole ring is cut.
    pub(super) fn parts(&self, rows_a_range: u64, workers: usize) -> u64 {
        let Size { partitions, bytes } = self.size;
        if partitions == 0 {
            return PARTS_UNKNOWN;
        }
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

/// What a name in a statement stands for.
fn identifier(given: &str) -> String {
    let quoted = given.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    quoted.map_or_else(|| fold(given.trim()), |name| name.replace("\"\"", "\""))
}

struct Column {
    name: String,
    cql_type: String,
    is_key: bool,
    position: i64,
}

impl Column {
    fn of(row: Record<'_>) -> Option<Self> {
        Some(Self {
            name: row.text("column_name")?.to_owned(),
            cql_type: row.text("type")?.to_owned(),
            is_key: row.text("kind") == Some("partition_key"),
            position: row.int("position").unwrap_or_default(),
        })
    }
}

/// The servers' own tables, asked about one table.
struct Catalog<'a> {
    parts: &'a ContextParts,
    name: &'a str,
}

impl Catalog<'_> {
    async fn check_partitioner(&self) -> Result<(), TaskError> {
        let grid = self.ask("SELECT partitioner FROM system.local".to_owned()).await?;
        let partitioner =
            grid.first().and_then(|row| row.text("partitioner").map(str::to_owned)).unwrap_or_default();
        if partitioner.ends_with("Murmur3Partitioner") {
            return Ok(());
        }
        Err(BackfillError::Partitioner { partitioner }.into())
    }

    /// The table of which this is a view.
    async fn base_table(&self) -> Result<Option<String>, TaskError> {
        let (keyspace, view) = (literal(&self.parts.keyspace), literal(self.name));
        let text = format!(
            "SELECT base_table_name FROM system_schema.views WHERE keyspace_name = {keyspace} AND view_name = {view}"
        );
        Ok(self.ask(text).await?.first().and_then(|row| row.text("base_table_name").map(str::to_owned)))
    }

    async fn of_table(&self, columns: &str, table: &str) -> Result<Grid, TaskError> {
        self.ask(self.select(columns, table)).await
    }

    fn select(&self, columns: &str, table: &str) -> String {
        let (keyspace, name) = (literal(&self.parts.keyspace), literal(self.name));
        format!("SELECT {columns} FROM {table} WHERE keyspace_name = {keyspace} AND table_name = {name}")
    }

    async fn ask(&self, text: String) -> Result<Grid, TaskError> {
        let statement = self.parts.database.statement(text, Consistency::One, self.parts.statement_timeout);
        Ok(Grid::from_result(self.parts.database.send(statement).await?)?)
    }

    /// The sum over all nodes, each of which knows of the ranges that it has first. Zero where nobody knows.
    async fn size(&self) -> Size {
        let mut sum = Size::default();
        for node in self.parts.database.nodes() {
            let text = self.select("mean_partition_size, partitions_count", "system.size_estimates");
            let mut statement =
                self.parts.database.statement(text, Consistency::One, self.parts.statement_timeout);
            pin(&mut statement, &node);
            let answer: Result<_, ExecutionError> = self.parts.database.send(statement).await;
            let Some(grid) = answer.ok().and_then(|result| Grid::from_result(result).ok()) else { continue };
            for row in grid.rows() {
                let number =
                    |name| row.int(name).and_then(|number| u64::try_from(number).ok()).unwrap_or_default();
                let (partitions, mean) = (number("partitions_count"), number("mean_partition_size"));
                sum.partitions = sum.partitions.saturating_add(partitions);
                sum.bytes = sum.bytes.saturating_add(partitions.saturating_mul(mean));
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(partitions: u64, bytes: u64) -> Table {
        Table {
            name: "t".to_owned(),
            quoted: "\"s\".\"t\"".to_owned(),
            keys: "\"a\", \"b\"".to_owned(),
            ring: Vec::new(),
            size: Size { partitions, bytes },
        }
    }

    #[test]
    fn as_many_parts_as_there_are_rows_for() {
        assert_eq!(table(0, 0).parts(1000, 8), PARTS_UNKNOWN);
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

    #[test]
    fn names_are_folded_unless_they_are_quoted() {
        assert_eq!(identifier("Users"), "users");
        assert_eq!(identifier("\"Users\""), "Users");
    }
}
