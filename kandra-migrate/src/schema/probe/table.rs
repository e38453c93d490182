//! CREATE TABLE and ADD.

use super::difference::Differences;
use super::{Effect, is_type, options, several};
use crate::cql::{ColumnDefinition, CqlType, CreateTable, QualifiedName};
use crate::schema::shape::{ColumnSchema, KeyspaceSchema, TableSchema};

pub(super) fn create(create: &CreateTable, keyspace: &KeyspaceSchema) -> Effect {
    let name = &create.name.name;
    let Some(table) = keyspace.tables.get(name) else {
        return if keyspace.views.contains_key(name) {
            Effect::OtherShape {
                expected: format!("table {name}"),
                found: format!("materialized view {name}"),
            }
        } else {
            Effect::Absent
        };
    };
    let mut differences = Differences::default();
    for column in &create.columns {
        let expected = Expected::new(column, create);
        let found = table.columns.get(&column.name);
        if !found.is_some_and(|found| expected.is(found, create.compact_storage)) {
            let name = &column.name;
            let found = found.map_or_else(|| format!("no column {name}"), |found| describe(name, found));
            differences.add(expected.describe(name), found);
        }
    }
    options::differences(&create.options, &table.options, &mut differences);
    let is_named = |name: &String| create.columns.iter().any(|column| column.name == *name);
    // With COMPACT STORAGE the servers add columns themselves.
    let extra =
        table.columns.keys().filter(|name| !create.compact_storage && !is_named(name)).cloned().collect();
    differences.effect(extra)
}

pub(super) fn copy(name: &QualifiedName, source: &QualifiedName, keyspace: &KeyspaceSchema) -> Effect {
    let Some(table) = keyspace.tables.get(&name.name) else { return Effect::Absent };
    if name.keyspace != source.keyspace {
        return Effect::Unknown { why: "the other table is in another keyspace" };
    }
    match keyspace.tables.get(&source.name) {
        Some(source) if source.columns == table.columns => Effect::There,
        Some(_) => Effect::OtherShape {
            expected: format!("the columns of {}", source.name),
            found: "other columns".to_owned(),
        },
        None => Effect::Unknown { why: "the other table is gone" },
    }
}

pub(super) fn add(columns: &[ColumnDefinition], table: &TableSchema) -> Effect {
    several(columns.iter().map(|column| {
        let kind = if column.is_static { "static" } else { "regular" };
        let expected = Expected { column_type: &column.column_type, kind, position: -1, order: "none" };
        let effect = match table.columns.get(&column.name) {
            None => Effect::Absent,
            Some(found) if expected.is(found, false) => Effect::There,
            Some(found) => Effect::OtherShape {
                expected: expected.describe(&column.name),
                found: describe(&column.name, found),
            },
        };
        (column.name.as_str(), effect)
    }))
}

/// A column as `system_schema.columns` will show it.
struct Expected<'a> {
    column_type: &'a CqlType,
    kind: &'static str,
    position: i32,
    order: &'static str,
}

impl<'a> Expected<'a> {
    fn new(column: &'a ColumnDefinition, create: &CreateTable) -> Self {
        let place = |names: &[String]| {
            let position = names.iter().position(|name| *name == column.name)?;
            i32::try_from(position).ok()
        };
        let column_type = &column.column_type;
        if let Some(position) = place(&create.partition_key) {
            Self { column_type, kind: "partition_key", position, order: "none" }
        } else if let Some(position) = place(&create.clustering) {
            let order = if create.descending.contains(&column.name) { "desc" } else { "asc" };
            Self { column_type, kind: "clustering", position, order }
        } else {
            let kind = if column.is_static { "static" } else { "regular" };
            Self { column_type, kind, position: -1, order: "none" }
        }
    }

    /// In a table with COMPACT STORAGE, a column outside of the key may be shown as static.
    fn is(&self, found: &ColumnSchema, compact_storage: bool) -> bool {
        let outside_key = |kind: &str| matches!(kind, "static" | "regular");
        let same_kind = self.kind == found.kind
            || (compact_storage && outside_key(self.kind) && outside_key(&found.kind));
        let same_place =
            self.position == found.position && self.order.eq_ignore_ascii_case(&found.clustering_order);
        same_kind && same_place && is_type(&found.column_type, self.column_type)
    }

    fn describe(&self, name: &str) -> String {
        let column_type = self.column_type.to_string();
        let shown = ColumnSchema {
            kind: self.kind.to_owned(),
            position: self.position,
            clustering_order: self.order.to_owned(),
            column_type,
        };
        describe(name, &shown)
    }
}

/// `b int clustering 0 desc`.
fn describe(name: &str, column: &ColumnSchema) -> String {
    let mut parts = vec![name.to_owned(), column.column_type.clone()];
    if column.kind != "regular" {
        parts.push(column.kind.clone());
    }
    if column.position >= 0 {
        parts.push(column.position.to_string());
    }
    if column.clustering_order != "none" {
        parts.push(column.clustering_order.clone());
    }
    parts.join(" ")
}
