//! Options that a statement names, against what the server made of them.

use std::collections::BTreeMap;

use super::difference::Differences;
use crate::cql::{OptionValue, Options};

/// How an option compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Same,
    Differs,
    /// The server does not have the option, or does not show it: `memtable = 'default'`, `cdc` where it is
    /// off on the node, and `extensions` are null.
    NotShown,
}

/// Notes the named options that have another value.
pub(super) fn differences(named: &Options, found: &Options, differences: &mut Differences) {
    for (name, expected) in named {
        let found = found.get(name);
        if let (Comparison::Differs, Some(found)) = (compare(name, expected, found), found) {
            differences.add(format!("{name} = {expected}"), format!("{name} = {found}"));
        }
    }
}

pub(super) fn compare(name: &str, expected: &OptionValue, found: Option<&OptionValue>) -> Comparison {
    let Some(found) = found.filter(|_| !is_not_comparable(name)) else { return Comparison::NotShown };
    let same = match (expected, found) {
        (OptionValue::Scalar(expected), OptionValue::Scalar(found)) => same_scalar(name, expected, found),
        (OptionValue::Map(expected), OptionValue::Map(found)) => same_map(name, expected, found),
        _ => false,
    };
    if same { Comparison::Same } else { Comparison::Differs }
}

/// The id is not a part of the shape; since Cassandra 4 the others are shown and have no meaning.
fn is_not_comparable(name: &str) -> bool {
    matches!(name, "id" | "extensions" | "read_repair_chance" | "dclocal_read_repair_chance")
}

fn same_scalar(name: &str, expected: &str, found: &str) -> bool {
    match name {
        "comment" => expected == found,
        "speculative_retry" | "additional_write_policy" => retry_policy(expected) == retry_policy(found),
        _ => same_value(expected, found),
    }
}

/// The entries that are named, each with its value; servers add their defaults.
fn same_map(name: &str, expected: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> bool {
    expected.iter().all(|(key, value)| match (key.as_str(), found.get(current_key(key))) {
        ("class" | "sstable_compression", Some(found)) => {
            short_class(value).eq_ignore_ascii_case(short_class(found))
        }
        ("sstable_compression", None) => value.is_empty(),
        (_, Some(found)) => same_value(value, found),
        // What is on is not shown.
        ("enabled", None) => value.eq_ignore_ascii_case("true"),
        // For each data centre that is not named.
        ("replication_factor", None) if name == "replication" => {
            let mut others =
                found.iter().filter(|(key, _)| *key != "class" && !expected.contains_key(*key)).peekable();
            others.peek().is_some() && others.all(|(_, found)| same_value(value, found))
        }
        (_, None) => false,
    })
}

/// What servers call today what had another name in Cassandra 2.
fn current_key(key: &str) -> &str {
    match key {
        "sstable_compression" => "class",
        "chunk_length_kb" => "chunk_length_in_kb",
        key => key,
    }
}

pub(super) fn same_value(expected: &str, found: &str) -> bool {
    expected.eq_ignore_ascii_case(found) || same_number(expected, found)
}

fn same_number(expected: &str, found: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok().map(f64::to_bits);
    number(expected).is_some() && number(expected) == number(found)
}

/// A class without its package; servers add it.
pub(super) fn short_class(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// `99PERCENTILE`, `99.0p` and so on are printed as `99p`, NONE as NEVER.
fn retry_policy(text: &str) -> String {
    let text = text.to_ascii_lowercase();
    let percentile = text.strip_suffix("percentile").or_else(|| text.strip_suffix('p'));
    let number = |text: &str| text.trim().parse::<f64>().ok();
    if let Some(percentile) = percentile.and_then(number) {
        return format!("{percentile}p");
    }
    if let Some(milliseconds) = text.strip_suffix("ms").and_then(number) {
        return format!("{milliseconds}ms");
    }
    if text == "none" { "never".to_owned() } else { text }
}
