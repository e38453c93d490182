//! Reads a keyspace's rows of `system_schema`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use scylla::cluster::Node;
use scylla::statement::Consistency;
use scylla::value::CqlValue;

use super::shape::{
    AggregateSchema, ColumnSchema, DroppedColumn, FunctionSchema, IndexSchema, KeyspaceSchema, TableSchema,
    ViewSchema,
};
use crate::cql::{OptionValue, Options, literal};
use crate::driver::{Database, Grid, Outcome, Record, Request, pin};
use crate::port::SendError;

/// A keyspace as one node has it: `node`, or any. `None` where there is no such keyspace.
pub(crate) async fn keyspace(
    database: &Database,
    keyspace: &str,
    node: Option<Arc<Node>>,
    timeout: Duration,
) -> Result<Option<KeyspaceSchema>, SendError> {
    let mut tables = Tables { database, keyspace, node, timeout };
    let keyspaces = tables.read("keyspaces").await?;
    let Some(row) = keyspaces.first() else { return Ok(None) };
    let mut schema = KeyspaceSchema {
        replication: map(&row, "replication"),
        durable_writes: row.bool("durable_writes").unwrap_or_default(),
        ..KeyspaceSchema::default()
    };
    let mut parts = Parts::of(&tables.read("columns").await?, &tables.read("dropped_columns").await?);
    for row in tables.read("tables").await?.rows() {
        let name = name(&row, "table_name");
        let table = parts.table(&name, &row, &["keyspace_name", "table_name", "flags"]);
        schema.tables.insert(name, table);
    }
    for row in tables.read("views").await?.rows() {
        let name = name(&row, "view_name");
        let view = view(&row, parts.table(&name, &row, &VIEW_COLUMNS));
        schema.views.insert(name, view);
    }
    let types = tables.read("types").await?;
    schema.types = types
        .rows()
        .map(|row| (name(&row, "type_name"), pairs(&row, "field_names", "field_types")))
        .collect();
    let indexes = tables.read("indexes").await?;
    schema.indexes = indexes.rows().map(|row| (name(&row, "index_name"), index(&row))).collect();
    schema.functions = tables.read("functions").await?.rows().map(|row| function(&row)).collect();
    schema.aggregates = tables.read("aggregates").await?.rows().map(|row| aggregate(&row)).collect();
    Ok(Some(schema))
}

/// The tables of `system_schema`, each of them as the same node has it.
struct Tables<'a> {
    database: &'a Database,
    keyspace: &'a str,
    node: Option<Arc<Node>>,
    timeout: Duration,
}

impl Tables<'_> {
    async fn read(&mut self, table: &str) -> Result<Grid, SendError> {
        let keyspace = literal(self.keyspace);
        // All columns, since each server has options of its own.
        let text = format!("SELECT * FROM system_schema.{table} WHERE keyspace_name = {keyspace}");
        let mut statement = self.database.statement(text, Consistency::One, self.timeout);
        if let Some(node) = &self.node {
            pin(&mut statement, node);
        }
        let result = self.database.send(statement).await.map_err(|error| {
            let outcome = Outcome::of(&error, Request::Read);
            outcome.into_send_result(error).expect_err("a read that failed has no effect")
        })?;
        self.node.get_or_insert_with(|| result.request_coordinator().node().clone());
        Grid::from_result(result).map_err(|error| SendError::Passing(Arc::new(error)))
    }
}

/// Rows of `columns` and `dropped_columns` by their table or view.
#[derive(Default)]
struct Parts {
    columns: BTreeMap<String, BTreeMap<String, ColumnSchema>>,
    dropped: BTreeMap<String, BTreeMap<String, DroppedColumn>>,
}

impl Parts {
    fn of(columns: &Grid, dropped: &Grid) -> Self {
        let mut parts = Self::default();
        for row in columns.rows() {
            let column = ColumnSchema {
                kind: name(&row, "kind"),
                position: row.int("position").and_then(|position| position.try_into().ok()).unwrap_or(-1),
                clustering_order: name(&row, "clustering_order"),
                column_type: name(&row, "type"),
            };
            parts
                .columns
                .entry(name(&row, "table_name"))
                .or_default()
                .insert(name(&row, "column_name"), column);
        }
        for row in dropped.rows() {
            let column =
                DroppedColumn { kind: row.text("kind").map(str::to_owned), column_type: name(&row, "type") };
            parts
                .dropped
                .entry(name(&row, "table_name"))
                .or_default()
                .insert(name(&row, "column_name"), column);
        }
        parts
    }

    fn table(&mut self, name: &str, row: &Record<'_>, not_options: &[&str]) -> TableSchema {
        TableSchema {
            columns: self.columns.remove(name).unwrap_or_default(),
            dropped: self.dropped.remove(name).unwrap_or_default(),
            flags: list(row, "flags").into_iter().collect(),
            options: options(row, not_options),
        }
    }
}

const VIEW_COLUMNS: [&str; 7] = [
    "keyspace_name",
    "view_name",
    "base_table_id",
    "base_table_name",
    "where_clause",
    "include_all_columns",
    "flags",
];

fn view(row: &Record<'_>, table: TableSchema) -> ViewSchema {
    ViewSchema {
        base: name(row, "base_table_name"),
        where_clause: name(row, "where_clause"),
        include_all_columns: row.bool("include_all_columns").unwrap_or_default(),
        table,
    }
}

fn index(row: &Record<'_>) -> IndexSchema {
    IndexSchema { table: name(row, "table_name"), kind: name(row, "kind"), options: map(row, "options") }
}

fn function(row: &Record<'_>) -> FunctionSchema {
    FunctionSchema {
        name: name(row, "function_name"),
        arguments: pairs(row, "argument_names", "argument_types"),
        body: name(row, "body"),
        called_on_null: row.bool("called_on_null_input").unwrap_or_default(),
        language: name(row, "language"),
        return_type: name(row, "return_type"),
    }
}

fn aggregate(row: &Record<'_>) -> AggregateSchema {
    let optional = |column| row.text(column).map(str::to_owned);
    AggregateSchema {
        name: name(row, "aggregate_name"),
        argument_types: list(row, "argument_types"),
        state_function: name(row, "state_func"),
        state_type: name(row, "state_type"),
        final_function: optional("final_func"),
        initial: optional("initcond"),
    }
}

fn options(row: &Record<'_>, not_options: &[&str]) -> Options {
    let named = row.iter().filter(|(name, _)| !not_options.contains(name));
    named.map(|(name, value)| (name.to_owned(), option(value))).collect()
}

fn option(value: &CqlValue) -> OptionValue {
    match value {
        CqlValue::Map(entries) => {
            OptionValue::Map(entries.iter().map(|(key, value)| (print(key), print(value))).collect())
        }
        value => OptionValue::Scalar(print(value)),
    }
}

/// A value without quotes.
fn print(value: &CqlValue) -> String {
    match value {
        CqlValue::Text(text) | CqlValue::Ascii(text) => text.clone(),
        value => value.to_string(),
    }
}

fn name(row: &Record<'_>, column: &str) -> String {
    row.text(column).unwrap_or_default().to_owned()
}

fn list(row: &Record<'_>, column: &str) -> Vec<String> {
    match row.get(column) {
        Some(CqlValue::List(values) | CqlValue::Set(values)) => values.iter().map(print).collect(),
        _ => Vec::new(),
    }
}

fn map(row: &Record<'_>, column: &str) -> BTreeMap<String, String> {
    match row.get(column).map(option) {
        Some(OptionValue::Map(entries)) => entries,
        _ => BTreeMap::new(),
    }
}

fn pairs(row: &Record<'_>, names: &str, types: &str) -> Vec<(String, String)> {
    list(row, names).into_iter().zip(list(row, types)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> CqlValue {
        CqlValue::Text(value.to_owned())
    }

    #[test]
    fn options_are_what_is_not_null_and_no_part_of_the_shape() {
        let compaction = CqlValue::Map(vec![(text("class"), text("SizeTieredCompactionStrategy"))]);
        let row = vec![
            Some(text("users")),
            Some(text("it's")),
            Some(CqlValue::Double(0.01)),
            Some(CqlValue::Int(864_000)),
            Some(CqlValue::Boolean(false)),
            Some(compaction),
            None,
        ];
        let names = [
            "table_name",
            "comment",
            "crc_check_chance",
            "gc_grace_seconds",
            "cdc",
            "compaction",
            "memtable",
        ];
        let grid = Grid::of(&names, [row]);
        let scalar = |name: &str, value: &str| (name.to_owned(), OptionValue::Scalar(value.to_owned()));
        let class = BTreeMap::from([("class".to_owned(), "SizeTieredCompactionStrategy".to_owned())]);
        let expected = Options::from([
            scalar("comment", "it's"),
            scalar("crc_check_chance", "0.01"),
            scalar("gc_grace_seconds", "864000"),
            scalar("cdc", "false"),
            ("compaction".to_owned(), OptionValue::Map(class)),
        ]);
        assert_eq!(options(&grid.first().expect("a row"), &["table_name"]), expected);
    }

    #[test]
    fn columns_belong_to_their_table() {
        let column = |table: &str, column: &str| {
            let position = Some(CqlValue::Int(0));
            vec![
                Some(text(table)),
                Some(text(column)),
                Some(text("partition_key")),
                position,
                Some(text("bigint")),
            ]
        };
        let names = ["table_name", "column_name", "kind", "position", "type"];
        let columns = Grid::of(&names, [column("users", "id"), column("orders", "order")]);
        let dropped = Grid::of(&names, [column("users", "gone")]);

        let row = Grid::of(&["flags"], [vec![Some(CqlValue::Set(vec![text("compound")]))]]);
        let users = Parts::of(&columns, &dropped).table("users", &row.first().expect("a row"), &["flags"]);

        assert_eq!(users.columns.keys().collect::<Vec<_>>(), ["id"]);
        assert_eq!(users.columns["id"].column_type, "bigint");
        assert_eq!(users.dropped.keys().collect::<Vec<_>>(), ["gone"]);
        assert!(users.flags.contains("compound") && users.options.is_empty());
    }
}
