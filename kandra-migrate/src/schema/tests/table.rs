use super::{change, effect, is_absent, is_other, is_there, shop};
use crate::schema::probe::{Effect, obstacle};

const COLUMNS: &str = "a int, b bigint, c timestamp, d varchar, e TEXT static, F frozen<map<text, list<int>>>, \
     g list<tuple<int,text>>, h vector<float,3>, i frozen<s.\"Outer\">, \"J j\" address, PRIMARY KEY ((b, a), c, d)";

#[test]
fn a_table_as_it_was_created() {
    for with in [
        "CLUSTERING ORDER BY (c DESC, d ASC)",
        "CLUSTERING ORDER BY (c DESC) AND ID = 5bc52802-de25-35ed-aeab-188eecebb0dd",
        "CLUSTERING ORDER BY (c DESC) AND comment = 'It''s' AND gc_grace_seconds = 864000",
        "CLUSTERING ORDER BY (c DESC) AND comment = $$It's$$ AND bloom_filter_fp_chance = 0.0100",
        "CLUSTERING ORDER BY (c DESC) AND compaction = {'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': 10}",
        "compression = {'sstable_compression': 'LZ4Compressor', 'chunk_length_kb': '64'} AND CLUSTERING ORDER BY (c DESC)",
        "compression = {'class': 'LZ4Compressor', 'enabled': true} AND CLUSTERING ORDER BY (c DESC)",
        "caching = {'keys': 'all'} AND CLUSTERING ORDER BY (c DESC) AND speculative_retry = '99.0PERCENTILE'",
        "additional_write_policy = '50MS' AND CLUSTERING ORDER BY (c DESC) AND default_time_to_live = 0010",
        "read_repair_chance = 0.5 AND CLUSTERING ORDER BY (c DESC) AND extensions = {'a': '0x01'} AND cdc = true",
    ] {
        is_there(&[&format!("CREATE TABLE IF NOT EXISTS s.t ({COLUMNS}) WITH {with}")]);
    }
}

#[test]
fn a_table_of_another_shape() {
    let order = "WITH CLUSTERING ORDER BY (c DESC)";
    let create = |columns: &str, with: &str| format!("CREATE TABLE s.t ({columns}) {with}");
    for (source, expected, found) in [
        (create(COLUMNS, ""), "c timestamp clustering 0 asc", "c timestamp clustering 0 desc"),
        (
            create(&COLUMNS.replace("a int", "a bigint"), order),
            "a bigint partition_key 1",
            "a int partition_key 1",
        ),
        (create(&COLUMNS.replace("TEXT static", "text"), order), "e text", "e text static"),
        (
            create(
                &COLUMNS.replace("list<tuple<", "list<frozen<tuple<").replace("text>>,", "bigint>>>,"),
                order,
            ),
            "g list<tuple<int, bigint>>",
            "g list<frozen<tuple<int, text>>>",
        ),
        (
            create(
                &COLUMNS.replace("F frozen<map<text, list<int>>>", "f map<text, frozen<list<int>>>"),
                order,
            ),
            "f map<text, list<int>>",
            "f frozen<map<text, frozen<list<int>>>>",
        ),
        (
            create(&COLUMNS.replace("h vector<float,3>", "h vector<float,4>"), order),
            "h vector<float, 4>",
            "h vector<float, 3>",
        ),
        (create(&COLUMNS.replace("\"Outer\"", "Outer"), order), "i frozen<outer>", "i frozen<\"Outer\">"),
        (
            create(&COLUMNS.replace("((b, a), c, d)", "((a, b), c, d)"), order),
            "a int partition_key 0, b bigint partition_key 1",
            "a int partition_key 1, b bigint partition_key 0",
        ),
        (
            create(&COLUMNS.replace("((b, a), c, d)", "((b, a, c), d)"), ""),
            "c timestamp partition_key 2, d text clustering 0 asc",
            "c timestamp clustering 0 desc, d text clustering 1 asc",
        ),
        (create(&COLUMNS.replace("e TEXT", "new int, e TEXT"), order), "new int", "no column new"),
        (create(COLUMNS, &format!("{order} AND comment = 'it''s'")), "comment = it's", "comment = It's"),
        (
            create(COLUMNS, &format!("{order} AND gc_grace_seconds = 0")),
            "gc_grace_seconds = 0",
            "gc_grace_seconds = 864000",
        ),
        (
            create(COLUMNS, &format!("{order} AND caching = {{'keys': 'NONE'}}")),
            "caching = {\"keys\": \"NONE\"}",
            "caching = {\"keys\": \"ALL\", \"rows_per_partition\": \"NONE\"}",
        ),
    ] {
        is_other(&[(&source, expected, found)]);
    }
    is_other(&[("CREATE TABLE s.v (a int PRIMARY KEY)", "table v", "materialized view v")]);
    is_absent(&["CREATE TABLE s.new (a int PRIMARY KEY)"]);
}

#[test]
fn a_table_that_has_grown() {
    let without = COLUMNS.replace("h vector<float,3>, ", "").replace("e TEXT static, ", "");
    assert_eq!(
        effect(&format!("CREATE TABLE s.t ({without}) WITH CLUSTERING ORDER BY (c DESC)")),
        Effect::Grown { extra: vec!["e".to_owned(), "h".to_owned()] }
    );
    is_there(&["CREATE TABLE s.u (a int PRIMARY KEY) WITH COMPACT STORAGE"]);
}

#[test]
fn copies() {
    is_absent(&["CREATE TABLE s.new LIKE s.t"]);
    is_other(&[("CREATE TABLE s.u LIKE s.t", "the columns of t", "other columns")]);
    assert!(matches!(effect("CREATE TABLE s.u LIKE other.t"), Effect::Unknown { .. }));
}

#[test]
fn added_columns() {
    is_there(&[
        "ALTER TABLE s.t ADD e varchar static",
        "ALTER TABLE s.t ADD (f frozen<map<text, frozen<list<int>>>>, \"J j\" address)",
        "ALTER TABLE s.t ADD IF NOT EXISTS h vector<float, 3>",
    ]);
    is_absent(&[
        "ALTER TABLE s.t ADD new int",
        "ALTER TABLE s.t ADD (new int, newer int)",
        "ALTER TABLE s.none ADD a int",
    ]);
    assert_eq!(
        effect("ALTER TABLE s.t ADD (new int, e text static)"),
        Effect::Partial { there: vec!["e".to_owned()], absent: vec!["new".to_owned()] }
    );
    is_other(&[
        ("ALTER TABLE s.t ADD IF NOT EXISTS e text", "e text", "e text static"),
        ("ALTER TABLE s.t ADD (new int, h vector<float, 2>)", "h vector<float, 2>", "h vector<float, 3>"),
        ("ALTER TABLE s.t ADD c timestamp", "c timestamp", "c timestamp clustering 0 desc"),
    ]);
}

#[test]
fn a_dropped_column_comes_back_only_as_it_was() {
    let obstacle = |source: &str| obstacle(&change(source), &shop());
    assert_eq!(obstacle("ALTER TABLE s.t ADD old int"), None);
    assert_eq!(obstacle("ALTER TABLE s.t ADD new int"), None);
    assert_eq!(obstacle("ALTER TABLE s.t ADD e text static"), None, "it is there, whatever it was before");
    assert_eq!(
        obstacle("ALTER TABLE s.t ADD (new int, old bigint)").as_deref(),
        Some("column old was dropped as regular int; it cannot come back as regular bigint")
    );
    assert_eq!(
        obstacle("ALTER TABLE s.t ADD old int static").as_deref(),
        Some("column old was dropped as regular int; it cannot come back as static int")
    );
}

#[test]
fn dropped_columns_and_tables() {
    is_there(&[
        "ALTER TABLE s.t DROP old",
        "ALTER TABLE s.t DROP (old, older) USING TIMESTAMP 5",
        "DROP TABLE s.none",
    ]);
    is_absent(&[
        "ALTER TABLE s.t DROP e",
        "ALTER TABLE s.t DROP IF EXISTS (e, \"J j\")",
        "DROP TABLE IF EXISTS s.t",
    ]);
    assert_eq!(
        effect("ALTER TABLE s.t DROP (old, e)"),
        Effect::Partial { there: vec!["old".to_owned()], absent: vec!["e".to_owned()] }
    );
}

#[test]
fn renamed_columns() {
    is_there(&["ALTER TABLE s.t RENAME x TO a", "ALTER TABLE s.t RENAME x TO a AND y TO b"]);
    is_absent(&["ALTER TABLE s.t RENAME a TO x", "ALTER TABLE s.t RENAME a TO x AND b TO y"]);
    is_other(&[
        ("ALTER TABLE s.t RENAME a TO b", "b and no a", "both"),
        ("ALTER TABLE s.t RENAME x TO y", "y or x", "neither"),
    ]);
    assert_eq!(
        effect("ALTER TABLE s.t RENAME x TO a AND b TO y"),
        Effect::Partial { there: vec!["a".to_owned()], absent: vec!["y".to_owned()] }
    );
}

#[test]
fn altered_options() {
    is_there(&[
        "ALTER TABLE s.t WITH default_time_to_live = 10",
        "ALTER TABLE s.t WITH speculative_retry = '99PERCENTILE' AND compression = {'class': 'LZ4Compressor'}",
        "ALTER MATERIALIZED VIEW s.v WITH gc_grace_seconds = 864000",
    ]);
    is_absent(&[
        "ALTER TABLE s.t WITH default_time_to_live = 11",
        "ALTER TABLE s.t WITH default_time_to_live = 10 AND comment = 'new'",
        "ALTER TABLE s.t WITH compression = {'enabled': false}",
        "ALTER TABLE s.t WITH cdc = true AND comment = 'new'",
        "ALTER MATERIALIZED VIEW s.v WITH gc_grace_seconds = 1",
        "ALTER MATERIALIZED VIEW s.none WITH gc_grace_seconds = 1",
    ]);
    for source in ["ALTER TABLE s.t WITH cdc = true", "ALTER TABLE s.t WITH extensions = {'a': '0x01'}"] {
        assert!(matches!(effect(source), Effect::Unknown { .. }), "{source}");
    }
}

#[test]
fn other_changes_of_tables() {
    is_there(&["ALTER TABLE s.t DROP COMPACT STORAGE"]);
    is_absent(&["ALTER TABLE s.u DROP COMPACT STORAGE"]);
    for source in ["ALTER TABLE s.t ALTER e DROP MASKED", "CREATE TRIGGER x ON s.t USING 'C'"] {
        assert!(matches!(effect(source), Effect::Unknown { .. }), "{source}");
    }
}
