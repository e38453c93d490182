//! The servers' own tables.

use scylla::errors::ExecutionError;
use scylla::statement::Consistency;

use super::column::Column;
use super::error::BackfillError;
use crate::cql::literal;
use crate::driver::{Grid, pin};
use crate::task::TaskError;
use crate::task::context::ContextParts;

const PARTITIONS_COUNTED_MAX: u64 = 1000;

/// What the servers estimate.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) partitions: u64,
    pub(super) bytes: u64,
}

/// The servers' own tables, asked about one table.
pub(super) struct Catalog<'a> {
    pub(super) parts: &'a ContextParts,
    pub(super) name: &'a str,
}

impl Catalog<'_> {
    pub(super) async fn check_partitioner(&self) -> Result<(), TaskError> {
        let grid = self.ask("SELECT partitioner FROM system.local".to_owned()).await?;
        let partitioner =
            grid.first().and_then(|row| row.text("partitioner").map(str::to_owned)).unwrap_or_default();
        if partitioner.ends_with("Murmur3Partitioner") {
            return Ok(());
        }
        Err(BackfillError::Partitioner { partitioner }.into())
    }

    /// The table of which this is a view.
    pub(super) async fn base_table(&self) -> Result<Option<String>, TaskError> {
        let (keyspace, view) = (literal(&self.parts.keyspace), literal(self.name));
        let text = format!(
            "SELECT base_table_name FROM system_schema.views WHERE keyspace_name = {keyspace} AND view_name = {view}"
        );
        Ok(self.ask(text).await?.first().and_then(|row| row.text("base_table_name").map(str::to_owned)))
    }

    /// The partition key, then what orders its rows, then the others by name; none where there is no such table.
    pub(super) async fn columns(&self) -> Result<Vec<Column>, TaskError> {
        let text = self.select("column_name, kind, position, type", "system_schema.columns");
        let mut columns: Vec<_> = self.ask(text).await?.rows().filter_map(Column::of).collect();
        columns.sort_by(|a, b| (a.kind, a.position, &a.name).cmp(&(b.kind, b.position, &b.name)));
        Ok(columns)
    }

    pub(super) async fn default_ttl_s(&self) -> Result<i64, TaskError> {
        let grid = self.ask(self.select("default_time_to_live", "system_schema.tables")).await?;
        Ok(grid.first().and_then(|row| row.int("default_time_to_live")).unwrap_or_default())
    }

    fn select(&self, columns: &str, table: &str) -> String {
        let (keyspace, name) = (literal(&self.parts.keyspace), literal(self.name));
        format!("SELECT {columns} FROM {table} WHERE keyspace_name = {keyspace} AND table_name = {name}")
    }

    async fn ask(&self, text: String) -> Result<Grid, TaskError> {
        let statement = self.parts.database.statement(text, Consistency::One, self.parts.statement_timeout);
        Ok(Grid::from_result(self.parts.database.send(statement).await?)?)
    }

    /// What the nodes estimate, or, of a table that none of them has an estimate of, the number of its partitions if there
    /// are but a few: such a table was just made, or is small.
    pub(super) async fn size(&self, keys: &str, quoted: &str) -> Option<Size> {
        let estimate = self.estimate().await;
        if estimate.partitions > 0 {
            return Some(estimate);
        }
        let text = format!("SELECT DISTINCT {keys} FROM {quoted} LIMIT {PARTITIONS_COUNTED_MAX}");
        let partitions = u64::try_from(self.ask(text).await.ok()?.rows().count()).ok()?;
        (partitions < PARTITIONS_COUNTED_MAX).then_some(Size { partitions, bytes: 0 })
    }

    /// The sum over all nodes, each of which knows of the ranges that it has first. Zero where nobody knows.
    async fn estimate(&self) -> Size {
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
