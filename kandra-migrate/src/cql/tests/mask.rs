use crate::cql::mask;

#[test]
fn values_of_data_statements_are_hidden() {
    for (source, expected) in [
        ("INSERT INTO t (a) VALUES ('x')", "INSERT INTO t (a) VALUES ('…')"),
        ("INSERT INTO t (a, b) VALUES (1, -2.5)", "INSERT INTO t (a, b) VALUES (…, -…)"),
        ("UPDATE t SET a = 0xAB, b = $$x$$ WHERE c = 1h2m", "UPDATE t SET a = …, b = '…' WHERE c = …"),
        ("DELETE FROM t WHERE a = 123e4567-e89b-12d3-a456-426614174000", "DELETE FROM t WHERE a = …"),
        ("UPDATE t SET a = true, b = null", "UPDATE t SET a = true, b = null"),
        ("UPDATE t SET \"Name\" = ${x}", "UPDATE t SET \"Name\" = ${x}"),
        ("UPDATE t SET a = P1Y, b = P0001-02-03T04:05:06", "UPDATE t SET a = …, b = …"),
        ("SELECT a FROM t WHERE b = 'x' -- 'y'", "SELECT a FROM t WHERE b = '…' "),
        (
            "BEGIN BATCH INSERT INTO t (a) VALUES ('x'); APPLY BATCH",
            "BEGIN BATCH INSERT INTO t (a) VALUES ('…'); APPLY BATCH",
        ),
        (
            "BEGIN BATCH UPDATE t SET a = 'x' ; DELETE FROM t WHERE a = 'y' APPLY BATCH",
            "BEGIN BATCH UPDATE t SET a = '…' ; DELETE FROM t WHERE a = '…' APPLY BATCH",
        ),
        ("UPSERT 'x' 5", "UPSERT '…' …"),
        ("'x'", "'…'"),
    ] {
        assert_eq!(mask(source), expected, "{source:?}");
    }
}

#[test]
fn values_of_role_statements_are_hidden() {
    for (source, expected) in [
        (
            "CREATE ROLE r WITH PASSWORD = 'x' AND LOGIN = true",
            "CREATE ROLE r WITH PASSWORD = '…' AND LOGIN = true",
        ),
        ("ALTER USER r WITH PASSWORD 'x'", "ALTER USER r WITH PASSWORD '…'"),
        (
            "CREATE ROLE r WITH OPTIONS = {'a': 'b', 'c': 1}",
            "CREATE ROLE r WITH OPTIONS = {'…': '…', '…': …}",
        ),
        ("ADD IDENTITY 'x' TO ROLE 'r'", "ADD IDENTITY '…' TO ROLE '…'"),
        ("GRANT SELECT ON t TO 'r'", "GRANT SELECT ON t TO '…'"),
    ] {
        assert_eq!(mask(source), expected, "{source:?}");
    }
}

#[test]
fn schema_statements_are_shown_but_for_secrets_and_comments() {
    for (source, expected) in [
        ("CREATE TABLE t (a int) WITH comment = 'x'", "CREATE TABLE t (a int) WITH comment = 'x'"),
        ("CREATE TABLE t (a int -- 'x'\n) /* 'y' */;", "CREATE TABLE t (a int \n) ;"),
        (
            "ALTER TABLE t WITH compression = {'class': 'C', 'key_password': 'x'}",
            "ALTER TABLE t WITH compression = {'class': 'C', 'key_password': '…'}",
        ),
        (
            "CREATE TABLE t (password text, a int) WITH comment = 'x'",
            "CREATE TABLE t (password text, a int) WITH comment = 'x'",
        ),
        ("CREATE TYPE t (secret 'CustomType')", "CREATE TYPE t (secret '…')"),
        (
            "CREATE TABLE t (a int) INSERT INTO t (a) VALUES (5)",
            "CREATE TABLE t (a int) INSERT INTO t (a) VALUES (…)",
        ),
        (
            "CREATE TABLE t (a int); INSERT INTO t (a) VALUES (5); DROP TABLE t; SELECT 5",
            "CREATE TABLE t (a int); INSERT INTO t (a) VALUES (…); DROP TABLE t; SELECT …",
        ),
    ] {
        assert_eq!(mask(source), expected, "{source:?}");
    }
}

#[test]
fn what_cannot_be_read_is_hidden() {
    for (source, expected) in [
        ("INSERT INTO t (a) VALUES ('x", "INSERT INTO t (a) VALUES (…"),
        ("INSERT INTO t (a) VALUES (# 'x')", "INSERT INTO t (a) VALUES (…"),
        ("CREATE ROLE r WITH PASSWORD = # 'x'", "CREATE ROLE r WITH PASSWORD = …"),
        ("CREATE TABLE t (a #b int) WITH comment = 'x'", "CREATE TABLE t (a #b int) WITH comment = "),
        ("CREATE TABLE t (a int) WITH comment = 'x", "CREATE TABLE t (a int) WITH comment = …"),
        ("CREATE # ROLE r 5", "CREATE …"),
        ("# x", "…"),
        ("/* x", "…"),
        ("", ""),
    ] {
        assert_eq!(mask(source), expected, "{source:?}");
    }
}
