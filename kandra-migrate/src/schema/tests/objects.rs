use super::{effect, is_absent, is_other, is_there};
use crate::schema::probe::Effect;

#[test]
fn types() {
    is_there(&[
        "CREATE TYPE s.address (street varchar, codes list<int>, at tuple<int,text>)",
        "CREATE TYPE IF NOT EXISTS s.\"Outer\" (x address, \"W w\" map<text, frozen<set<int>>>)",
        "ALTER TYPE s.address ADD street text",
        "ALTER TYPE s.address RENAME road TO street",
        "DROP TYPE s.none",
    ]);
    is_absent(&[
        "CREATE TYPE s.new (a int)",
        "ALTER TYPE s.address ADD new int",
        "ALTER TYPE s.none ADD new int",
        "ALTER TYPE s.address RENAME street TO road",
        "ALTER TYPE s.none RENAME street TO road",
        "DROP TYPE s.address",
    ]);
    is_other(&[
        (
            "CREATE TYPE s.address (street text, codes set<int>, at tuple<int,text>)",
            "codes set<int>",
            "codes list<int>",
        ),
        ("CREATE TYPE s.\"Outer\" (y address)", "y address", "x frozen<address>"),
        (
            "CREATE TYPE s.address (street text, codes list<int>, at tuple<int, text>, new int)",
            "new int",
            "no field new",
        ),
        ("ALTER TYPE s.address ADD street int", "street int", "street text"),
    ]);
    assert_eq!(
        effect("CREATE TYPE s.address (street text, codes list<int>)"),
        Effect::Grown { extra: vec!["at".to_owned()] }
    );
}

#[test]
fn indexes() {
    is_there(&[
        "CREATE INDEX ON s.t (e)",
        "CREATE INDEX IF NOT EXISTS t_e_idx ON s.t (E)",
        "CREATE INDEX ON s.t (\"J j\")",
        "CREATE INDEX by_f ON s.t (FULL(f))",
        "CREATE INDEX by_g ON s.t (g)",
        "CREATE INDEX by_g ON s.t (values(g)) USING 'legacy_local_table'",
        "CREATE CUSTOM INDEX ann ON s.t (h) USING 'StorageAttachedIndex'",
        "CREATE INDEX ON s.t (h) USING 'sai' WITH OPTIONS = {'similarity_function': 'dot_product'}",
        "CREATE CUSTOM INDEX sasi ON s.t (d) USING 'org.apache.cassandra.index.sasi.SASIIndex' WITH OPTIONS = {'mode': 'CONTAINS'}",
        "DROP INDEX s.none",
    ]);
    is_absent(&[
        "CREATE INDEX ON s.t (new)",
        "CREATE INDEX new ON s.t (e)",
        "CREATE INDEX ON s.u (e)",
        "CREATE INDEX ON s.t (keys(g))",
        "CREATE INDEX ON s.t (e) USING 'sai'",
        "DROP INDEX s.t_e_idx",
    ]);
    is_other(&[
        ("CREATE INDEX t_e_idx ON s.t (f)", "on f", "on e"),
        ("CREATE INDEX t_e_idx ON s.u (e)", "on table u", "on table t"),
        ("CREATE INDEX by_g ON s.t (entries(g))", "on entries(g)", "on values(g)"),
        ("CREATE INDEX ann ON s.t (h)", "using the default index", "using storageattachedindex"),
        (
            "CREATE INDEX ann ON s.t (h) USING 'sai' WITH OPTIONS = {'similarity_function': 'COSINE'}",
            "similarity_function COSINE",
            "similarity_function DOT_PRODUCT",
        ),
    ]);
}

#[test]
fn views() {
    is_there(&[
        "CREATE MATERIALIZED VIEW s.v AS SELECT e FROM s.t WHERE a IS NOT NULL and B is not null AND c>5 AND d = 'it''s' AND \"J j\" IS NOT NULL PRIMARY KEY (\"J j\", a, b) WITH CLUSTERING ORDER BY (a DESC)",
        "CREATE MATERIALIZED VIEW s.all AS SELECT * FROM s.u WHERE b IS NOT NULL AND \"a\" IS NOT NULL PRIMARY KEY ((b), a) WITH ID = '5bc52802-de25-35ed-aeab-188eecebb0cc'",
        "DROP MATERIALIZED VIEW s.none",
    ]);
    is_absent(&[
        "CREATE MATERIALIZED VIEW s.new AS SELECT * FROM s.u WHERE a IS NOT NULL PRIMARY KEY (a)",
        "DROP MATERIALIZED VIEW s.v",
    ]);
    is_other(&[
        (
            "CREATE MATERIALIZED VIEW s.all AS SELECT a, b FROM s.u WHERE a IS NOT NULL AND b > 0x01 PRIMARY KEY (a, b)",
            "key (a), b, where a is not null and b > 0x01, columns a, b",
            "key (b), a, where a IS NOT NULL AND b IS NOT NULL, columns *",
        ),
        (
            "CREATE MATERIALIZED VIEW s.all AS SELECT * FROM s.t WHERE a IS NOT NULL AND b IS NOT NULL PRIMARY KEY (b, a) WITH CLUSTERING ORDER BY (a DESC)",
            "of table t, key (b), a desc",
            "of table u, key (b), a",
        ),
        (
            "CREATE MATERIALIZED VIEW s.t AS SELECT * FROM s.u WHERE a IS NOT NULL PRIMARY KEY (a)",
            "materialized view t",
            "table t",
        ),
    ]);
}

#[test]
fn functions() {
    let tail = "LANGUAGE Java AS";
    is_there(&[
        &format!(
            "CREATE FUNCTION s.f (A int, \"B\" frozen<list<int>>, c frozen<address>) CALLED ON NULL INPUT RETURNS tuple<int,text> {tail} 'return null;'"
        ),
        &format!(
            "CREATE OR REPLACE FUNCTION s.f (a int) RETURNS NULL ON NULL INPUT RETURNS tuple<int, text> {tail} $$return it's;$$"
        ),
        "DROP FUNCTION s.none",
        "DROP FUNCTION s.f(text)",
        "DROP FUNCTION IF EXISTS s.f()",
    ]);
    is_absent(&[
        &format!("CREATE FUNCTION s.f (a text) CALLED ON NULL INPUT RETURNS int {tail} ''"),
        &format!("CREATE FUNCTION s.new () CALLED ON NULL INPUT RETURNS int {tail} ''"),
        &format!(
            "CREATE OR REPLACE FUNCTION s.f (a int) RETURNS NULL ON NULL INPUT RETURNS tuple<int, text> {tail} 'new'"
        ),
        "DROP FUNCTION s.f",
        "DROP FUNCTION s.f(int)",
        "DROP FUNCTION s.f(int, list<int>, address)",
    ]);
    is_other(&[(
        "CREATE FUNCTION IF NOT EXISTS s.f (b int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'new'",
        "arguments b, returns int, called on null true, language lua, body new",
        "arguments a, returns frozen<tuple<int, text>>, called on null false, language java, body return it's;",
    )]);
}

#[test]
fn aggregates() {
    is_there(&[
        "CREATE AGGREGATE s.g (int) SFUNC f STYPE tuple<int, bigint> INITCOND (0,0)",
        "CREATE OR REPLACE AGGREGATE s.g (int) SFUNC F STYPE frozen<tuple<int, bigint>> INITCOND (1, 0)",
        "DROP AGGREGATE s.none",
        "DROP AGGREGATE s.g(text)",
    ]);
    is_absent(&[
        "CREATE AGGREGATE s.g (text) SFUNC f STYPE int",
        "CREATE OR REPLACE AGGREGATE s.g (int) SFUNC other STYPE int",
        "DROP AGGREGATE s.g",
        "DROP AGGREGATE s.g(int)",
    ]);
    is_other(&[(
        "CREATE AGGREGATE s.g (int) SFUNC other STYPE int FINALFUNC final",
        "state function other, state type int, final function final, initial none",
        "state function f, state type frozen<tuple<int, bigint>>, final function none, initial (0, 0)",
    )]);
}
