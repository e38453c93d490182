//! What schema statements ask for.

use super::classified;
use crate::cql::{
    ColumnDefinition, CqlType, CreateIndex, CreateTable, ObjectKind, OptionValue, QualifiedName,
    SchemaChange, TableAction,
};

fn change(source: &str) -> SchemaChange {
    let found = classified(source);
    assert_eq!(found.refused, None, "{source}");
    found.change.unwrap_or_else(|| panic!("{source} changes nothing"))
}

fn table(source: &str) -> CreateTable {
    let SchemaChange::CreateTable(table) = change(source) else { panic!("{source} creates no table") };
    table
}

fn column(name: &str, column_type: &str, is_static: bool) -> ColumnDefinition {
    ColumnDefinition { name: name.to_owned(), column_type: CqlType::parse(column_type).unwrap(), is_static }
}

#[test]
fn a_table() {
    let found = table(
        "CREATE TABLE \"K\".T (a int, /* key */ B list<int>, \"C c\" text STATIC, key uuid, PRIMARY KEY ((a, KEY), b, \"C c\"),) \
         WITH CLUSTERING ORDER BY (b DESC, \"C c\" ASC) AND Comment = 'x' AND gc_grace_seconds = -5 AND cdc = true \
         AND compaction = {'class': 'C', 'n': 1, 'e': false} AND id = 5bc52802-de25-35ed-aeab-188eecebb0aa",
    );
    assert_eq!(found.name, QualifiedName::new("K", "t"));
    assert_eq!(
        found.columns,
        [
            column("a", "int", false),
            column("b", "list<int>", false),
            column("C c", "text", true),
            column("key", "uuid", false)
        ]
    );
    assert_eq!(found.partition_key, ["a", "key"]);
    assert_eq!(found.clustering, ["b", "C c"]);
    assert_eq!(found.descending, ["b"]);
    assert!(!found.compact_storage);
    let options: Vec<String> = found.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(
        options,
        [
            "cdc=true",
            "comment=x",
            "compaction={\"class\": \"C\", \"e\": \"false\", \"n\": \"1\"}",
            "gc_grace_seconds=-5",
            "id=5bc52802-de25-35ed-aeab-188eecebb0aa",
        ]
    );
}

#[test]
fn keys_of_tables() {
    for (definitions, partition_key, clustering) in [
        ("a int PRIMARY KEY", &["a"] as &[&str], &[] as &[&str]),
        ("PRIMARY KEY (a), a int", &["a"], &[]),
        ("a int, PRIMARY KEY ((a))", &["a"], &[]),
        ("a int, b int, PRIMARY KEY (a, b)", &["a"], &["b"]),
        ("a int, b int, PRIMARY KEY ((a, b))", &["a", "b"], &[]),
        ("primary int, key int, PRIMARY KEY (key, primary)", &["key"], &["primary"]),
        ("${column} int PRIMARY KEY", &["${column}"], &[]),
        ("a text MASKED WITH mask_inner(1, null) PRIMARY KEY", &["a"], &[]),
        ("a int CHECK a > 5 AND LENGTH(a) < 9, b text MASKED WITH DEFAULT, PRIMARY KEY (a)", &["a"], &[]),
    ] {
        let found = table(&format!("CREATE TABLE k.t ({definitions})"));
        assert_eq!(
            (found.partition_key.as_slice(), found.clustering.as_slice()),
            (&strings(partition_key)[..], &strings(clustering)[..]),
            "{definitions}"
        );
    }
    assert!(
        table("CREATE TABLE t (a int PRIMARY KEY) WITH COMPACT STORAGE AND comment = 'x'").compact_storage
    );
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn changes_of_a_table() {
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    for (source, expected) in [
        ("ADD a int", TableAction::Add(vec![column("a", "int", false)])),
        (
            "ADD IF NOT EXISTS (a int static, b text)",
            TableAction::Add(vec![column("a", "int", true), column("b", "text", false)]),
        ),
        ("ADD a text MASKED WITH DEFAULT", TableAction::Add(vec![column("a", "text", false)])),
        ("ADD static int static", TableAction::Add(vec![column("static", "int", true)])),
        ("DROP a", TableAction::Drop(strings(&["a"]))),
        ("DROP IF EXISTS (a, \"B\") USING TIMESTAMP 5", TableAction::Drop(strings(&["a", "B"]))),
        ("DROP compact", TableAction::Drop(strings(&["compact"]))),
        ("DROP COMPACT STORAGE", TableAction::DropCompactStorage),
        ("RENAME a TO b", TableAction::Rename(vec![pair("a", "b")])),
        ("RENAME IF EXISTS a TO b AND c TO d", TableAction::Rename(vec![pair("a", "b"), pair("c", "d")])),
        ("ALTER a MASKED WITH DEFAULT", TableAction::AlterColumn("a".to_owned())),
        (
            "WITH comment = 'x'",
            TableAction::With([("comment".to_owned(), OptionValue::Scalar("x".to_owned()))].into()),
        ),
    ] {
        let SchemaChange::AlterTable { name, action } =
            change(&format!("ALTER TABLE IF EXISTS k.t {source}"))
        else {
            panic!("{source} alters no table")
        };
        assert_eq!((name, action), (QualifiedName::new("k", "t"), expected), "{source}");
    }
}

fn index(source: &str) -> CreateIndex {
    let SchemaChange::CreateIndex(index) = change(source) else { panic!("{source} creates no index") };
    index
}

#[test]
fn indexes() {
    for (source, target, default_name) in [
        ("CREATE INDEX ON k.t (a)", "a", "t_a_idx"),
        ("CREATE INDEX ON k.t (\"H h\")", "\"H h\"", "t_Hh_idx"),
        ("CREATE INDEX ON k.t (\"h\")", "h", "t_h_idx"),
        ("CREATE INDEX ON k.t (KEYS(m))", "keys(m)", "t_m_idx"),
        ("CREATE INDEX ON k.t (keys)", "keys", "t_keys_idx"),
        ("CREATE INDEX ON k.t (full ( \"M\" ))", "full(\"M\")", "t_M_idx"),
        ("CREATE INDEX ON k.t ((a, b), c)", "( a , b ) , c", "t_abc_idx"),
    ] {
        let found = index(source);
        assert_eq!(found.target, target, "{source}");
        if !target.contains(',') {
            assert_eq!(found.default_name(), default_name, "{source}");
        }
    }
    let found =
        index("CREATE CUSTOM INDEX IF NOT EXISTS I ON k.t (a) USING 'sai' WITH OPTIONS = {'x': 'Y', 'n': 5}");
    assert_eq!(found.name.as_deref(), Some("i"));
    assert_eq!(found.class.as_deref(), Some("sai"));
    assert_eq!(found.options, [("n".to_owned(), "5".to_owned()), ("x".to_owned(), "Y".to_owned())].into());
}

#[test]
fn a_view() {
    let SchemaChange::CreateView(view) = change(
        "CREATE MATERIALIZED VIEW IF NOT EXISTS k.v AS SELECT a, \"B\" FROM k.t WHERE a IS NOT NULL AND \"c\" IN ('x', 'AND') \
         PRIMARY KEY ((\"B\", a), c) WITH CLUSTERING ORDER BY (c DESC) AND comment = 'x'",
    ) else {
        panic!("no view")
    };
    assert_eq!(view.columns, Some(strings(&["a", "B"])));
    assert_eq!(view.base, QualifiedName::new("k", "t"));
    assert_eq!(view.conditions, ["a is not null", "c in ( 'x' , 'AND' )"]);
    assert_eq!(
        (view.partition_key, view.clustering, view.descending),
        (strings(&["B", "a"]), strings(&["c"]), strings(&["c"]))
    );
    assert_eq!(view.options.len(), 1);
}

#[test]
fn functions_and_aggregates() {
    let SchemaChange::CreateFunction(function) = change(
        "CREATE OR REPLACE FUNCTION k.F (A int, \"B\" list<text>) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE Java AS 'it''s'",
    ) else {
        panic!("no function")
    };
    assert!(function.replace && !function.called_on_null);
    assert_eq!(
        function.arguments,
        [
            ("a".to_owned(), CqlType::parse("int").unwrap()),
            ("B".to_owned(), CqlType::parse("list<text>").unwrap()),
        ]
    );
    assert_eq!((function.language.as_str(), function.body.as_str()), ("java", "it's"));
    let SchemaChange::CreateAggregate(aggregate) =
        change("CREATE AGGREGATE k.g (int, text) SFUNC s STYPE tuple<int> FINALFUNC \"F\" INITCOND (0,  1)")
    else {
        panic!("no aggregate")
    };
    assert_eq!(aggregate.argument_types.len(), 2);
    assert_eq!(aggregate.final_function.as_deref(), Some("F"));
    assert_eq!(aggregate.initial.as_deref(), Some("( 0 , 1 )"));
    let SchemaChange::DropFunction { argument_types, .. } = change("DROP FUNCTION IF EXISTS k.f") else {
        panic!("no function")
    };
    assert_eq!(argument_types, None);
    let SchemaChange::DropAggregate { argument_types, .. } = change("DROP AGGREGATE k.f()") else {
        panic!("no aggregate")
    };
    assert_eq!(argument_types, Some(Vec::new()));
}

#[test]
fn every_change_knows_its_object_and_keyspace() {
    for (source, kind, keyspace) in [
        ("CREATE KEYSPACE K WITH durable_writes = true", ObjectKind::Keyspace, Some("k")),
        ("DROP SCHEMA IF EXISTS k", ObjectKind::Keyspace, Some("k")),
        ("DROP TABLE k.t", ObjectKind::Table, Some("k")),
        ("DROP TABLE t", ObjectKind::Table, None),
        ("CREATE TYPE k.t (a int)", ObjectKind::Type, Some("k")),
        ("ALTER TYPE k.t RENAME a TO b AND c TO d", ObjectKind::Type, Some("k")),
        ("CREATE INDEX ON k.t (a)", ObjectKind::Table, Some("k")),
        ("CREATE INDEX i ON k.t (a)", ObjectKind::Index, Some("k")),
        ("DROP INDEX IF EXISTS k.i", ObjectKind::Index, Some("k")),
        ("ALTER MATERIALIZED VIEW k.v WITH comment = 'x'", ObjectKind::View, Some("k")),
        ("DROP FUNCTION k.f(int)", ObjectKind::Function, Some("k")),
        ("DROP AGGREGATE k.f", ObjectKind::Aggregate, Some("k")),
        ("DROP TRIGGER IF EXISTS x ON k.t", ObjectKind::Trigger, Some("k")),
    ] {
        let change = change(source);
        assert_eq!(change.object().map(|object| object.kind), Some(kind), "{source}");
        assert_eq!(change.keyspace().as_deref(), keyspace, "{source}");
    }
    for source in ["CREATE ROLE r", "GRANT s TO r", "REVOKE SELECT ON KEYSPACE k FROM r"] {
        let object = change(source).object().map(|object| object.to_string());
        assert_eq!((object.as_deref(), change(source).keyspace()), (Some("role r"), None), "{source}");
    }
    assert_eq!(change("DROP IDENTITY 'spiffe://x'").object(), None);
}
