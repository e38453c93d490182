use crate::cql::one;

const ID: &str = "5bc52802-de25-35ed-aeab-188eecebb0aa";

#[test]
fn creates_get_an_id() {
    for (source, tail) in [
        ("CREATE TABLE t (a int PRIMARY KEY)", " WITH ID = "),
        ("CREATE TABLE IF NOT EXISTS t (a int PRIMARY KEY) WITH comment = 'x'", " AND ID = "),
        ("CREATE TABLE t (a int, b int, PRIMARY KEY (a, b)) WITH CLUSTERING ORDER BY (b ASC)", " AND ID = "),
        ("CREATE TABLE t (a int PRIMARY KEY, b text MASKED WITH DEFAULT)", " WITH ID = "),
        ("CREATE TABLE t (\"with\" int PRIMARY KEY) -- with\n", " WITH ID = "),
        ("CREATE MATERIALIZED VIEW v AS SELECT * FROM t WHERE a IS NOT NULL PRIMARY KEY (a)", " WITH ID = "),
        (
            "CREATE MATERIALIZED VIEW v AS SELECT a FROM t PRIMARY KEY (a, b) WITH CLUSTERING ORDER BY (b DESC)",
            " AND ID = ",
        ),
    ] {
        let statement = one(source).unwrap();
        let with_id = statement.with_id(ID).unwrap_or_else(|| panic!("{source}"));
        assert_eq!(with_id.text(), format!("{}{tail}{ID}", statement.text()));
        assert_eq!(with_id.with_id(ID), None, "it has one now: {source}");
    }
}

#[test]
fn other_statements_do_not() {
    for source in [
        "CREATE TABLE t (a int PRIMARY KEY) WITH id = 5bc52802-de25-35ed-aeab-188eecebb0bb",
        "CREATE TABLE t (a int PRIMARY KEY) WITH comment = 'x' AND ID = '5bc52802-de25-35ed-aeab-188eecebb0bb'",
        "CREATE TABLE t LIKE u",
        "CREATE TABLE t (a int",
        "ALTER TABLE t ADD a int",
        "CREATE TYPE t (a int)",
        "INSERT INTO t (a) VALUES (1)",
    ] {
        assert_eq!(one(source).unwrap().with_id(ID), None, "{source}");
    }
}
