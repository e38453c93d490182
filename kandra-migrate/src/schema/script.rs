//! A keyspace's schema as text: canonical, so that two of them can be compared, and compact, so that one can be kept
//! with each version.
//!
//! A line an object, as the statement that creates it, with `${keyspace}` for the keyspace; before them the
//! keyspace's options, and those that all tables and views have in common. The ids of tables, columns that were dropped,
//! triggers, the ledger and the servers' own tables are no part of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::shape::{
    AggregateSchema, ColumnSchema, FunctionSchema, IndexSchema, KeyspaceSchema, TableSchema, ViewSchema,
};
use crate::cql::literal;
use crate::cql::{OptionValue, quote};
use crate::ledger::{LEDGER_TABLE, SchemaRecord};

/// What the line of the keyspace begins with.
pub(super) const OF_KEYSPACE: &str = "KEYSPACE WITH ";
/// What the line of the options that all tables and views have begins with.
pub(super) const OF_TABLES: &str = "TABLES WITH ";

/// Longest text that is stored, in bytes: it goes with other rows into one conditional batch, and servers refuse one of
/// 50 KiB.
const TEXT_BYTES_MAX: usize = 32 * 1024;

/// What is kept of a schema: its digest, and its text unless that is too long.
pub(crate) fn record(schema: &KeyspaceSchema) -> SchemaRecord {
    let text = script(schema);
    let digest = format!("s1:{}", hex::encode(Sha256::digest(&text)));
    SchemaRecord { digest, text: (text.len() <= TEXT_BYTES_MAX).then_some(text) }
}

/// The whole schema as text.
pub(crate) fn script(schema: &KeyspaceSchema) -> String {
    let of_tables = tables(schema).map(|(_, table)| options(table));
    let of_views = schema.views.values().map(|view| options(&view.table));
    let common = common(&of_tables.chain(of_views).collect::<Vec<_>>());
    let mut lines = vec![
        format!("{OF_KEYSPACE}{}", keyspace_options(schema)),
        format!("{OF_TABLES}{}", common.iter().cloned().collect::<Vec<_>>().join(" AND ")),
    ];
    lines.extend(objects(schema, &common));
    lines.iter().map(|line| escaped(line) + "\n").collect()
}

/// The statements that create the objects, each with all its options.
#[cfg(feature = "testing")]
pub(crate) fn statements(schema: &KeyspaceSchema) -> Vec<String> {
    objects(schema, &BTreeSet::new())
}

fn objects(schema: &KeyspaceSchema, common: &BTreeSet<String>) -> Vec<String> {
    let mut lines: Vec<_> = schema.types.iter().map(|(name, fields)| user_type(name, fields)).collect();
    lines.extend(tables(schema).map(|(name, schema)| table(name, schema, common)));
    let indexes = schema.indexes.iter().filter(|(_, index)| is_of_user(&index.table));
    lines.extend(indexes.map(|(name, schema)| index(name, schema)));
    lines.extend(schema.views.iter().map(|(name, schema)| view(name, schema, common)));
    lines.extend(sorted(schema.functions.iter().map(function)));
    lines.extend(sorted(schema.aggregates.iter().map(aggregate)));
    lines
}

/// Those of the user.
pub(crate) fn tables(schema: &KeyspaceSchema) -> impl Iterator<Item = (&String, &TableSchema)> {
    schema.tables.iter().filter(|(name, _)| is_of_user(name))
}

/// One line for a text of several.
fn escaped(line: &str) -> String {
    line.replace('\\', "\\\\").replace('\n', "\\n")
}

/// What was escaped.
pub(super) fn unescaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => text.push(if characters.next() == Some('n') { '\n' } else { '\\' }),
            character => text.push(character),
        }
    }
    text
}

/// The servers' own tables have a `$` in their names: `users$paxos`.
fn is_of_user(table: &str) -> bool {
    table != LEDGER_TABLE && !table.contains('$')
}

fn sorted(lines: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    lines.collect::<BTreeSet<_>>().into_iter()
}

fn of(name: &str) -> String {
    format!("${{keyspace}}.{}", quote(name))
}

fn keyspace_options(schema: &KeyspaceSchema) -> String {
    let replication = OptionValue::Map(schema.replication.clone());
    let durable = OptionValue::Scalar(schema.durable_writes.to_string());
    format!("{} AND {}", option("replication", &replication), option("durable_writes", &durable))
}

/// `name = value`, as CQL.
pub(super) fn option(name: &str, value: &OptionValue) -> String {
    let value = match value {
        OptionValue::Scalar(value) if is_bare(name, value) => value.clone(),
        OptionValue::Scalar(value) => literal(value),
        OptionValue::Map(entries) => {
            let entry = |(key, value): (&String, &String)| format!("{}: {}", literal(key), literal(value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    };
    format!("{name} = {value}")
}

fn is_bare(name: &str, value: &str) -> bool {
    let is_text = matches!(name, "comment" | "memtable");
    !is_text && (value.parse::<f64>().is_ok() || matches!(value, "true" | "false"))
}

/// The options of a table that a statement can set, each as CQL.
fn options(table: &TableSchema) -> BTreeSet<String> {
    let is_set = |name: &str| {
        !matches!(name, "id" | "extensions" | "read_repair_chance" | "dclocal_read_repair_chance")
    };
    table.options.iter().filter(|(name, _)| is_set(name)).map(|(name, value)| option(name, value)).collect()
}

/// What most tables have, of the options that all of them have: said once, it makes the text short.
fn common(tables: &[BTreeSet<String>]) -> BTreeSet<String> {
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for option in tables.iter().flatten() {
        let name = option.split(" = ").next().unwrap_or_default();
        *counts.entry(name).or_default().entry(option).or_default() += 1;
    }
    let everywhere = counts.into_values().filter(|values| values.values().sum::<usize>() == tables.len());
    everywhere
        .filter_map(|values| values.into_iter().max_by_key(|(_, count)| *count))
        .map(|(option, _)| option.to_owned())
        .collect()
}

fn user_type(name: &str, fields: &[(String, String)]) -> String {
    format!("CREATE TYPE {} ({})", of(name), typed(fields))
}

fn typed(names: &[(String, String)]) -> String {
    let typed = |(name, cql_type): &(String, String)| format!("{} {cql_type}", quote(name));
    names.iter().map(typed).collect::<Vec<_>>().join(", ")
}

/// The columns of a kind, in the order of the key.
fn of_kind<'a>(table: &'a TableSchema, kind: &str) -> Vec<(&'a String, &'a ColumnSchema)> {
    let mut columns: Vec<_> = table.columns.iter().filter(|(_, column)| column.kind == kind).collect();
    columns.sort_by_key(|(_, column)| column.position);
    columns
}

fn table(name: &str, table: &TableSchema, common: &BTreeSet<String>) -> String {
    let mut columns = Vec::new();
    for kind in ["partition_key", "clustering", "static", "regular"] {
        for (name, column) in of_kind(table, kind) {
            let mark = if kind == "static" { " STATIC" } else { "" };
            columns.push(format!("{} {}{mark}", quote(name), column.column_type));
        }
    }
    columns.push(primary_key(table));
    format!("CREATE TABLE {} ({}){}", of(name), columns.join(", "), with(table, common))
}

fn primary_key(table: &TableSchema) -> String {
    let names = |kind| of_kind(table, kind).into_iter().map(|(name, _)| quote(name));
    let partition = names("partition_key").collect::<Vec<_>>().join(", ");
    let parts: Vec<_> = std::iter::once(format!("({partition})")).chain(names("clustering")).collect();
    format!("PRIMARY KEY ({})", parts.join(", "))
}

fn with(table: &TableSchema, common: &BTreeSet<String>) -> String {
    let mut parts = Vec::new();
    // An empty set is what a fake of a server has.
    if !table.flags.is_empty() && (table.flags.contains("dense") || !table.flags.contains("compound")) {
        parts.push("COMPACT STORAGE".to_owned());
    }
    let clustering = of_kind(table, "clustering");
    let descends = |column: &ColumnSchema| column.clustering_order.eq_ignore_ascii_case("desc");
    if clustering.iter().any(|(_, column)| descends(column)) {
        let order = |(name, column): &(&String, &ColumnSchema)| {
            format!("{} {}", quote(name), if descends(column) { "DESC" } else { "ASC" })
        };
        let order = clustering.iter().map(order).collect::<Vec<_>>().join(", ");
        parts.push(format!("CLUSTERING ORDER BY ({order})"));
    }
    parts.extend(options(table).difference(common).cloned());
    if parts.is_empty() { String::new() } else { format!(" WITH {}", parts.join(" AND ")) }
}

fn index(name: &str, index: &IndexSchema) -> String {
    let target = index.options.get("target").map_or("", String::as_str);
    let custom = if index.kind == "CUSTOM" { "CUSTOM " } else { "" };
    let mut text = format!("CREATE {custom}INDEX {} ON {} ({target})", quote(name), of(&index.table));
    if let Some(class) = index.options.get("class_name") {
        // Writing to a string cannot fail.
        let _ = write!(text, " USING {}", literal(class));
    }
    let is_option = |name: &String| !matches!(name.as_str(), "target" | "class_name");
    let options: BTreeMap<_, _> =
        index.options.clone().into_iter().filter(|(name, _)| is_option(name)).collect();
    if !options.is_empty() {
        let _ = write!(text, " WITH {}", option("OPTIONS", &OptionValue::Map(options)));
    }
    text
}

fn view(name: &str, view: &ViewSchema, common: &BTreeSet<String>) -> String {
    let names = || view.table.columns.keys().map(|name| quote(name)).collect::<Vec<_>>().join(", ");
    let columns = if view.include_all_columns { "*".to_owned() } else { names() };
    let (name, base, key) = (of(name), of(&view.base), primary_key(&view.table));
    let (conditions, with) = (&view.where_clause, with(&view.table, common));
    format!("CREATE MATERIALIZED VIEW {name} AS SELECT {columns} FROM {base} WHERE {conditions} {key}{with}")
}

fn function(function: &FunctionSchema) -> String {
    let FunctionSchema { name, arguments, body, called_on_null, language, return_type } = function;
    let null = if *called_on_null { "CALLED" } else { "RETURNS NULL" };
    let (name, arguments, body) = (of(name), typed(arguments), literal(body));
    format!(
        "CREATE FUNCTION {name} ({arguments}) {null} ON NULL INPUT RETURNS {return_type} LANGUAGE {language} AS {body}"
    )
}

fn aggregate(aggregate: &AggregateSchema) -> String {
    let name = of(&aggregate.name);
    let (types, state) = (aggregate.argument_types.join(", "), &aggregate.state_type);
    let sfunc = quote(&aggregate.state_function);
    let mut text = format!("CREATE AGGREGATE {name} ({types}) SFUNC {sfunc} STYPE {state}");
    if let Some(function) = &aggregate.final_function {
        // Writing to a string cannot fail.
        let _ = write!(text, " FINALFUNC {}", quote(function));
    }
    if let Some(initial) = &aggregate.initial {
        let _ = write!(text, " INITCOND {initial}");
    }
    text
}
