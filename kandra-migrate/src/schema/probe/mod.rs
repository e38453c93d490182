//! Whether the effect of a schema statement is there, judged by `system_schema`, of a role statement by the tables of
//! roles, and not by error texts.
//!
//! Statements with IF (NOT) EXISTS are judged like those without: over an object of another shape they do
//! nothing and say nothing.

mod difference;
mod function;
mod index;
mod options;
mod role;
mod table;
mod view;

use std::fmt;

use self::difference::Differences;
use self::options::Comparison;
pub(crate) use self::role::observe_role;
use super::shape::KeyspaceSchema;
use crate::cql::{CqlType, Options, QualifiedName, SchemaChange, TableAction};

/// What can be seen of a statement's effect. Dropping has its effect when the object is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// As the statement makes it.
    There,
    /// As the statement makes it, and added to since: what it made is there, with these columns or fields
    /// more.
    Grown {
        /// Their names.
        extra: Vec<String>,
    },
    /// Nothing of it.
    Absent,
    /// Of several columns or fields, some. A server does all or nothing, so somebody else was here.
    Partial {
        /// For which the effect is there.
        there: Vec<String>,
        /// For which it is not.
        absent: Vec<String>,
    },
    /// Something else is in its place; both list only what differs.
    OtherShape {
        /// What the statement makes.
        expected: String,
        /// What there is.
        found: String,
    },
    /// The server's tables do not show it.
    Unknown {
        /// Why not.
        why: &'static str,
    },
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::There => f.write_str("the effect is there"),
            Self::Grown { extra } => write!(f, "the effect is there, and more: {}", extra.join(", ")),
            Self::Absent => f.write_str("the effect is not there"),
            Self::Partial { there, absent } => {
                write!(f, "the effect is there for {}, not for {}", there.join(", "), absent.join(", "))
            }
            Self::OtherShape { expected, found } => write!(f, "expected {expected}; found {found}"),
            Self::Unknown { why } => write!(f, "the effect cannot be seen: {why}"),
        }
    }
}

/// Compares a statement, its variables rendered, with the keyspace that it is about; `None` if there is no
/// such keyspace.
#[must_use]
pub fn observe(change: &SchemaChange, keyspace: Option<&KeyspaceSchema>) -> Effect {
    let Some(keyspace) = keyspace else { return without_keyspace(change) };
    match change {
        SchemaChange::CreateKeyspace { options, .. } => create_keyspace(options, keyspace),
        SchemaChange::AlterKeyspace { options, .. } => with_options(options, &keyspace_options(keyspace)),
        SchemaChange::DropKeyspace { .. } => Effect::Absent,
        SchemaChange::CreateTable(create) => table::create(create, keyspace),
        SchemaChange::CopyTable { name, source } => table::copy(name, source, keyspace),
        SchemaChange::AlterTable { name, action } => alter_table(name, action, keyspace),
        SchemaChange::DropTable { name } => absent(keyspace.tables.contains_key(&name.name)),
        SchemaChange::CreateType { name, fields } => create_type(&name.name, fields, keyspace),
        SchemaChange::AddField { name, field, field_type } => {
            add_field(&name.name, field, field_type, keyspace)
        }
        SchemaChange::RenameFields { name, renames } => match keyspace.types.get(&name.name) {
            Some(fields) => rename(renames, |name| fields.iter().any(|(field, _)| field == name)),
            None => Effect::Absent,
        },
        SchemaChange::DropType { name } => absent(keyspace.types.contains_key(&name.name)),
        SchemaChange::CreateIndex(create) => index::create(create, keyspace),
        SchemaChange::DropIndex { name } => absent(keyspace.indexes.contains_key(&name.name)),
        SchemaChange::CreateView(create) => view::create(create, keyspace),
        SchemaChange::AlterView { name, options } => match keyspace.views.get(&name.name) {
            Some(view) => with_options(options, &view.table.options),
            None => Effect::Absent,
        },
        SchemaChange::DropView { name } => absent(keyspace.views.contains_key(&name.name)),
        SchemaChange::CreateFunction(create) => function::create(create, keyspace),
        SchemaChange::DropFunction { name, argument_types } => {
            absent(function::exists(&name.name, argument_types.as_deref(), keyspace))
        }
        SchemaChange::CreateAggregate(create) => function::create_aggregate(create, keyspace),
        SchemaChange::DropAggregate { name, argument_types } => {
            absent(function::aggregate_exists(&name.name, argument_types.as_deref(), keyspace))
        }
        SchemaChange::AlterFieldType { .. } => {
            Effect::Unknown { why: "no server changes the type of a field" }
        }
        SchemaChange::Trigger { .. } => Effect::Unknown { why: "triggers are not compared" },
        SchemaChange::Role(_) => Effect::Unknown { why: "roles are not in system_schema" },
    }
}

/// Why the server will refuse a statement whose effect is absent, as far as the schema tells: a column that
/// was dropped comes back only with its type and kind. (`ScyllaDB` is less strict about it.)
#[must_use]
pub fn obstacle(change: &SchemaChange, keyspace: &KeyspaceSchema) -> Option<String> {
    let SchemaChange::AlterTable { name, action: TableAction::Add(columns) } = change else { return None };
    let table = keyspace.tables.get(&name.name)?;
    columns.iter().filter(|column| !table.columns.contains_key(&column.name)).find_map(|column| {
        let dropped = table.dropped.get(&column.name)?;
        let kind = if column.is_static { "static" } else { "regular" };
        let same_kind = dropped.kind.as_deref().is_none_or(|dropped| dropped == kind);
        if same_kind && is_type(&dropped.column_type, &column.column_type) {
            return None;
        }
        let was = dropped.kind.as_deref().unwrap_or("regular");
        Some(format!(
            "column {} was dropped as {was} {}; it cannot come back as {kind} {}",
            column.name, dropped.column_type, column.column_type
        ))
    })
}

/// The name of the index that a statement has made; `None` for another statement, or where there is no such index.
pub(crate) fn index_name(change: &SchemaChange, keyspace: &KeyspaceSchema) -> Option<String> {
    match change {
        SchemaChange::CreateIndex(create) => index::name(create, keyspace),
        _ => None,
    }
}

fn without_keyspace(change: &SchemaChange) -> Effect {
    match change {
        SchemaChange::DropKeyspace { .. }
        | SchemaChange::DropTable { .. }
        | SchemaChange::DropType { .. }
        | SchemaChange::DropIndex { .. }
        | SchemaChange::DropView { .. }
        | SchemaChange::DropFunction { .. }
        | SchemaChange::DropAggregate { .. } => Effect::There,
        SchemaChange::Role(_) => Effect::Unknown { why: "roles are not in system_schema" },
        _ => Effect::Absent,
    }
}

/// The effect of dropping something that is there, or not.
fn absent(is_there: bool) -> Effect {
    if is_there { Effect::Absent } else { Effect::There }
}

fn keyspace_options(keyspace: &KeyspaceSchema) -> Options {
    use crate::cql::OptionValue::{Map, Scalar};
    Options::from([
        ("replication".to_owned(), Map(keyspace.replication.clone())),
        ("durable_writes".to_owned(), Scalar(keyspace.durable_writes.to_string())),
    ])
}

fn create_keyspace(options: &Options, keyspace: &KeyspaceSchema) -> Effect {
    let mut differences = Differences::default();
    options::differences(options, &keyspace_options(keyspace), &mut differences);
    differences.effect(Vec::new())
}

/// The effect of setting options: all of them at once, on something that is there in any case.
fn with_options(named: &Options, found: &Options) -> Effect {
    let comparisons: Vec<Comparison> =
        named.iter().map(|(name, value)| options::compare(name, value, found.get(name))).collect();
    if comparisons.contains(&Comparison::Differs) {
        Effect::Absent
    } else if comparisons.contains(&Comparison::NotShown) {
        Effect::Unknown { why: "the server does not show an option that is set" }
    } else {
        Effect::There
    }
}

fn alter_table(name: &QualifiedName, action: &TableAction, keyspace: &KeyspaceSchema) -> Effect {
    let Some(table) = keyspace.tables.get(&name.name) else { return Effect::Absent };
    match action {
        TableAction::Add(columns) => table::add(columns, table),
        TableAction::Drop(columns) => several(
            columns.iter().map(|column| (column.as_str(), absent(table.columns.contains_key(column)))),
        ),
        TableAction::Rename(renames) => rename(renames, |column| table.columns.contains_key(column)),
        TableAction::With(options) => with_options(options, &table.options),
        TableAction::DropCompactStorage => {
            let is_plain = table.flags.contains("compound")
                && ["dense", "super"].iter().all(|flag| !table.flags.contains(*flag));
            absent(!is_plain)
        }
        TableAction::AlterType(_) => Effect::Unknown { why: "no server changes the type of a column" },
        TableAction::AlterColumn(_) => Effect::Unknown { why: "masks and constraints are not compared" },
    }
}

fn create_type(name: &str, fields: &[(String, CqlType)], keyspace: &KeyspaceSchema) -> Effect {
    let Some(found) = keyspace.types.get(name) else { return Effect::Absent };
    let mut differences = Differences::default();
    for (position, (field, field_type)) in fields.iter().enumerate() {
        let place = found.get(position);
        if !place.is_some_and(|(name, found_type)| name == field && is_field_type(found_type, field_type)) {
            let found = place.map(|(name, found_type)| format!("{name} {found_type}"));
            differences
                .add(format!("{field} {field_type}"), found.unwrap_or_else(|| format!("no field {field}")));
        }
    }
    let extra = found.iter().skip(fields.len()).map(|(name, _)| name.clone()).collect();
    differences.effect(extra)
}

fn add_field(name: &str, field: &str, field_type: &CqlType, keyspace: &KeyspaceSchema) -> Effect {
    let fields = keyspace.types.get(name);
    let Some((_, found)) = fields.and_then(|fields| fields.iter().find(|(name, _)| name == field)) else {
        return Effect::Absent;
    };
    if is_field_type(found, field_type) {
        return Effect::There;
    }
    Effect::OtherShape { expected: format!("{field} {field_type}"), found: format!("{field} {found}") }
}

fn rename(renames: &[(String, String)], is_there: impl Fn(&str) -> bool) -> Effect {
    several(renames.iter().map(|(from, to)| {
        let effect = match (is_there(from), is_there(to)) {
            (false, true) => Effect::There,
            (true, false) => Effect::Absent,
            (true, true) => {
                Effect::OtherShape { expected: format!("{to} and no {from}"), found: "both".to_owned() }
            }
            (false, false) => {
                Effect::OtherShape { expected: format!("{to} or {from}"), found: "neither".to_owned() }
            }
        };
        (to.as_str(), effect)
    }))
}

/// The effect of a statement that does one thing to several columns or fields.
fn several<'a>(effects: impl Iterator<Item = (&'a str, Effect)>) -> Effect {
    let mut there = Vec::new();
    let mut absent = Vec::new();
    let mut differences = Differences::default();
    for (name, effect) in effects {
        match effect {
            Effect::OtherShape { expected, found } => differences.add(expected, found),
            Effect::There => there.push(name.to_owned()),
            _ => absent.push(name.to_owned()),
        }
    }
    if !differences.is_empty() {
        return differences.effect(Vec::new());
    }
    match (there.is_empty(), absent.is_empty()) {
        (_, true) => Effect::There,
        (true, false) => Effect::Absent,
        (false, false) => Effect::Partial { there, absent },
    }
}

/// Whether a column of `system_schema` has this type.
fn is_type(found: &str, expected: &CqlType) -> bool {
    CqlType::parse(found).is_ok_and(|found| found == *expected)
}

/// Whether a field or an argument has this type; servers differ in how they print `frozen` there.
fn is_field_type(found: &str, expected: &CqlType) -> bool {
    CqlType::parse(found).is_ok_and(|found| found.is_same_unfrozen(expected))
}
