//! CREATE MATERIALIZED VIEW.

use std::collections::BTreeSet;

use super::difference::Differences;
use super::{Effect, options};
use crate::cql::{CreateView, conditions};
use crate::schema::shape::{ColumnSchema, KeyspaceSchema, ViewSchema};

pub(super) fn create(create: &CreateView, keyspace: &KeyspaceSchema) -> Effect {
    let name = &create.name.name;
    let Some(view) = keyspace.views.get(name) else {
        return if keyspace.tables.contains_key(name) {
            Effect::OtherShape {
                expected: format!("materialized view {name}"),
                found: format!("table {name}"),
            }
        } else {
            Effect::Absent
        };
    };
    let mut differences = Differences::default();
    differences.compare("of table", &create.base.name, &view.base);
    differences.compare("key", &expected_key(create), &found_key(view));
    if !is_where(&create.conditions, &view.where_clause) {
        differences.compare("where", &create.conditions.join(" and "), &view.where_clause);
    }
    differences.compare("columns", &expected_columns(create), &found_columns(view));
    options::differences(&create.options, &view.table.options, &mut differences);
    differences.effect(Vec::new())
}

/// Cassandra prints a quote in a string as it is, so what it prints need not be CQL.
fn is_where(expected: &[String], found: &str) -> bool {
    let squeezed = |text: &str| {
        let without = |c: &char| !c.is_whitespace() && !matches!(c, '\'' | '"');
        text.to_lowercase().chars().filter(without).collect::<String>()
    };
    listed(expected.iter().cloned()) == listed(conditions(found))
        || squeezed(&expected.join(" and ")) == squeezed(found)
}

/// `(a, b), c desc`.
fn key(partition_key: &[&str], clustering: &[(&str, bool)]) -> String {
    let mut parts = vec![format!("({})", partition_key.join(", "))];
    parts.extend(
        clustering.iter().map(|(name, descends)| format!("{name}{}", if *descends { " desc" } else { "" })),
    );
    parts.join(", ")
}

fn expected_key(create: &CreateView) -> String {
    let partition_key: Vec<&str> = create.partition_key.iter().map(String::as_str).collect();
    let clustering: Vec<(&str, bool)> =
        create.clustering.iter().map(|name| (name.as_str(), create.descending.contains(name))).collect();
    key(&partition_key, &clustering)
}

fn found_key(view: &ViewSchema) -> String {
    let of_kind = |kind: &str| {
        let mut columns: Vec<(&String, &ColumnSchema)> =
            view.table.columns.iter().filter(|(_, column)| column.kind == kind).collect();
        columns.sort_by_key(|(_, column)| column.position);
        columns
    };
    let partition_key: Vec<&str> =
        of_kind("partition_key").into_iter().map(|(name, _)| name.as_str()).collect();
    let clustering: Vec<(&str, bool)> = of_kind("clustering")
        .into_iter()
        .map(|(name, column)| (name.as_str(), column.clustering_order.eq_ignore_ascii_case("desc")))
        .collect();
    key(&partition_key, &clustering)
}

fn expected_columns(create: &CreateView) -> String {
    let Some(columns) = &create.columns else { return "*".to_owned() };
    listed([columns, &create.partition_key, &create.clustering].into_iter().flatten().cloned())
}

fn found_columns(view: &ViewSchema) -> String {
    if view.include_all_columns { "*".to_owned() } else { listed(view.table.columns.keys().cloned()) }
}

/// Sorted, since the server keeps no order.
fn listed(parts: impl IntoIterator<Item = String>) -> String {
    let parts: BTreeSet<String> = parts.into_iter().collect();
    parts.into_iter().collect::<Vec<_>>().join(", ")
}
