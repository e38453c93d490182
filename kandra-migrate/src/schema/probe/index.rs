//! CREATE INDEX.

use super::Effect;
use super::difference::Differences;
use super::options::{same_value, short_class};
use crate::cql::{CreateIndex, normalise};
use crate::schema::shape::{IndexSchema, KeyspaceSchema};

pub(super) fn create(create: &CreateIndex, keyspace: &KeyspaceSchema) -> Effect {
    let Some(name) = &create.name else {
        // The server made up a name; what it indexes, and how, tells it.
        let is_it = |index: &&IndexSchema| differences(create, index).is_empty();
        return if keyspace.indexes.values().any(|index| is_it(&index)) {
            Effect::There
        } else {
            Effect::Absent
        };
    };
    match keyspace.indexes.get(name) {
        Some(index) => differences(create, index).effect(Vec::new()),
        None => Effect::Absent,
    }
}

/// The name of the index that a statement has made, which may be one that the server made up.
pub(super) fn name(create: &CreateIndex, keyspace: &KeyspaceSchema) -> Option<String> {
    let is_it = |index: &IndexSchema| differences(create, index).is_empty();
    let made_up = || keyspace.indexes.iter().find(|(_, index)| is_it(index)).map(|(name, _)| name.clone());
    create.name.clone().or_else(made_up)
}

fn differences(create: &CreateIndex, index: &IndexSchema) -> Differences {
    let mut differences = Differences::default();
    differences.compare("on table", &create.table.name, &index.table);
    let target = index.options.get("target").map_or("", String::as_str);
    if !is_target(&create.target, target) {
        differences.compare("on", &create.target, target);
    }
    let found = class(index.options.get("class_name").map(String::as_str));
    differences.compare("using", &class(create.class.as_deref()), &found);
    for (key, value) in &create.options {
        let found = index.options.get(key).map_or("nothing", String::as_str);
        if !same_value(value, found) {
            differences.compare(key, value, found);
        }
    }
    differences
}

/// `c` of a collection is shown as `values(c)`.
fn is_target(expected: &str, found: &str) -> bool {
    let expected = normalise(expected);
    let found = normalise(found);
    found == expected || found == format!("values ( {expected} )")
}

/// One name for each class: no class, and the legacy one, are the servers' own index of old.
fn class(name: Option<&str>) -> String {
    match name.map(|name| short_class(name).to_ascii_lowercase()).as_deref() {
        None | Some("legacy_local_table") => "the default index".to_owned(),
        Some("sai") => "storageattachedindex".to_owned(),
        Some(name) => name.to_owned(),
    }
}
