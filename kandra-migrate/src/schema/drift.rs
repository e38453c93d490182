//! What differs between the schema that was stored and the one that is there, as the CQL that would lead back. Pure.

use super::script::option;
use super::snapshot::{Defined, Key, Snapshot};
use crate::cql::{
    ColumnDefinition, CqlType, CreateTable, ObjectKind, OptionValue, Options, SchemaChange, quote,
};

/// One object that is not as the last completed version left it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Difference {
    /// Its kind and name: `table users`.
    pub object: String,
    /// What is different: `column age was not there`.
    pub what: String,
    /// The CQL that would lead back, without a `;` at its end; a line that begins with `--` says why there is none, or
    /// what is to be thought about before. Nothing sends it.
    pub cql: Vec<String>,
}

/// Compares two texts of [`script`](super::script) of this keyspace, object by object. In the order in which the
/// statements can be sent: what is to go first, dependent objects before what they are of.
pub(crate) fn differences(stored: &str, now: &str, keyspace: &str) -> Vec<Difference> {
    let (stored, now) = (Snapshot::read(stored), Snapshot::read(now));
    let mut found = Vec::new();
    let came = now.in_order().into_iter().rev().filter(|(key, _)| !stored.objects.contains_key(*key));
    found.extend(came.map(|(key, _)| difference(key, "was not there".to_owned(), vec![drop(key)])));
    let options = changed(&stored.options, &now.options);
    if !options.is_empty() {
        let cql = vec![format!("ALTER KEYSPACE {} WITH {}", quote(keyspace), join(&options))];
        let what = format!("had {}", join(&options));
        found.push(Difference { object: format!("keyspace {keyspace}"), what, cql });
    }
    for (key, was) in stored.in_order() {
        let (what, cql) = match now.objects.get(key) {
            None => (vec!["is gone".to_owned()], vec![was.create()]),
            Some(is) => changes(key, was, is),
        };
        if !what.is_empty() {
            found.push(difference(key, what.join("; "), cql));
        }
    }
    let qualifier = format!("{}.\"", quote(keyspace));
    for cql in found.iter_mut().flat_map(|difference| &mut difference.cql) {
        *cql = cql.replace("${keyspace}.\"", &qualifier);
    }
    found
}

/// What has another value now, as it was. An option that one side does not have is another server's.
fn changed(stored: &Options, now: &Options) -> Vec<String> {
    let differs = |name: &String, value: &OptionValue| now.get(name).is_some_and(|now| now != value);
    stored
        .iter()
        .filter(|(name, value)| differs(name, value))
        .map(|(name, value)| option(name, value))
        .collect()
}

fn join(options: &[String]) -> String {
    options.join(" AND ")
}

type Changes = (Vec<String>, Vec<String>);

/// The name in a statement, with the keyspace still to be filled in.
fn name(key: &Key) -> String {
    let arguments = match key.kind() {
        ObjectKind::Function | ObjectKind::Aggregate => format!("({})", key.arguments),
        _ => String::new(),
    };
    format!("${{keyspace}}.{}{arguments}", quote(&key.name))
}

fn difference(key: &Key, what: String, cql: Vec<String>) -> Difference {
    let arguments = if key.arguments.is_empty() { String::new() } else { format!("({})", key.arguments) };
    Difference { object: format!("{} {}{arguments}", key.kind(), key.name), what, cql }
}

fn drop(key: &Key) -> String {
    format!("DROP {} {}", key.noun(), name(key))
}

fn changes(key: &Key, was: &Defined, is: &Defined) -> Changes {
    match (&was.change, &is.change) {
        (Some(SchemaChange::CreateTable(old)), Some(SchemaChange::CreateTable(new))) => {
            table(key, (was, old), (is, new))
        }
        (
            Some(SchemaChange::CreateType { fields: old, .. }),
            Some(SchemaChange::CreateType { fields: new, .. }),
        ) => fields(key, old, new),
        (Some(SchemaChange::CreateView(old)), Some(SchemaChange::CreateView(new)))
            if (&old.columns, &old.conditions, &old.partition_key, &old.clustering, &old.descending)
                == (&new.columns, &new.conditions, &new.partition_key, &new.clustering, &new.descending) =>
        {
            options(key, was, is)
        }
        _ if was.text == is.text => (Vec::new(), Vec::new()),
        (Some(SchemaChange::CreateFunction(_) | SchemaChange::CreateAggregate(_)), _) => {
            (vec!["is another one".to_owned()], vec![was.text.replacen("CREATE ", "CREATE OR REPLACE ", 1)])
        }
        _ => (vec!["is another one".to_owned()], vec![drop(key), was.create()]),
    }
}

fn options(key: &Key, was: &Defined, is: &Defined) -> Changes {
    let options = changed(&was.options, &is.options);
    if options.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let cql = format!("ALTER {} {} WITH {}", key.noun(), name(key), join(&options));
    (vec![format!("had {}", join(&options))], vec![cql])
}

fn table(key: &Key, was: (&Defined, &CreateTable), is: (&Defined, &CreateTable)) -> Changes {
    let ((was, old), (is, new)) = (was, is);
    if key_of(old) != key_of(new) {
        let cql = vec![
            "-- another primary key: this would take all rows with it".to_owned(),
            format!("-- {}", drop(key)),
            // A comment may have several lines.
            format!("-- {}", was.create().replace('\n', "\n-- ")),
        ];
        return (vec![format!("had {}", describe_key(old))], cql);
    }
    let (mut what, mut cql) = (Vec::new(), Vec::new());
    let name = name(key);
    for column in &old.columns {
        match find(&new.columns, &column.name) {
            None => {
                what.push(format!("column {} is gone", column.name));
                cql.push(format!("ALTER TABLE {name} ADD {}", define(column)));
            }
            Some(found) if found != column => {
                what.push(format!("column {} is {} and was {}", column.name, typed(found), typed(column)));
                cql.push(format!(
                    "-- no statement makes column {} of {name} {} again",
                    column.name,
                    typed(column)
                ));
            }
            Some(_) => {}
        }
    }
    for column in new.columns.iter().filter(|column| find(&old.columns, &column.name).is_none()) {
        what.push(format!("column {} was not there", column.name));
        cql.push(format!("ALTER TABLE {name} DROP {}", quote(&column.name)));
    }
    let (of_options, alter) = options(key, was, is);
    what.extend(of_options);
    cql.extend(alter);
    (what, cql)
}

fn fields(key: &Key, old: &[(String, CqlType)], new: &[(String, CqlType)]) -> Changes {
    let (mut what, mut cql) = (Vec::new(), Vec::new());
    let name = name(key);
    for (place, (field, field_type)) in old.iter().enumerate() {
        match new.get(place) {
            None => {
                what.push(format!("field {field} is gone"));
                cql.push(format!("ALTER TYPE {name} ADD {} {field_type}", quote(field)));
            }
            Some((found, found_type)) if found_type != field_type => {
                what.push(format!(
                    "field {found} is {found_type}, and {field} {field_type} was in its place"
                ));
                cql.push(format!("-- no statement makes field {field} of {name} {field_type} again"));
            }
            Some((found, _)) if found != field => {
                what.push(format!("field {found} was called {field}"));
                cql.push(format!("ALTER TYPE {name} RENAME {} TO {}", quote(found), quote(field)));
            }
            Some(_) => {}
        }
    }
    for (field, _) in new.iter().skip(old.len()) {
        what.push(format!("field {field} was not there"));
        cql.push(format!("-- no statement takes field {field} of {name} away"));
    }
    (what, cql)
}

fn find<'a>(columns: &'a [ColumnDefinition], name: &str) -> Option<&'a ColumnDefinition> {
    columns.iter().find(|column| column.name == name)
}

fn typed(column: &ColumnDefinition) -> String {
    format!("{}{}", column.column_type, if column.is_static { " static" } else { "" })
}

fn define(column: &ColumnDefinition) -> String {
    format!("{} {}", quote(&column.name), typed(column))
}

/// The columns of the key with their types, and which of them descend.
fn key_of(table: &CreateTable) -> (Vec<Option<&ColumnDefinition>>, usize, &[String], bool) {
    let names = table.partition_key.iter().chain(&table.clustering);
    let columns = names.map(|name| find(&table.columns, name)).collect();
    (columns, table.partition_key.len(), &table.descending, table.compact_storage)
}

fn describe_key(table: &CreateTable) -> String {
    let one = |name: &String| {
        let cql_type = find(&table.columns, name).map(typed).unwrap_or_default();
        let descends = if table.descending.contains(name) { " desc" } else { "" };
        format!("{name} {cql_type}{descends}")
    };
    let partition = table.partition_key.iter().map(one).collect::<Vec<_>>().join(", ");
    let parts: Vec<_> =
        std::iter::once(format!("({partition})")).chain(table.clustering.iter().map(one)).collect();
    format!("the primary key ({})", parts.join(", "))
}
