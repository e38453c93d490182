//! Scripts of the kinds that have broken other tools, by their public bug reports: each is split, run on a real node,
//! and judged by what the server then has.

use std::collections::BTreeMap;

use integration::{Keyspace, connect, script};
use kandra_migrate::{Outcome, Plan};

/// What all scripts here write into.
const TABLE: &str = "CREATE TABLE ${keyspace}.t (k int PRIMARY KEY, v text);";

/// A keyspace with the table, after a script in a version of its own.
async fn after(plan: fn() -> Plan) -> Keyspace {
    let keyspace = Keyspace::through(connect().await, "script", 1).await;
    let registry = script::registry(&[|| script::plan(TABLE), plan]);
    let report = keyspace.runner(&registry).run().await.unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    keyspace
}

/// The rows of the table, by key.
async fn values(keyspace: &Keyspace) -> BTreeMap<i32, String> {
    keyspace.rows::<(i32, String)>("SELECT k, v FROM ks.t").await.into_iter().collect()
}

async fn names(keyspace: &Keyspace, what: &str, of: &str) -> Vec<String> {
    let text = format!("SELECT {what} FROM system_schema.{of} WHERE keyspace_name = '{}'", keyspace.name);
    keyspace.rows::<(String,)>(&text).await.into_iter().map(|(name,)| name).collect()
}

/// Runs a script and compares the rows of the table.
macro_rules! writes {
    ($($(#[$meta:meta])* $name:ident: $script:expr => [$(($key:expr, $value:expr)),* $(,)?],)*) => {
        $(
            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                let keyspace = after(|| script::plan($script)).await;
                let expected: BTreeMap<i32, String> = [$(($key, $value.to_owned())),*].into_iter().collect();
                assert_eq!(values(&keyspace).await, expected);
            }
        )*
    };
}

writes! {
    semicolons_in_strings:
        "INSERT INTO ${keyspace}.t (k, v) VALUES (1, 'a;b');INSERT INTO ${keyspace}.t (k, v) VALUES (2, ';');
         INSERT INTO ${keyspace}.t (k, v) VALUES (3, 'it''s; done');
         INSERT INTO ${keyspace}.t (k, v) VALUES (4, ''';''')"
        => [(1, "a;b"), (2, ";"), (3, "it's; done"), (4, "';'")],
    strings_in_dollars:
        "INSERT INTO ${keyspace}.t (k, v) VALUES (1, $$it's; $ \"x\" -- no comment$$);
         INSERT INTO ${keyspace}.t (k, v) VALUES (2, $$;$$);"
        => [(1, "it's; $ \"x\" -- no comment"), (2, ";")],
    comment_marks_in_strings:
        "INSERT INTO ${keyspace}.t (k, v) VALUES (1, '-- a; // b');
         INSERT INTO ${keyspace}.t (k, v) VALUES (2, '/* no'); INSERT INTO ${keyspace}.t (k, v) VALUES (3, '*/ end');
         INSERT INTO ${keyspace}.t (k, v) VALUES (4, 'http://example.com/;')"
        => [(1, "-- a; // b"), (2, "/* no"), (3, "*/ end"), (4, "http://example.com/;")],
    comments_of_all_kinds_at_the_head_and_at_the_end:
        "-- first; it's \"not\" one\n// second; $$ '\n/* third;\n '; */\n
         INSERT INTO ${keyspace}.t (k, v) VALUES (1, 'a'); -- behind; '\n// between; \"\n
         INSERT INTO ${keyspace}.t (k, v) VALUES (2, 'b') -- at the end, with no line end"
        => [(1, "a"), (2, "b")],
    comments_inside_of_statements:
        "INSERT INTO -- the table; of '\n ${keyspace}.t /* its columns; \" */ (k, v) // and\n VALUES (1, /* ; */ 'a');"
        => [(1, "a")],
    nested_looking_comments:
        "/* outer /* inner; */ INSERT INTO ${keyspace}.t (k, v) VALUES (1, 'a'); /* -- */
         INSERT INTO ${keyspace}.t (k, v) VALUES (2, 'b'); -- /* \n INSERT INTO ${keyspace}.t (k, v) VALUES (3, 'c'); /* // */
         /**/ /***/ /*/ */ INSERT INTO ${keyspace}.t (k, v) VALUES (4, 'd') /* ;;; */ ;"
        => [(1, "a"), (2, "b"), (3, "c"), (4, "d")],
    batches:
        "BEGIN BATCH INSERT INTO ${keyspace}.t (k, v) VALUES (1, 'a;'); INSERT INTO ${keyspace}.t (k, v) VALUES (2, 'b'); APPLY BATCH;
         begin unlogged batch
           insert into ${keyspace}.t (k, v) values (3, 'c'); -- between; '
           update ${keyspace}.t set v = 'APPLY BATCH;' where k = 4
         apply batch;
         INSERT INTO ${keyspace}.t (k, v) VALUES (5, 'e')"
        => [(1, "a;"), (2, "b"), (3, "c"), (4, "APPLY BATCH;"), (5, "e")],
    line_ends_of_windows:
        "-- a comment\r\nINSERT INTO ${keyspace}.t (k, v)\r\n  VALUES (1, 'two\r\nlines');\r\n\r\nINSERT INTO ${keyspace}.t (k, v) VALUES (2, 'b');\r\n"
        => [(1, "two\r\nlines"), (2, "b")],
    line_ends_of_old_macs:
        "-- a comment\rINSERT INTO ${keyspace}.t (k, v) VALUES (1, 'a');\r// another; '\rINSERT INTO ${keyspace}.t (k, v) VALUES (2, 'b');\r"
        => [(1, "a"), (2, "b")],
    a_byte_order_mark:
        "\u{feff}INSERT INTO ${keyspace}.t (k, v) VALUES (1, '\u{feff}a');"
        => [(1, "\u{feff}a")],
    a_byte_order_mark_before_a_comment:
        "\u{feff}-- a comment\r\n;INSERT INTO ${keyspace}.t (k, v) VALUES (1, 'a')"
        => [(1, "a")],
    no_semicolon_at_the_end:
        "INSERT INTO ${keyspace}.t (k, v) VALUES (1, 'a');\nINSERT INTO ${keyspace}.t (k, v) VALUES (2, 'b')"
        => [(1, "a"), (2, "b")],
    no_semicolon_and_a_comment_at_the_end:
        "INSERT INTO ${keyspace}.t (k, v) VALUES (1, 'a')\n/* done; */\n-- it's"
        => [(1, "a")],
    empty_statements:
        ";;\n;  -- nothing\n; /* nothing; */ ;INSERT INTO ${keyspace}.t (k, v) VALUES (1, 'a');;\n;;"
        => [(1, "a")],
    other_alphabets:
        "INSERT INTO ${keyspace}.t (k, v) VALUES (1, 'Grüße; 日本語 🦀'); -- ÄÖÜ; 🦀\nINSERT INTO ${keyspace}.t (k, v) VALUES (2, 'ß')"
        => [(1, "Grüße; 日本語 🦀"), (2, "ß")],
}

#[tokio::test(flavor = "multi_thread")]
async fn quoted_names() {
    let keyspace = after(|| {
        script::plan(
            "CREATE TABLE ${keyspace}.\"Order\" (\"a;b\" int PRIMARY KEY, \"it's\" text, \"say \"\"hi\"\"\" text, \"-- x\" text);
             INSERT INTO ${keyspace}.\"Order\" (\"a;b\", \"it's\", \"say \"\"hi\"\"\", \"-- x\") VALUES (1, 'a', 'b', 'c');
             CREATE TABLE ${keyspace}.quoted (\"/* k */\" int PRIMARY KEY)",
        )
    })
    .await;
    let rows = keyspace
        .rows::<(i32, String, String, String)>(
            "SELECT \"a;b\", \"it's\", \"say \"\"hi\"\"\", \"-- x\" FROM ks.\"Order\"",
        )
        .await;
    assert_eq!(rows, [(1, "a".to_owned(), "b".to_owned(), "c".to_owned())]);
    let mut tables = names(&keyspace, "table_name", "tables").await;
    tables.sort_unstable();
    assert_eq!(tables, ["Order", "kandra_migrations", "quoted", "t"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn functions_are_one_statement() {
    let keyspace = Keyspace::through(connect().await, "functions", 1).await;
    let registry = script::registry(&[|| {
        script::plan(
            "CREATE FUNCTION ${keyspace}.quoted (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'String s = \"it''s; -- x\"; return a + s.length();';
             CREATE OR REPLACE FUNCTION ${keyspace}.dollars (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS $$
               String s = \"it's; // x\"; /* ; ' */
               return a + s.length(); // end; '
             $$;
             CREATE TABLE ${keyspace}.t (k int PRIMARY KEY);
             INSERT INTO ${keyspace}.t (k) VALUES (1)",
        )
    }]);
    keyspace.runner(&registry).run().await.unwrap();
    let rows = keyspace.rows::<(i32, i32)>("SELECT ks.quoted(k), ks.dollars(k) FROM ks.t").await;
    assert_eq!(rows, [(11, 11)]);
    let bodies = names(&keyspace, "body", "functions").await;
    assert!(
        bodies.iter().any(|body| body == "String s = \"it's; -- x\"; return a + s.length();"),
        "{bodies:?}"
    );
}
