//! Functions and aggregates, which are told apart by their argument types too.

use super::difference::Differences;
use super::options::same_value;
use super::{Effect, is_field_type};
use crate::cql::{CqlType, CreateAggregate, CreateFunction};
use crate::schema::shape::{AggregateSchema, FunctionSchema, KeyspaceSchema};

pub(super) fn create(create: &CreateFunction, keyspace: &KeyspaceSchema) -> Effect {
    let types: Vec<CqlType> = create.arguments.iter().map(|(_, argument)| argument.clone()).collect();
    let Some(found) = find(&create.name.name, Some(&types), keyspace) else { return Effect::Absent };
    let names =
        |arguments: Vec<&String>| arguments.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let mut differences = Differences::default();
    differences.compare(
        "arguments",
        &names(create.arguments.iter().map(|(name, _)| name).collect()),
        &names(found.arguments.iter().map(|(name, _)| name).collect()),
    );
    if !is_field_type(&found.return_type, &create.return_type) {
        differences.compare("returns", &create.return_type.to_string(), &found.return_type);
    }
    differences.compare(
        "called on null",
        &create.called_on_null.to_string(),
        &found.called_on_null.to_string(),
    );
    differences.compare("language", &create.language, &found.language.to_ascii_lowercase());
    differences.compare("body", &create.body, &found.body);
    replaced(create.replace, differences)
}

/// What OR REPLACE finds in another shape it has not replaced yet.
fn replaced(replace: bool, differences: Differences) -> Effect {
    if replace && !differences.is_empty() { Effect::Absent } else { differences.effect(Vec::new()) }
}

pub(super) fn exists(name: &str, types: Option<&[CqlType]>, keyspace: &KeyspaceSchema) -> bool {
    find(name, types, keyspace).is_some()
}

fn find<'a>(
    name: &str,
    types: Option<&[CqlType]>,
    keyspace: &'a KeyspaceSchema,
) -> Option<&'a FunctionSchema> {
    keyspace.functions.iter().find(|function| {
        let found = function.arguments.iter().map(|(_, argument)| argument.as_str());
        function.name == name && are_types(found, types)
    })
}

fn are_types<'a>(found: impl ExactSizeIterator<Item = &'a str>, types: Option<&[CqlType]>) -> bool {
    types.is_none_or(|types| {
        found.len() == types.len() && found.zip(types).all(|(found, expected)| is_field_type(found, expected))
    })
}

pub(super) fn create_aggregate(create: &CreateAggregate, keyspace: &KeyspaceSchema) -> Effect {
    let Some(found) = find_aggregate(&create.name.name, Some(&create.argument_types), keyspace) else {
        return Effect::Absent;
    };
    let mut differences = Differences::default();
    differences.compare("state function", &create.state_function, &found.state_function);
    if !is_field_type(&found.state_type, &create.state_type) {
        differences.compare("state type", &create.state_type.to_string(), &found.state_type);
    }
    let name = |function: &Option<String>| function.clone().unwrap_or_else(|| "none".to_owned());
    differences.compare("final function", &name(&create.final_function), &name(&found.final_function));
    if !same_initial(create.initial.as_deref(), found.initial.as_deref()) {
        differences.compare("initial", &name(&create.initial), &name(&found.initial));
    }
    replaced(create.replace, differences)
}

/// The server prints the value in its own way, maps sorted and so on: only numbers can be compared.
fn same_initial(expected: Option<&str>, found: Option<&str>) -> bool {
    match (expected, found) {
        (Some(expected), Some(found)) => {
            let expected = &expected.replace("- ", "-");
            let is_number = |text: &str| text.parse::<f64>().is_ok();
            !is_number(expected) || !is_number(found) || same_value(expected, found)
        }
        (None | Some("null"), None) => true,
        (_, None) | (None, Some(_)) => false,
    }
}

pub(super) fn aggregate_exists(name: &str, types: Option<&[CqlType]>, keyspace: &KeyspaceSchema) -> bool {
    find_aggregate(name, types, keyspace).is_some()
}

fn find_aggregate<'a>(
    name: &str,
    types: Option<&[CqlType]>,
    keyspace: &'a KeyspaceSchema,
) -> Option<&'a AggregateSchema> {
    keyspace.aggregates.iter().find(|aggregate| {
        aggregate.name == name && are_types(aggregate.argument_types.iter().map(String::as_str), types)
    })
}
