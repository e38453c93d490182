//! The text of a schema, read back.

use std::collections::BTreeMap;

use super::script::{OF_KEYSPACE, OF_TABLES, option, unescaped};
use crate::cql::{Object, ObjectKind, Options, SchemaChange, TableAction, one};

/// What a text of [`script`](super::script) says.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    /// Of the keyspace itself.
    pub(super) options: Options,
    pub(super) objects: BTreeMap<Key, Defined>,
}

/// An object: its kind, its name, and the types of its arguments if it is a function or aggregate. Ordered so that
/// what others are made of comes first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    rank: usize,
    pub(super) name: String,
    pub(super) arguments: String,
}

/// How it is defined.
#[derive(Debug)]
pub(super) struct Defined {
    /// The statement, without the options that all have.
    pub(super) text: String,
    /// `None` where it does not read: servers print the conditions of a view so that they need not be CQL.
    pub(super) change: Option<SchemaChange>,
    /// Of a table or view: all options.
    pub(super) options: Options,
}

const KINDS: [(ObjectKind, &str); 6] = [
    (ObjectKind::Type, "TYPE"),
    (ObjectKind::Table, "TABLE"),
    (ObjectKind::Index, "INDEX"),
    (ObjectKind::View, "MATERIALIZED VIEW"),
    (ObjectKind::Function, "FUNCTION"),
    (ObjectKind::Aggregate, "AGGREGATE"),
];

impl Key {
    pub(super) fn kind(&self) -> ObjectKind {
        KINDS[self.rank].0
    }

    /// The kind in a statement.
    pub(super) fn noun(&self) -> &'static str {
        KINDS[self.rank].1
    }

    fn of(change: Option<&SchemaChange>, text: &str) -> Option<Self> {
        let arguments = match change {
            Some(SchemaChange::CreateFunction(create)) => {
                create.arguments.iter().map(|(_, cql_type)| cql_type.to_string()).collect::<Vec<_>>()
            }
            Some(SchemaChange::CreateAggregate(create)) => {
                create.argument_types.iter().map(ToString::to_string).collect()
            }
            _ => Vec::new(),
        };
        let (kind, name) = match change.and_then(SchemaChange::object) {
            Some(Object { kind, name }) => (kind, name.name),
            None => unread(text)?,
        };
        let rank = KINDS.iter().position(|(of, _)| *of == kind)?;
        Some(Self { rank, name, arguments: arguments.join(", ") })
    }
}

/// Kind and name of a statement that does not read; both are where the writer of the text puts them.
fn unread(text: &str) -> Option<(ObjectKind, String)> {
    let rest = text.strip_prefix("CREATE ")?;
    let rest = rest.strip_prefix("CUSTOM ").unwrap_or(rest);
    let (kind, _) = KINDS.iter().find(|(_, noun)| rest.starts_with(noun))?;
    Some((*kind, rest.split('"').nth(1)?.to_owned()))
}

impl Snapshot {
    /// The objects, each behind those that it is made of.
    pub(super) fn in_order(&self) -> Vec<(&Key, &Defined)> {
        let is_type = |(key, _): &(&Key, &Defined)| key.kind() == ObjectKind::Type;
        let (mut types, others): (Vec<_>, Vec<_>) = self.objects.iter().partition(is_type);
        let mut ordered = Vec::new();
        while !types.is_empty() {
            let uses_another = |(of, defined): &(&Key, &Defined)| {
                types.iter().any(|(key, _)| key != of && defined.has_field_of(&key.name))
            };
            let (bound, free): (Vec<_>, Vec<_>) = types.iter().copied().partition(uses_another);
            // No server makes types that use each other; a text may say so.
            let stuck = free.is_empty();
            ordered.extend(if stuck { bound.clone() } else { free });
            types = if stuck { Vec::new() } else { bound };
        }
        ordered.extend(others);
        ordered
    }

    /// Lines that a newer release may have added are passed over.
    pub(super) fn read(text: &str) -> Self {
        let mut snapshot = Self::default();
        let mut common = Options::new();
        for line in text.lines().map(unescaped) {
            if let Some(options) = line.strip_prefix(OF_KEYSPACE) {
                snapshot.options = read_options(options);
            } else if let Some(options) = line.strip_prefix(OF_TABLES) {
                common = read_options(options);
            } else {
                let change = one(&line).ok().and_then(|statement| statement.classify().change);
                let Some(key) = Key::of(change.as_ref(), &line) else { continue };
                let mut options = Options::new();
                if matches!(key.kind(), ObjectKind::Table | ObjectKind::View) {
                    options.clone_from(&common);
                    options.extend(change.as_ref().and_then(options_of).cloned().unwrap_or_default());
                }
                snapshot.objects.insert(key, Defined { text: line, change, options });
            }
        }
        snapshot
    }
}

fn read_options(text: &str) -> Options {
    let change = one(&format!("ALTER TABLE t WITH {text}")).ok().and_then(|text| text.classify().change);
    match change {
        Some(SchemaChange::AlterTable { action: TableAction::With(options), .. }) => options,
        _ => Options::new(),
    }
}

fn options_of(change: &SchemaChange) -> Option<&Options> {
    match change {
        SchemaChange::CreateTable(table) => Some(&table.options),
        SchemaChange::CreateView(view) => Some(&view.options),
        _ => None,
    }
}

impl Defined {
    fn has_field_of(&self, type_name: &str) -> bool {
        let Some(SchemaChange::CreateType { fields, .. }) = &self.change else { return false };
        fields.iter().any(|(_, field_type)| field_type.mentions(type_name))
    }

    /// The whole statement that makes it.
    pub(super) fn create(&self) -> String {
        let own = self.change.as_ref().and_then(options_of);
        let missing = self.options.iter().filter(|(name, _)| own.is_some_and(|own| !own.contains_key(*name)));
        let missing: Vec<_> = missing.map(|(name, value)| option(name, value)).collect();
        let with = match &self.change {
            Some(SchemaChange::CreateTable(table)) => {
                table.compact_storage || !table.descending.is_empty() || !table.options.is_empty()
            }
            Some(SchemaChange::CreateView(view)) => !view.descending.is_empty() || !view.options.is_empty(),
            _ => false,
        };
        match (missing.is_empty(), with) {
            (true, _) => self.text.clone(),
            (false, true) => format!("{} AND {}", self.text, missing.join(" AND ")),
            (false, false) => format!("{} WITH {}", self.text, missing.join(" AND ")),
        }
    }
}
