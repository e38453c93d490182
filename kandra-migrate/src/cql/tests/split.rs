//! Snippets and the pieces that they split into.

use crate::cql::{Position, split};

type Snippet = (&'static str, &'static [&'static str]);

fn check(snippets: &[Snippet]) {
    for (source, expected) in snippets {
        let pieces = split(source).unwrap_or_else(|error| panic!("{source:?}: {}", error.explain()));
        let texts: Vec<&str> = pieces.iter().map(|piece| piece.text).collect();
        assert_eq!(texts, *expected, "{source:?}");
    }
}

#[test]
fn semicolons_end_statements() {
    check(&[
        ("", &[]),
        (" ", &[]),
        ("\n\n\t\r\n ", &[]),
        (";", &[]),
        (";;;", &[]),
        (" ; ; ", &[]),
        ("a", &["a"]),
        ("a;", &["a"]),
        ("a;;", &["a"]),
        (";a", &["a"]),
        (";;a;;", &["a"]),
        ("a;b", &["a", "b"]),
        ("a;b;", &["a", "b"]),
        ("a ; b ;", &["a", "b"]),
        (" a b ", &["a b"]),
        ("a;;b", &["a", "b"]),
        ("a; ;b", &["a", "b"]),
        ("a\n;\nb\n", &["a", "b"]),
        ("a b c;d e f", &["a b c", "d e f"]),
        ("a\tb;\tc", &["a\tb", "c"]),
        ("a  b", &["a  b"]),
        ("a,b;(c;d)", &["a,b", "(c", "d)"]),
        ("USE k; SELECT 1", &["USE k", "SELECT 1"]),
        ("a;b;c;d;e", &["a", "b", "c", "d", "e"]),
    ]);
}

#[test]
fn line_ends_are_lf_cr_and_crlf() {
    check(&[
        ("a\r\nb;\r\nc", &["a\r\nb", "c"]),
        ("a\rb;\rc\r", &["a\rb", "c"]),
        ("a\nb;\nc\n", &["a\nb", "c"]),
        ("-- x\ra", &["a"]),
        ("-- x\r\na", &["a"]),
        ("-- x\na", &["a"]),
        ("// x\ra;b", &["a", "b"]),
        ("a -- x\r;b", &["a", "b"]),
        ("a -- x;y\r\nb", &["a -- x;y\r\nb"]),
        ("'\r\n';'\r'", &["'\r\n'", "'\r'"]),
        ("\r\n;\r\n", &[]),
        ("a;\r\n\r\n", &["a"]),
    ]);
}

#[test]
fn a_byte_order_mark_is_not_sent() {
    check(&[
        ("\u{feff}", &[]),
        ("\u{feff}a", &["a"]),
        ("\u{feff} a;", &["a"]),
        ("\u{feff};a", &["a"]),
        ("\u{feff}-- x\na", &["a"]),
        ("\u{feff}/* x */", &[]),
        ("'\u{feff}'", &["'\u{feff}'"]),
        ("-- \u{feff}\na", &["a"]),
    ]);
}

#[test]
fn line_comments() {
    check(&[
        ("-- x", &[]),
        ("--", &[]),
        ("//", &[]),
        ("// x", &[]),
        ("--\n", &[]),
        ("-- x\n-- y\n", &[]),
        ("-- x\n;\n// y\n;", &[]),
        ("-- a;b;c", &[]),
        ("a -- x", &["a"]),
        ("a // x", &["a"]),
        ("a; -- x", &["a"]),
        ("a; // x", &["a"]),
        ("a --;b", &["a"]),
        ("a --;\nb", &["a --;\nb"]),
        ("a --;\n;b", &["a", "b"]),
        ("a//;\nb;c", &["a//;\nb", "c"]),
        ("-- it's\na", &["a"]),
        ("-- say \"x\na", &["a"]),
        ("-- $$\na;b", &["a", "b"]),
        ("-- /*\na;b", &["a", "b"]),
        ("// /* ; \na", &["a"]),
        ("a-- x\n--y\nb", &["a-- x\n--y\nb"]),
        ("a--\n", &["a"]),
        ("a - -1", &["a - -1"]),
        ("a --1\n", &["a"]),
        ("a - - b", &["a - - b"]),
        ("a / b; c", &["a / b", "c"]),
        ("a / / b", &["a / / b"]),
        ("---x\na", &["a"]),
        ("///x\na", &["a"]),
        ("-- ${nothing here\na", &["a"]),
        ("-- é ü 漢\na", &["a"]),
    ]);
}

#[test]
fn block_comments() {
    check(&[
        ("/**/", &[]),
        ("/* x */", &[]),
        ("/* a;b */", &[]),
        ("/* x */;", &[]),
        ("/***/", &[]),
        ("/** x **/", &[]),
        ("/*/ x */", &[]),
        ("/* x */ a", &["a"]),
        ("a /* x */", &["a"]),
        ("a /* ; */ b", &["a /* ; */ b"]),
        ("a/*;*/b;c", &["a/*;*/b", "c"]),
        ("a /* x */; b", &["a", "b"]),
        ("a; /* x */ /* y */ b", &["a", "b"]),
        ("/* -- */ a", &["a"]),
        ("/* it's */ a", &["a"]),
        ("/* \" */ a", &["a"]),
        ("/* $$ */ a", &["a"]),
        ("/* x\n;\ny */ a", &["a"]),
        ("/* /* */ a", &["a"]),
        ("/* /* */ a; b */", &["a", "b */"]),
        ("a /* * / */ b", &["a /* * / */ b"]),
        ("/* ${ */ a", &["a"]),
        ("/* a */ -- b\n // c\n d", &["d"]),
        ("a /**/;/**/ b", &["a", "b"]),
    ]);
}

#[test]
fn strings() {
    check(&[
        ("''", &["''"]),
        ("'a'", &["'a'"]),
        ("';'", &["';'"]),
        ("'a;b';c", &["'a;b'", "c"]),
        ("'it''s;'", &["'it''s;'"]),
        ("'''';a", &["''''", "a"]),
        ("'''a'';';b", &["'''a'';'", "b"]),
        ("'' ''", &["'' ''"]),
        ("'';''", &["''", "''"]),
        ("'-- x';a", &["'-- x'", "a"]),
        ("'/* x';a", &["'/* x'", "a"]),
        ("'// x';a", &["'// x'", "a"]),
        ("'\"';a", &["'\"'", "a"]),
        ("'$$';a", &["'$$'", "a"]),
        ("'\\';a", &["'\\'", "a"]),
        ("'a\n;\nb';c", &["'a\n;\nb'", "c"]),
        ("'é漢😀;';a", &["'é漢😀;'", "a"]),
        ("'${keyspace};'", &["'${keyspace};'"]),
        ("'${';a", &["'${'", "a"]),
        ("INSERT INTO t (a) VALUES ('x;y');", &["INSERT INTO t (a) VALUES ('x;y')"]),
        ("a='x'AND b;c", &["a='x'AND b", "c"]),
        ("'a'--x\n;b", &["'a'", "b"]),
        ("'\u{1}';a", &["'\u{1}'", "a"]),
    ]);
}

#[test]
fn quoted_names() {
    check(&[
        ("\"\"", &["\"\""]),
        ("\"a\"", &["\"a\""]),
        ("\"a;b\";c", &["\"a;b\"", "c"]),
        ("\"a\"\";\";b", &["\"a\"\";\"", "b"]),
        ("\"it's\";b", &["\"it's\"", "b"]),
        ("\"--\";b", &["\"--\"", "b"]),
        ("\"/*\";b", &["\"/*\"", "b"]),
        ("\"$$\";b", &["\"$$\"", "b"]),
        ("\"BEGIN\" \"BATCH\";b", &["\"BEGIN\" \"BATCH\"", "b"]),
        ("\"K\".\"T\";b", &["\"K\".\"T\"", "b"]),
        ("SELECT \"Ä\" FROM t;", &["SELECT \"Ä\" FROM t"]),
        ("\"a\nb\";c", &["\"a\nb\"", "c"]),
    ]);
}

#[test]
fn dollar_strings_have_no_tags_and_no_escapes() {
    check(&[
        ("$$$$", &["$$$$"]),
        ("$$a$$", &["$$a$$"]),
        ("$$;$$;b", &["$$;$$", "b"]),
        ("$$it's;$$;b", &["$$it's;$$", "b"]),
        ("$$ \" ; $$;b", &["$$ \" ; $$", "b"]),
        ("$$ -- ; $$;b", &["$$ -- ; $$", "b"]),
        ("$$ /* ; $$;b", &["$$ /* ; $$", "b"]),
        ("$$ $ ; $ $$;b", &["$$ $ ; $ $$", "b"]),
        ("$$a$$$$b$$;c", &["$$a$$$$b$$", "c"]),
        ("$$\nreturn a;\n$$;b", &["$$\nreturn a;\n$$", "b"]),
        ("$$${x}$$;b", &["$$${x}$$", "b"]),
        ("$$x$y$$;b", &["$$x$y$$", "b"]),
    ]);
}

#[test]
fn function_bodies() {
    check(&[
        (
            "CREATE FUNCTION k.f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;';b",
            &[
                "CREATE FUNCTION k.f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'",
                "b",
            ],
        ),
        (
            "CREATE FUNCTION f () CALLED ON NULL INPUT RETURNS text LANGUAGE java AS 'return \"it''s;\";'; b",
            &[
                "CREATE FUNCTION f () CALLED ON NULL INPUT RETURNS text LANGUAGE java AS 'return \"it''s;\";'",
                "b",
            ],
        ),
        (
            "CREATE OR REPLACE FUNCTION f (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java\nAS $$\n  // it's\n  if (a > 0) { return a; }\n  return -a;\n$$;\nb;",
            &[
                "CREATE OR REPLACE FUNCTION f (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java\nAS $$\n  // it's\n  if (a > 0) { return a; }\n  return -a;\n$$",
                "b",
            ],
        ),
        (
            "CREATE FUNCTION f(x int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS $$ return x -- ; $$ ; b",
            &[
                "CREATE FUNCTION f(x int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS $$ return x -- ; $$",
                "b",
            ],
        ),
        ("AS $$ BEGIN BATCH $$; b", &["AS $$ BEGIN BATCH $$", "b"]),
        ("AS 'BEGIN BATCH'; b", &["AS 'BEGIN BATCH'", "b"]),
    ]);
}

#[test]
fn a_batch_is_one_statement() {
    check(&[
        ("BEGIN BATCH APPLY BATCH", &["BEGIN BATCH APPLY BATCH"]),
        ("BEGIN BATCH a; b; APPLY BATCH; c", &["BEGIN BATCH a; b; APPLY BATCH", "c"]),
        ("BEGIN BATCH a b APPLY BATCH;c", &["BEGIN BATCH a b APPLY BATCH", "c"]),
        ("begin batch a; apply batch;c", &["begin batch a; apply batch", "c"]),
        ("Begin Batch a; aPPly bAtch;c", &["Begin Batch a; aPPly bAtch", "c"]),
        ("BEGIN UNLOGGED BATCH a; APPLY BATCH;c", &["BEGIN UNLOGGED BATCH a; APPLY BATCH", "c"]),
        ("BEGIN COUNTER BATCH a; APPLY BATCH;c", &["BEGIN COUNTER BATCH a; APPLY BATCH", "c"]),
        ("BEGIN LOGGED BATCH a; APPLY BATCH;c", &["BEGIN LOGGED BATCH a; APPLY BATCH", "c"]),
        (
            "BEGIN BATCH USING TIMESTAMP 5 a; APPLY BATCH;c",
            &["BEGIN BATCH USING TIMESTAMP 5 a; APPLY BATCH", "c"],
        ),
        ("BEGIN /* x */ BATCH a; APPLY -- y\n BATCH;c", &["BEGIN /* x */ BATCH a; APPLY -- y\n BATCH", "c"]),
        ("BEGIN BATCH -- ; APPLY BATCH\n a; APPLY BATCH", &["BEGIN BATCH -- ; APPLY BATCH\n a; APPLY BATCH"]),
        ("BEGIN BATCH ('APPLY BATCH'); APPLY BATCH", &["BEGIN BATCH ('APPLY BATCH'); APPLY BATCH"]),
        ("BEGIN BATCH \"APPLY\" batch; APPLY BATCH", &["BEGIN BATCH \"APPLY\" batch; APPLY BATCH"]),
        ("BEGIN BATCH apply; batch; APPLY BATCH", &["BEGIN BATCH apply; batch; APPLY BATCH"]),
        ("BEGIN BATCH apply apply batch; c", &["BEGIN BATCH apply apply batch", "c"]),
        ("BEGIN BATCH a;; APPLY BATCH", &["BEGIN BATCH a;; APPLY BATCH"]),
        ("BEGIN BATCH a; APPLY BATCH b; c", &["BEGIN BATCH a; APPLY BATCH b", "c"]),
        (
            "BEGIN BATCH a; APPLY BATCH; BEGIN BATCH b; APPLY BATCH",
            &["BEGIN BATCH a; APPLY BATCH", "BEGIN BATCH b; APPLY BATCH"],
        ),
        ("a; BEGIN BATCH b; APPLY BATCH; c;", &["a", "BEGIN BATCH b; APPLY BATCH", "c"]),
        ("BEGIN BATCH a;\r\n  b;\r\nAPPLY BATCH;\r\n", &["BEGIN BATCH a;\r\n  b;\r\nAPPLY BATCH"]),
    ]);
}

#[test]
fn a_transaction_is_one_statement() {
    check(&[
        ("BEGIN TRANSACTION a; COMMIT TRANSACTION; b", &["BEGIN TRANSACTION a; COMMIT TRANSACTION", "b"]),
        ("begin transaction a; commit transaction", &["begin transaction a; commit transaction"]),
        (
            "BEGIN TRANSACTION LET x = (SELECT a FROM t WHERE k = 1); IF x.a = 1 THEN UPDATE t SET a = 2 WHERE k = 1; END IF COMMIT TRANSACTION; b",
            &[
                "BEGIN TRANSACTION LET x = (SELECT a FROM t WHERE k = 1); IF x.a = 1 THEN UPDATE t SET a = 2 WHERE k = 1; END IF COMMIT TRANSACTION",
                "b",
            ],
        ),
        (
            "BEGIN TRANSACTION commit; transaction; COMMIT TRANSACTION",
            &["BEGIN TRANSACTION commit; transaction; COMMIT TRANSACTION"],
        ),
        (
            "BEGIN TRANSACTION APPLY BATCH; COMMIT TRANSACTION; b",
            &["BEGIN TRANSACTION APPLY BATCH; COMMIT TRANSACTION", "b"],
        ),
        (
            "BEGIN TRANSACTION 'COMMIT TRANSACTION;' COMMIT TRANSACTION",
            &["BEGIN TRANSACTION 'COMMIT TRANSACTION;' COMMIT TRANSACTION"],
        ),
    ]);
}

#[test]
fn begin_opens_a_block_only_at_the_start_of_a_statement() {
    check(&[
        ("SELECT begin FROM batch; b", &["SELECT begin FROM batch", "b"]),
        ("SELECT begin batch FROM t; b", &["SELECT begin batch FROM t", "b"]),
        ("BEGIN; b", &["BEGIN", "b"]),
        ("BEGIN x y BATCH; b", &["BEGIN x y BATCH", "b"]),
        ("APPLY BATCH; b", &["APPLY BATCH", "b"]),
        ("BATCH; b", &["BATCH", "b"]),
        ("TRANSACTION; b", &["TRANSACTION", "b"]),
        ("BEGIN 'BATCH'; b", &["BEGIN 'BATCH'", "b"]),
    ]);
}

#[test]
fn numbers_and_other_values() {
    check(&[
        ("1;2", &["1", "2"]),
        ("1.5;b", &["1.5", "b"]),
        ("1.;b", &["1.", "b"]),
        ("1.e3;b", &["1.e3", "b"]),
        ("-1;b", &["-1", "b"]),
        ("1e5;1E-5;1e+5", &["1e5", "1E-5", "1e+5"]),
        ("0xCAFE;b", &["0xCAFE", "b"]),
        ("0x;b", &["0x", "b"]),
        ("1h30m;b", &["1h30m", "b"]),
        ("-2mo5d;b", &["-2mo5d", "b"]),
        ("1µs;b", &["1µs", "b"]),
        ("P1Y2M3DT4H5M6S;b", &["P1Y2M3DT4H5M6S", "b"]),
        ("PT5S;b", &["PT5S", "b"]),
        ("P2W;b", &["P2W", "b"]),
        ("P0001-02-03T04:05:06;b", &["P0001-02-03T04:05:06", "b"]),
        ("123e4567-e89b-12d3-a456-426614174000;b", &["123e4567-e89b-12d3-a456-426614174000", "b"]),
        ("deadbeef-e89b-12d3-a456-426614174000;b", &["deadbeef-e89b-12d3-a456-426614174000", "b"]),
        ("l[1..3];b", &["l[1..3]", "b"]),
        ("l[..3];b", &["l[..3]", "b"]),
        ("NaN;-Infinity;b", &["NaN", "-Infinity", "b"]),
        ("a=1AND b=2;c", &["a=1AND b=2", "c"]),
        ("a=?;b=:x;c", &["a=?", "b=:x", "c"]),
        ("a<=1;b>=2;c!=3;d+=4;e-=5", &["a<=1", "b>=2", "c!=3", "d+=4", "e-=5"]),
        ("{'a':1};[1,2];(3)", &["{'a':1}", "[1,2]", "(3)"]),
        ("map<int,frozen<list<text>>>;b", &["map<int,frozen<list<text>>>", "b"]),
        ("a*b;a%b;a/b", &["a*b", "a%b", "a/b"]),
    ]);
}

#[test]
fn variables() {
    check(&[
        ("${keyspace}", &["${keyspace}"]),
        ("${keyspace}.t;b", &["${keyspace}.t", "b"]),
        ("USE ${keyspace};b", &["USE ${keyspace}", "b"]),
        ("LIMIT ${a_1};b", &["LIMIT ${a_1}", "b"]),
        ("(${a},${b});c", &["(${a},${b})", "c"]),
        ("{'a':${b}};c", &["{'a':${b}}", "c"]),
        ("${keyspace}.\"T\";b", &["${keyspace}.\"T\"", "b"]),
        ("${a} ${b};c", &["${a} ${b}", "c"]),
    ]);
}

#[test]
fn a_script() {
    let source = "\u{feff}-- users\r\nCREATE TABLE ${keyspace}.users (\r\n  id bigint PRIMARY KEY, -- the key;\r\n  name text\r\n);\r\n\r\n/* and\n   more */ INSERT INTO t (a) VALUES ('é;'); /* last */ DROP TABLE x -- end";
    let pieces = split(source).unwrap();
    let found: Vec<_> = pieces.iter().map(|piece| (piece.text, piece.position)).collect();
    let at = |line, column| Position { line, column };
    assert_eq!(
        found,
        [
            (
                "CREATE TABLE ${keyspace}.users (\r\n  id bigint PRIMARY KEY, -- the key;\r\n  name text\r\n)",
                at(2, 1)
            ),
            ("INSERT INTO t (a) VALUES ('é;')", at(8, 12)),
            ("DROP TABLE x", at(8, 56)),
        ]
    );
}
