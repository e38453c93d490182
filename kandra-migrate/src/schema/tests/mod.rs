//! A keyspace as Cassandra 5.0.9 shows it, and statements that are compared with it.

mod drift;
mod keyspace;
mod objects;
mod roles;
mod table;

use std::collections::BTreeMap;

use super::probe::{Effect, observe};
use super::shape::{
    AggregateSchema, ColumnSchema, DroppedColumn, FunctionSchema, IndexSchema, KeyspaceSchema, TableSchema,
    ViewSchema,
};
use crate::cql::{OptionValue, Options, SchemaChange, one};

fn change(source: &str) -> SchemaChange {
    let found = one(source).unwrap_or_else(|error| panic!("{}", error.explain())).classify();
    assert_eq!(found.refused, None, "{source}");
    found.change.unwrap_or_else(|| panic!("{source} changes nothing"))
}

fn effect(source: &str) -> Effect {
    observe(&change(source), Some(&shop()))
}

fn is_there(sources: &[&str]) {
    for source in sources {
        assert_eq!(effect(source), Effect::There, "{source}");
    }
}

fn is_absent(sources: &[&str]) {
    for source in sources {
        assert_eq!(effect(source), Effect::Absent, "{source}");
    }
}

/// Each with what is expected and what is found.
fn is_other(sources: &[(&str, &str, &str)]) {
    for (source, expected, found) in sources {
        let other = Effect::OtherShape { expected: (*expected).to_owned(), found: (*found).to_owned() };
        assert_eq!(effect(source), other, "{source}");
    }
}

fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn shop() -> KeyspaceSchema {
    KeyspaceSchema {
        replication: map(&[
            ("class", "org.apache.cassandra.locator.NetworkTopologyStrategy"),
            ("datacenter1", "3"),
            ("datacenter2", "3"),
        ]),
        durable_writes: true,
        tables: BTreeMap::from([("t".to_owned(), table_t()), ("u".to_owned(), table_u())]),
        views: BTreeMap::from([("v".to_owned(), view_v()), ("all".to_owned(), view_all())]),
        types: BTreeMap::from([
            (
                "address".to_owned(),
                fields(&[("street", "text"), ("codes", "list<int>"), ("at", "frozen<tuple<int, text>>")]),
            ),
            ("Outer".to_owned(), fields(&[("x", "frozen<address>"), ("W w", "map<text, frozen<set<int>>>")])),
        ]),
        indexes: indexes(),
        functions: functions(),
        aggregates: aggregates(),
    }
}

fn fields(fields: &[(&str, &str)]) -> Vec<(String, String)> {
    fields.iter().map(|(name, field_type)| ((*name).to_owned(), (*field_type).to_owned())).collect()
}

/// Name, kind, position, order, type.
fn columns(rows: &[(&str, &str, i32, &str, &str)]) -> BTreeMap<String, ColumnSchema> {
    let column = |row: &(&str, &str, i32, &str, &str)| ColumnSchema {
        kind: row.1.to_owned(),
        position: row.2,
        clustering_order: row.3.to_owned(),
        column_type: row.4.to_owned(),
    };
    rows.iter().map(|row| (row.0.to_owned(), column(row))).collect()
}

fn table_options() -> Options {
    let scalar = |value: &str| OptionValue::Scalar(value.to_owned());
    let options = [
        ("additional_write_policy", scalar("50ms")),
        ("bloom_filter_fp_chance", scalar("0.01")),
        ("caching", OptionValue::Map(map(&[("keys", "ALL"), ("rows_per_partition", "NONE")]))),
        ("comment", scalar("It's")),
        (
            "compaction",
            OptionValue::Map(map(&[
                ("class", "org.apache.cassandra.db.compaction.LeveledCompactionStrategy"),
                ("max_threshold", "32"),
                ("min_threshold", "4"),
                ("sstable_size_in_mb", "10"),
            ])),
        ),
        (
            "compression",
            OptionValue::Map(map(&[
                ("chunk_length_in_kb", "64"),
                ("class", "org.apache.cassandra.io.compress.LZ4Compressor"),
            ])),
        ),
        ("crc_check_chance", scalar("1.0")),
        ("dclocal_read_repair_chance", scalar("0.0")),
        ("default_time_to_live", scalar("10")),
        ("extensions", OptionValue::Map(BTreeMap::new())),
        ("gc_grace_seconds", scalar("864000")),
        ("id", scalar("5bc52802-de25-35ed-aeab-188eecebb0aa")),
        ("read_repair", scalar("BLOCKING")),
        ("read_repair_chance", scalar("0.0")),
        ("speculative_retry", scalar("99p")),
    ];
    options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn table_t() -> TableSchema {
    TableSchema {
        columns: columns(&[
            ("a", "partition_key", 1, "none", "int"),
            ("b", "partition_key", 0, "none", "bigint"),
            ("c", "clustering", 0, "desc", "timestamp"),
            ("d", "clustering", 1, "asc", "text"),
            ("e", "static", -1, "none", "text"),
            ("f", "regular", -1, "none", "frozen<map<text, frozen<list<int>>>>"),
            ("g", "regular", -1, "none", "list<frozen<tuple<int, text>>>"),
            ("h", "regular", -1, "none", "vector<float, 3>"),
            ("i", "regular", -1, "none", "frozen<\"Outer\">"),
            ("J j", "regular", -1, "none", "address"),
        ]),
        dropped: BTreeMap::from([
            (
                "old".to_owned(),
                DroppedColumn { kind: Some("regular".to_owned()), column_type: "int".to_owned() },
            ),
            (
                "e".to_owned(),
                DroppedColumn { kind: Some("regular".to_owned()), column_type: "int".to_owned() },
            ),
        ]),
        flags: ["compound".to_owned()].into(),
        options: table_options(),
    }
}

fn table_u() -> TableSchema {
    TableSchema {
        columns: columns(&[("a", "partition_key", 0, "none", "int"), ("b", "regular", -1, "none", "blob")]),
        flags: ["dense".to_owned()].into(),
        ..TableSchema::default()
    }
}

fn view_v() -> ViewSchema {
    ViewSchema {
        base: "t".to_owned(),
        where_clause: "a IS NOT NULL AND b IS NOT NULL AND c > 5 AND d = 'it's' AND \"J j\" IS NOT NULL"
            .to_owned(),
        include_all_columns: false,
        table: TableSchema {
            columns: columns(&[
                ("J j", "partition_key", 0, "none", "text"),
                ("a", "clustering", 0, "desc", "int"),
                ("b", "clustering", 1, "asc", "bigint"),
                ("e", "regular", -1, "none", "text"),
            ]),
            options: table_options(),
            ..TableSchema::default()
        },
    }
}

fn view_all() -> ViewSchema {
    ViewSchema {
        base: "u".to_owned(),
        where_clause: "a IS NOT NULL AND b IS NOT NULL".to_owned(),
        include_all_columns: true,
        table: TableSchema {
            columns: columns(&[
                ("b", "partition_key", 0, "none", "blob"),
                ("a", "clustering", 0, "asc", "int"),
            ]),
            ..TableSchema::default()
        },
    }
}

fn indexes() -> BTreeMap<String, IndexSchema> {
    let index = |kind: &str, options: &[(&str, &str)]| IndexSchema {
        table: "t".to_owned(),
        kind: kind.to_owned(),
        options: map(options),
    };
    BTreeMap::from([
        ("by_f".to_owned(), index("COMPOSITES", &[("target", "full(f)")])),
        ("by_g".to_owned(), index("COMPOSITES", &[("target", "values(g)")])),
        ("t_e_idx".to_owned(), index("COMPOSITES", &[("target", "e")])),
        ("t_Jj_idx".to_owned(), index("COMPOSITES", &[("target", "\"J j\"")])),
        (
            "ann".to_owned(),
            index(
                "CUSTOM",
                &[("class_name", "sai"), ("similarity_function", "DOT_PRODUCT"), ("target", "h")],
            ),
        ),
        (
            "sasi".to_owned(),
            index(
                "CUSTOM",
                &[
                    ("class_name", "org.apache.cassandra.index.sasi.SASIIndex"),
                    ("mode", "CONTAINS"),
                    ("target", "d"),
                ],
            ),
        ),
    ])
}

fn functions() -> Vec<FunctionSchema> {
    let function = |arguments: &[(&str, &str)], body: &str, called_on_null| FunctionSchema {
        name: "f".to_owned(),
        arguments: fields(arguments),
        body: body.to_owned(),
        called_on_null,
        language: "java".to_owned(),
        return_type: "frozen<tuple<int, text>>".to_owned(),
    };
    vec![
        function(&[("a", "int"), ("B", "list<int>"), ("c", "address")], "return null;", true),
        function(&[("a", "int")], "return it's;", false),
    ]
}

fn aggregates() -> Vec<AggregateSchema> {
    vec![AggregateSchema {
        name: "g".to_owned(),
        argument_types: vec!["int".to_owned()],
        state_function: "f".to_owned(),
        state_type: "frozen<tuple<int, bigint>>".to_owned(),
        final_function: None,
        initial: Some("(0, 0)".to_owned()),
    }]
}
