//! The migrations that are run.

use std::sync::LazyLock;

use kandra_migrate::__private::Source;
use kandra_migrate::{Migration, Plan, Registry, Task, cql};

use crate::{backfill, holder, tenants};

/// The most tables that a measurement creates.
pub(crate) const TABLES_MAX: usize = 50;

/// What both the bare driver and a plan create.
pub(crate) fn create_table(keyspace: &str, n: usize) -> String {
    format!("CREATE TABLE {keyspace}.t{n} (id bigint PRIMARY KEY, name text, at timestamp)")
}

fn task(n: usize) -> Task {
    cql(create_table("${keyspace}", n))
}

fn one_table<const N: usize>() -> Plan {
    Plan::new([task(N)])
}

fn tables<const COUNT: usize>() -> Plan {
    Plan::new((0..COUNT).map(task))
}

fn migration(version: i64, name: &'static str, plan: fn() -> Plan) -> Migration {
    Migration::new(Source {
        version,
        name,
        checksum: name,
        also: &[],
        accept: &[],
        reaches_outside: None,
        out_of_order: false,
        after_start: false,
        file: file!(),
        line: line!(),
        module_path: module_path!(),
        files: &[],
        plan,
    })
}

/// A migration has a function for its plan, not a closure, and a name that lives as long as the process.
macro_rules! one_table_each {
    ($($n:literal)*) => { [$(migration($n + 1, concat!("table_", $n), one_table::<$n>)),*] };
}

static ONE_TABLE_EACH: LazyLock<[Migration; TABLES_MAX]> = LazyLock::new(|| {
    one_table_each!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34
        35 36 37 38 39 40 41 42 43 44 45 46 47 48 49)
});

static FIFTY_TABLES: LazyLock<Migration> =
    LazyLock::new(|| migration(1, "fifty_tables", tables::<TABLES_MAX>));

static TEN_TABLES: LazyLock<Migration> = LazyLock::new(|| migration(1, "ten_tables", tables::<10>));

static HELD: LazyLock<Migration> = LazyLock::new(|| migration(1, "held", holder::plan));

/// So many versions of one table each.
pub(crate) fn versions(count: usize) -> Registry {
    Registry::of(&ONE_TABLE_EACH[..count])
}

/// One version of ten tables, or of fifty.
pub(crate) fn one_version(quick: bool) -> Registry {
    Registry::of([if quick { &*TEN_TABLES } else { &*FIFTY_TABLES }])
}

static BACKFILLS: LazyLock<Vec<Migration>> = LazyLock::new(|| of("backfill", backfill::PLANS));

static OF_TENANTS: LazyLock<Vec<Migration>> = LazyLock::new(|| of("of_tenant", tenants::PLANS));

fn of(name: &'static str, plans: &[fn() -> Plan]) -> Vec<Migration> {
    plans.iter().zip(1..).map(|(plan, version)| migration(version, name, *plan)).collect()
}

/// One version for each pass of a backfill.
pub(crate) fn backfills() -> Registry {
    Registry::of(&*BACKFILLS)
}

/// What tenants have.
pub(crate) fn of_tenants() -> Registry {
    Registry::of(&*OF_TENANTS)
}

/// One version that a [`holder`] never finishes.
pub(crate) fn held() -> Registry {
    Registry::of([&*HELD])
}
