//! Migrations that are made of the statements of a script.

use kandra_migrate::__internals::cql::split;
use kandra_migrate::__private::Source;
use kandra_migrate::{Migration, Plan, Registry, cql};

/// A migration, as the macro would have left it.
#[must_use]
pub fn migration(version: i64, plan: fn() -> Plan) -> &'static Migration {
    Box::leak(Box::new(Migration::new(Source {
        version,
        name: "script",
        checksum: Box::leak(format!("k1:{version:064x}").into_boxed_str()),
        also: &[],
        accept: &[],
        reaches_outside: None,
        out_of_order: false,
        after_start: false,
        file: file!(),
        line: 1,
        module_path: "script",
        files: &[],
        plan,
    })))
}

/// A registry of these, as versions 1, 2, …
///
/// # Panics
/// Where there are more than an `i64` counts.
#[must_use]
pub fn registry(plans: &[fn() -> Plan]) -> Registry {
    let version = |n: usize| i64::try_from(n + 1).expect("a few versions");
    Registry::of(plans.iter().enumerate().map(|(n, plan)| migration(version(n), *plan)))
}

/// A task for each statement of a script.
///
/// # Panics
/// Where it is no script.
#[must_use]
pub fn plan(script: &str) -> Plan {
    let pieces = split(script).unwrap_or_else(|error| panic!("{}", error.explain()));
    Plan::new(pieces.into_iter().map(|piece| cql(piece.text)))
}
