use super::classified;
use crate::cql::{CqlErrorKind, Kind, NotIdempotent, Refusal};

#[test]
fn kinds() {
    use Kind::{Conditional, Counter, Data, Forbidden, Read, Role, Schema};
    for (source, kind) in [
        ("CREATE KEYSPACE k WITH replication = {'class': 'C'}", Schema),
        ("create schema if not exists k with durable_writes = false", Schema),
        ("CREATE TABLE t (a int PRIMARY KEY)", Schema),
        ("CREATE COLUMNFAMILY t (a int PRIMARY KEY)", Schema),
        ("ALTER TABLE t ADD a int", Schema),
        ("DROP TABLE IF EXISTS t", Schema),
        ("CREATE TYPE t (a int)", Schema),
        ("CREATE CUSTOM INDEX ON t (a) USING 'C'", Schema),
        ("CREATE TRIGGER x ON t USING 'C'", Schema),
        ("DROP AGGREGATE f(int)", Schema),
        ("INSERT INTO t (a) VALUES (1)", Data),
        ("UPDATE t USING TTL 5 AND TIMESTAMP 6 SET a = 1 WHERE b = 2", Data),
        ("DELETE a, b['x'], c.d FROM t USING TIMESTAMP 5 WHERE b = 2", Data),
        ("TRUNCATE t", Data),
        ("TRUNCATE TABLE t", Data),
        ("BEGIN BATCH INSERT INTO t (a) VALUES (1); UPDATE t SET a = 1 WHERE b = 2 APPLY BATCH", Data),
        ("BEGIN UNLOGGED BATCH USING TIMESTAMP 5 INSERT INTO t (a) VALUES (1) APPLY BATCH", Data),
        ("BEGIN BATCH APPLY BATCH", Data),
        ("INSERT INTO t (a) VALUES (1) IF NOT EXISTS USING TTL 5", Conditional),
        ("UPDATE t SET a = 1 WHERE b = 2 IF EXISTS", Conditional),
        ("UPDATE t SET a = 1 WHERE b = 2 IF a = 3 AND c > 4", Conditional),
        ("DELETE FROM t WHERE b = 2 IF a = 3", Conditional),
        (
            "BEGIN BATCH DELETE FROM t WHERE b = 2; UPDATE t SET a = 1 WHERE b = 2 IF EXISTS; APPLY BATCH",
            Conditional,
        ),
        ("BEGIN TRANSACTION UPDATE t SET a = 1 WHERE b = 2; COMMIT TRANSACTION", Conditional),
        ("UPDATE t SET c = c + 1 WHERE b = 2", Counter),
        ("UPDATE t SET c=c-1 WHERE b = 2", Counter),
        ("UPDATE t SET \"c\" = C + ? WHERE b = 2", Counter),
        ("UPDATE t SET c += 1 WHERE b = 2", Counter),
        ("BEGIN COUNTER BATCH UPDATE t SET c = c + 1 WHERE b = 2; APPLY BATCH", Counter),
        ("CREATE ROLE r", Role),
        ("CREATE USER IF NOT EXISTS u WITH PASSWORD 'x' SUPERUSER", Role),
        ("ALTER ROLE r WITH PASSWORD = 'x'", Role),
        ("DROP ROLE 'r'", Role),
        ("GRANT SELECT ON KEYSPACE k TO r", Role),
        ("REVOKE r FROM s", Role),
        ("ADD IDENTITY 'x' TO ROLE 'r'", Role),
        ("SELECT a FROM t", Read),
        ("LIST ROLES", Read),
        ("DESCRIBE TABLES", Read),
        ("USE k", Forbidden),
        ("UPSERT INTO t", Forbidden),
        ("BEGIN x", Forbidden),
        ("'x'", Forbidden),
    ] {
        assert_eq!(classified(source).kind, kind, "{source:?}");
    }
}

#[test]
fn what_can_be_sent_twice() {
    for source in [
        "INSERT INTO t (a, b) VALUES (1, 'x')",
        "INSERT INTO t (a, m, s) VALUES (1, {'a': [1, 2]}, {1, 2})",
        "INSERT INTO t (a, b) VALUES ((1, [2]), (int)3)",
        "INSERT INTO t (a, b) VALUES (textAsBlob('x'), cast(1 as text))",
        "INSERT INTO t JSON '{\"a\": 1}'",
        "UPDATE t SET a = 1, b = 'x' WHERE c IN (1, 2) AND (d, e) > (1, 2)",
        "UPDATE t SET s = s + {1}, m = m - {'a'}, n += {'a': 1} WHERE c = 1",
        "UPDATE t SET m['a'] = 1, u.f = 2 WHERE c = 1",
        "DELETE m['a'] FROM t WHERE token(c) > token(1)",
        "DELETE FROM t WHERE c = 1",
        "CREATE TABLE IF NOT EXISTS t (a int PRIMARY KEY)",
        "DROP TABLE IF EXISTS t",
        "ALTER TABLE t ADD IF NOT EXISTS a int",
        "ALTER TABLE t WITH comment = 'x'",
        "CREATE OR REPLACE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS ''",
        "GRANT ALL PERMISSIONS ON ALL KEYSPACES TO r",
        "ALTER ROLE r WITH LOGIN = true",
        "SELECT now() FROM t",
    ] {
        let found = classified(source);
        assert!(found.idempotent(), "{source:?}: {:?}", found.not_idempotent);
    }
}

#[test]
fn what_cannot_be_sent_twice() {
    let function = |name: &str| NotIdempotent::Function(name.to_owned());
    for (source, why) in [
        ("UPDATE t SET c = c + 1 WHERE b = 2", NotIdempotent::Counter),
        ("UPDATE t SET c = c - ? WHERE b = 2", NotIdempotent::Counter),
        ("BEGIN COUNTER BATCH APPLY BATCH", NotIdempotent::Counter),
        ("INSERT INTO t (a) VALUES (1) IF NOT EXISTS", NotIdempotent::Conditional),
        ("BEGIN TRANSACTION COMMIT TRANSACTION", NotIdempotent::Conditional),
        ("UPDATE t SET l = l + [1] WHERE b = 2", NotIdempotent::List),
        ("UPDATE t SET l = [1] + l WHERE b = 2", NotIdempotent::List),
        ("UPDATE t SET l = l - [1] WHERE b = 2", NotIdempotent::List),
        ("UPDATE t SET a = 1, l += [1] WHERE b = 2", NotIdempotent::List),
        ("UPDATE t SET l = [1] WHERE b = 2", NotIdempotent::List),
        ("UPDATE t SET l[0] = 1 WHERE b = 2", NotIdempotent::List),
        ("DELETE l[0] FROM t WHERE b = 2", NotIdempotent::List),
        ("INSERT INTO t (a, l) VALUES (1, [1])", NotIdempotent::List),
        ("INSERT INTO t JSON '{\"l\": [1]}'", NotIdempotent::List),
        ("INSERT INTO t (a) VALUES (now())", function("now")),
        ("INSERT INTO t (a) VALUES (toTimestamp(NOW()))", function("NOW")),
        ("INSERT INTO t (a) VALUES (uuid())", function("uuid")),
        ("UPDATE t SET a = currentTimestamp() WHERE b = 1", function("currentTimestamp")),
        ("UPDATE t SET a = 1 WHERE b = k.\"mine\"(1)", function("mine")),
        ("DELETE FROM t WHERE a < current_date()", function("current_date")),
        (
            "BEGIN BATCH INSERT INTO t (a) VALUES (1); INSERT INTO t (a) VALUES (uuid()); APPLY BATCH",
            function("uuid"),
        ),
        ("TRUNCATE t", NotIdempotent::Truncate),
        ("CREATE TABLE t (a int PRIMARY KEY)", NotIdempotent::Once),
        ("DROP TABLE t", NotIdempotent::Once),
        ("ALTER TABLE t ADD a int", NotIdempotent::Once),
        ("CREATE ROLE r", NotIdempotent::Once),
        ("GRANT r TO s", NotIdempotent::Once),
    ] {
        let found = classified(source);
        assert_eq!(found.not_idempotent, Some(why), "{source:?}");
        assert!(!found.idempotent());
    }
}

#[test]
fn what_is_lost() {
    for source in [
        "DROP KEYSPACE k",
        "DROP TABLE k.t",
        "ALTER TABLE k.t DROP (a, b)",
        "ALTER TABLE k.t DROP COMPACT STORAGE",
        "TRUNCATE k.t",
        "DELETE FROM k.t WHERE a = 1",
        "BEGIN BATCH UPDATE k.t SET a = 1 WHERE b = 1; DELETE a FROM k.t WHERE b = 1; APPLY BATCH",
        "DROP ROLE r",
    ] {
        assert!(classified(source).destructive, "{source:?}");
    }
    for source in [
        "CREATE TABLE k.t (a int PRIMARY KEY)",
        "ALTER TABLE k.t ADD a int",
        "ALTER TABLE k.t RENAME a TO b",
        "UPDATE k.t SET a = null WHERE b = 1",
        "DROP INDEX k.i",
        "DROP MATERIALIZED VIEW k.v",
        "SELECT a FROM t",
    ] {
        assert!(!classified(source).destructive, "{source:?}");
    }
}

#[test]
fn names_without_a_keyspace() {
    for (source, names) in [
        ("CREATE TABLE k.t (a int PRIMARY KEY, b frozen<u>)", &[] as &[&str]),
        ("CREATE TABLE ${keyspace}.t (a int PRIMARY KEY)", &[]),
        ("CREATE TABLE T (a int PRIMARY KEY)", &["t"]),
        ("CREATE TABLE \"T\" (a int PRIMARY KEY)", &["T"]),
        ("CREATE TABLE k.t LIKE s", &["s"]),
        ("ALTER TABLE t ADD a u", &["t"]),
        ("ALTER TABLE IF EXISTS t DROP a", &["t"]),
        ("DROP TABLE IF EXISTS t", &["t"]),
        ("CREATE TYPE t (a frozen<u>)", &["t"]),
        ("ALTER TYPE k.t ADD a u", &[]),
        ("DROP TYPE t", &["t"]),
        ("CREATE INDEX i ON k.t (a)", &[]),
        ("CREATE INDEX i ON t (a)", &["t"]),
        ("CREATE INDEX ON t (a)", &["t"]),
        ("DROP INDEX i", &["i"]),
        ("DROP INDEX k.i", &[]),
        ("CREATE MATERIALIZED VIEW v AS SELECT a FROM t WHERE a IS NOT NULL PRIMARY KEY (a)", &["v", "t"]),
        ("CREATE MATERIALIZED VIEW k.v AS SELECT a FROM t PRIMARY KEY (a)", &["t"]),
        ("ALTER MATERIALIZED VIEW v WITH comment = 'x'", &["v"]),
        ("DROP MATERIALIZED VIEW v", &["v"]),
        ("CREATE FUNCTION f (a u) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS ''", &["f"]),
        ("DROP FUNCTION k.f(int)", &[]),
        ("CREATE AGGREGATE k.f (int) SFUNC s STYPE u FINALFUNC g INITCOND null", &[]),
        ("DROP AGGREGATE f", &["f"]),
        ("CREATE TRIGGER x ON t USING 'C'", &["t"]),
        ("CREATE KEYSPACE k WITH durable_writes = true", &[]),
        ("INSERT INTO t (a) VALUES (f(1))", &["t"]),
        ("INSERT INTO k.t (a) VALUES (1)", &[]),
        ("UPDATE t SET a = 1 WHERE b = 1", &["t"]),
        ("DELETE FROM t WHERE b = 1", &["t"]),
        ("TRUNCATE TABLE t", &["t"]),
        ("SELECT a FROM t WHERE b = 1", &["t"]),
        (
            "BEGIN BATCH INSERT INTO a (x) VALUES (1); UPDATE k.b SET x = 1 WHERE y = 1; DELETE FROM c WHERE y = 1; INSERT INTO a (x) VALUES (2) APPLY BATCH",
            &["a", "c"],
        ),
        (
            "BEGIN TRANSACTION LET x = (SELECT a FROM t); UPDATE u SET a = 1 WHERE b = 1; COMMIT TRANSACTION",
            &["t", "u"],
        ),
        ("GRANT SELECT ON t TO r", &["t"]),
        ("GRANT SELECT, MODIFY ON TABLE k.t TO r", &[]),
        ("GRANT EXECUTE ON FUNCTION f(int) TO r", &["f"]),
        ("REVOKE ALL ON ALL TABLES IN KEYSPACE k FROM r", &[]),
        ("GRANT r TO s", &[]),
        ("CREATE ROLE r", &[]),
    ] {
        assert_eq!(classified(source).unqualified, names, "{source:?}");
    }
}

#[test]
fn objects_are_named() {
    let objects = |source| classified(source).objects.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(objects("CREATE INDEX I ON k.T (a)"), ["table k.t", "index k.i"]);
    assert_eq!(
        objects("CREATE MATERIALIZED VIEW k.v AS SELECT a FROM k.t PRIMARY KEY (a)"),
        ["materialized view k.v", "table k.t"]
    );
    assert_eq!(objects("DROP KEYSPACE \"K\""), ["keyspace K"]);
    assert_eq!(objects("DROP FUNCTION k.f"), ["function k.f"]);
    assert_eq!(objects("UPDATE ${keyspace}.t SET a = 1 WHERE b = 1"), ["table ${keyspace}.t"]);
    assert_eq!(objects("CREATE ROLE 'R'"), ["role R"]);
}

#[test]
fn bound_values_are_seen() {
    for source in [
        "INSERT INTO t (a) VALUES (?)",
        "INSERT INTO t (a) VALUES (:a)",
        "UPDATE t SET m = {'a': ?} WHERE b = 1",
        "UPDATE t SET m = {'a': :b} WHERE b = 1",
        "SELECT a FROM t LIMIT :n",
    ] {
        assert!(classified(source).bind_markers, "{source:?}");
    }
    for source in
        ["INSERT INTO t (a) VALUES ('?')", "UPDATE t SET m = {'a': 1, b: {c: null}, (1): [2]} WHERE b = 1"]
    {
        assert!(!classified(source).bind_markers, "{source:?}");
    }
}

#[test]
fn refusals_say_why() {
    assert_eq!(classified("USE k").refused, Some(Refusal::Use));
    assert_eq!(classified("UPSERT INTO t").refused, Some(Refusal::Unknown("UPSERT".to_owned())));
    assert_eq!(classified("ALTER TABLE t ALTER a TYPE text").refused, Some(Refusal::AlterType));
    assert_eq!(classified("ALTER TYPE t ALTER a TYPE text").refused, Some(Refusal::AlterType));
    for (source, expected, found, column) in [
        ("'secret'", "a statement", "a string", 1),
        ("CREATE TABLE t (a int PRIMARY KEY", "`,` or `)`", "the end", 34),
        ("CREATE TABLE t a int", "`(`", "`a`", 16),
        ("CREATE TABLE t (a int) DROP TABLE u", "the end of the statement", "`DROP`", 24),
        ("CREATE TABEL t (a int)", "KEYSPACE, TABLE", "`TABEL`", 8),
        ("ALTER TABLE t ADD a int, b int", "the end of the statement", "`,`", 24),
        ("ALTER TABLE t ADD 'a' int", "a column's name", "a string", 19),
        ("CREATE KEYSPACE k", "WITH", "the end", 18),
        ("INSERT t (a) VALUES (1)", "INTO", "`t`", 8),
        ("INSERT INTO t (a) VALUES (1", "`)`", "the end", 28),
        ("UPDATE t SET a = 1", "WHERE", "the end", 19),
        ("DELETE t WHERE a = 1", "FROM", "the end", 21),
        (
            "BEGIN BATCH ; INSERT INTO t (a) VALUES (1) APPLY BATCH",
            "INSERT INTO, UPDATE, DELETE or APPLY BATCH",
            "`;`",
            13,
        ),
        (
            "BEGIN BATCH INSERT INTO t (a) VALUES (1);; APPLY BATCH",
            "INSERT INTO, UPDATE, DELETE or APPLY BATCH",
            "`;`",
            42,
        ),
        ("BEGIN BATCH APPLY BATCH TRUNCATE t", "the end of the statement", "`TRUNCATE`", 25),
        ("BEGIN BATCH SELECT a FROM t APPLY BATCH", "INSERT INTO", "`SELECT`", 13),
    ] {
        let Some(Refusal::Syntax(error)) = classified(source).refused else {
            panic!("{source:?} is not refused")
        };
        let CqlErrorKind::Syntax { expected: e, found: f } = error.kind() else { panic!("{error}") };
        assert!(e.starts_with(expected), "{source:?}: {e}");
        assert_eq!((f.as_str(), error.column()), (found, column), "{source:?}");
    }
}
