use super::{columns, fields, map, shop};
use crate::cql::OptionValue;
use crate::schema::definition::LEDGER_TABLE;
use crate::schema::drift::differences;
use crate::schema::script::{record, script};
use crate::schema::shape::{KeyspaceSchema, TableSchema};

type Fields = Vec<(String, String)>;

/// What differs after a change of the shop, as `object: what` and the statements.
fn after(change: impl FnOnce(&mut KeyspaceSchema)) -> Vec<(String, Vec<String>)> {
    let mut changed = shop();
    change(&mut changed);
    differences(&script(&shop()), &script(&changed), "s")
        .into_iter()
        .map(|difference| (format!("{}: {}", difference.object, difference.what), difference.cql))
        .collect()
}

fn one(change: impl FnOnce(&mut KeyspaceSchema)) -> (String, Vec<String>) {
    let mut found = after(change);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

fn told(what: &str, cql: &[&str]) -> (String, Vec<String>) {
    (what.to_owned(), cql.iter().map(|line| (*line).to_owned()).collect())
}

fn scalar(value: &str) -> OptionValue {
    OptionValue::Scalar(value.to_owned())
}

#[test]
fn what_is_the_same_has_no_differences() {
    assert_eq!(after(|_| {}), []);
    assert_eq!(record(&shop()), record(&shop()));
    let hidden = |schema: &mut KeyspaceSchema| {
        schema.tables.insert(LEDGER_TABLE.to_owned(), TableSchema::default());
        schema.tables.insert("t$paxos".to_owned(), TableSchema::default());
        schema.tables.get_mut("t").unwrap().dropped.clear();
        schema.tables.get_mut("t").unwrap().options.insert("id".to_owned(), scalar("another"));
        schema.functions.reverse();
    };
    assert_eq!(after(hidden), []);
    let mut same = shop();
    hidden(&mut same);
    assert_eq!(record(&same).digest, record(&shop()).digest);
}

#[test]
fn the_text_is_one_line_an_object_in_canonical_order() {
    let text = script(&shop());
    let head = |line: &str| line.split(" (").next().unwrap_or_default().chars().take(40).collect::<String>();
    let heads: Vec<String> = text.lines().map(head).collect();
    assert_eq!(
        heads,
        [
            "KEYSPACE WITH replication = {'class': 'o",
            "TABLES WITH ",
            "CREATE TYPE ${keyspace}.\"Outer\"",
            "CREATE TYPE ${keyspace}.\"address\"",
            "CREATE TABLE ${keyspace}.\"t\"",
            "CREATE TABLE ${keyspace}.\"u\"",
            "CREATE CUSTOM INDEX \"ann\" ON ${keyspace}",
            "CREATE INDEX \"by_f\" ON ${keyspace}.\"t\"",
            "CREATE INDEX \"by_g\" ON ${keyspace}.\"t\"",
            "CREATE CUSTOM INDEX \"sasi\" ON ${keyspace",
            "CREATE INDEX \"t_Jj_idx\" ON ${keyspace}.\"",
            "CREATE INDEX \"t_e_idx\" ON ${keyspace}.\"t",
            "CREATE MATERIALIZED VIEW ${keyspace}.\"al",
            "CREATE MATERIALIZED VIEW ${keyspace}.\"v\"",
            "CREATE FUNCTION ${keyspace}.\"f\"",
            "CREATE FUNCTION ${keyspace}.\"f\"",
            "CREATE AGGREGATE ${keyspace}.\"g\"",
        ],
        "{text}"
    );
}

#[test]
fn options_that_all_tables_have_are_said_once() {
    let mut schema = shop();
    let options = schema.tables["t"].options.clone();
    schema.tables.get_mut("u").unwrap().options = options.clone();
    schema.views.get_mut("all").unwrap().table.options = options;
    schema.tables.get_mut("u").unwrap().options.insert("gc_grace_seconds".to_owned(), scalar("60"));
    let text = script(&schema);
    assert_eq!(text.matches("gc_grace_seconds = 864000").count(), 1, "{text}");
    assert_eq!(text.matches("gc_grace_seconds = 60").count(), 1, "{text}");
    let mut changed = schema.clone();
    changed.tables.get_mut("t").unwrap().options.insert("gc_grace_seconds".to_owned(), scalar("60"));
    let found = differences(&text, &script(&changed), "s");
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].cql, ["ALTER TABLE \"s\".\"t\" WITH gc_grace_seconds = 864000"]);
}

#[test]
fn columns_and_options_of_a_table() {
    let table = |schema: &mut KeyspaceSchema, change: &dyn Fn(&mut TableSchema)| {
        change(schema.tables.get_mut("t").unwrap());
    };
    assert_eq!(
        one(|schema| table(schema, &|t| drop(t.columns.remove("e")))),
        told("table t: column e is gone", &["ALTER TABLE \"s\".\"t\" ADD \"e\" text static"])
    );
    assert_eq!(
        one(|schema| table(schema, &|t| t.columns.extend(columns(&[("n", "regular", -1, "none", "int")])))),
        told("table t: column n was not there", &["ALTER TABLE \"s\".\"t\" DROP \"n\""])
    );
    assert_eq!(
        one(|schema| table(schema, &|t| t.columns.get_mut("e").unwrap().column_type = "blob".to_owned())),
        told(
            "table t: column e is blob static and was text static",
            &["-- no statement makes column e of \"s\".\"t\" text static again"]
        )
    );
    let (what, cql) = one(|schema| {
        table(schema, &|t| {
            t.options.insert("comment".to_owned(), scalar("10"));
            t.options.insert("of_a_newer_server".to_owned(), scalar("1"));
            t.options.remove("crc_check_chance");
        });
    });
    assert_eq!(what, "table t: had comment = 'It''s'", "options that one server does not have do not count");
    assert_eq!(cql, ["ALTER TABLE \"s\".\"t\" WITH comment = 'It''s'"]);
    let (what, cql) = one(|schema| {
        table(schema, &|t| t.columns.get_mut("c").unwrap().clustering_order = "asc".to_owned());
    });
    assert_eq!(what, "table t: had the primary key ((b bigint, a int), c timestamp desc, d text)");
    assert!(cql.iter().all(|line| line.starts_with("--")) && cql.len() == 3, "{cql:?}");
}

#[test]
fn objects_that_went_and_came() {
    let (what, cql) = one(|schema| drop(schema.tables.remove("u")));
    assert_eq!((what.as_str(), cql.len()), ("table u: is gone", 1));
    assert!(
        cql[0].starts_with("CREATE TABLE \"s\".\"u\" (\"a\" int, \"b\" blob, PRIMARY KEY ((\"a\")))"),
        "{cql:?}"
    );
    let came = after(|schema| {
        schema.types.insert("new".to_owned(), fields(&[("x", "int")]));
        schema.tables.insert("new".to_owned(), schema.tables["u"].clone());
    });
    assert_eq!(
        came,
        [
            told("table new: was not there", &["DROP TABLE \"s\".\"new\""]),
            told("type new: was not there", &["DROP TYPE \"s\".\"new\""]),
        ],
        "what is made of others goes first"
    );
    assert_eq!(
        one(|schema| schema.functions.retain(|function| function.arguments.len() != 1)),
        told(
            "function f(int): is gone",
            &[
                "CREATE FUNCTION \"s\".\"f\" (\"a\" int) RETURNS NULL ON NULL INPUT RETURNS frozen<tuple<int, text>> LANGUAGE java AS 'return it''s;'"
            ]
        )
    );
}

#[test]
fn types_come_after_those_that_they_use_and_go_before_them() {
    let chain = |schema: &mut KeyspaceSchema| {
        schema.types.insert("a".to_owned(), fields(&[("x", "list<frozen<tuple<int, b>>>")]));
        schema.types.insert("b".to_owned(), fields(&[("x", "frozen<\"C\">"), ("self", "text")]));
        schema.types.insert("C".to_owned(), fields(&[("x", "int")]));
    };
    let mut chained = shop();
    chain(&mut chained);
    let objects = |stored: &KeyspaceSchema, now: &KeyspaceSchema| -> Vec<String> {
        differences(&script(stored), &script(now), "s").into_iter().map(|found| found.object).collect()
    };
    assert_eq!(objects(&shop(), &chained), ["type a", "type b", "type C"]);
    assert_eq!(objects(&chained, &shop()), ["type C", "type b", "type a"]);
}

#[test]
fn types_indexes_views_functions_and_the_keyspace() {
    let address = |schema: &mut KeyspaceSchema, change: &dyn Fn(&mut Fields)| {
        change(schema.types.get_mut("address").unwrap());
    };
    assert_eq!(
        one(|schema| address(schema, &|fields| drop(fields.pop()))),
        told("type address: field at is gone", &["ALTER TYPE \"s\".\"address\" ADD \"at\" tuple<int, text>"])
    );
    assert_eq!(
        one(|schema| address(schema, &|fields| fields[0].0 = "road".to_owned())),
        told(
            "type address: field road was called street",
            &["ALTER TYPE \"s\".\"address\" RENAME \"road\" TO \"street\""]
        )
    );
    let (_, cql) = one(|schema| {
        let options = &mut schema.indexes.get_mut("ann").unwrap().options;
        options.insert("similarity_function".to_owned(), "COSINE".to_owned());
    });
    assert_eq!(
        cql,
        [
            "DROP INDEX \"s\".\"ann\"",
            "CREATE CUSTOM INDEX \"ann\" ON \"s\".\"t\" (h) USING 'sai' WITH OPTIONS = {'similarity_function': 'DOT_PRODUCT'}"
        ]
    );
    let (what, cql) =
        one(|schema| schema.views.get_mut("v").unwrap().where_clause = "a IS NOT NULL".to_owned());
    assert_eq!(what, "materialized view v: is another one");
    assert!(cql[0] == "DROP MATERIALIZED VIEW \"s\".\"v\"" && cql[1].contains("d = 'it's'"), "{cql:?}");
    let (_, cql) = one(|schema| schema.functions[0].body = "return 1;\n\\ // end".to_owned());
    assert!(
        cql[0].starts_with("CREATE OR REPLACE FUNCTION \"s\".\"f\" (\"a\" int, \"B\" list<int>"),
        "{cql:?}"
    );
    let (what, cql) =
        one(|schema| schema.replication = map(&[("class", "SimpleStrategy"), ("replication_factor", "1")]));
    assert!(what.starts_with("keyspace s: had replication = "), "{what}");
    assert!(cql[0].starts_with("ALTER KEYSPACE \"s\" WITH replication = {'class': 'org.apache."), "{cql:?}");
}

#[test]
fn a_text_of_several_lines_comes_back() {
    let mut schema = shop();
    let body = "a;\n\\n \\ 'x'\r\n".to_owned();
    schema.functions[0].body.clone_from(&body);
    let found = differences(&script(&schema), &script(&shop()), "s");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].cql[0].ends_with(&format!("AS '{}'", body.replace('\'', "''"))), "{:?}", found[0].cql);
}

#[test]
fn a_text_that_is_too_long_leaves_its_digest() {
    let mut schema = shop();
    schema.functions[0].body = "x".repeat(40_000);
    let long = record(&schema);
    assert_eq!(long.text, None);
    assert!(long.digest.starts_with("s1:") && long.digest != record(&shop()).digest);
    assert!(record(&shop()).text.is_some());
}
