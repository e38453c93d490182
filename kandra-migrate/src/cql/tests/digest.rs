//! The digest is a frozen format: a change of these values is a change of stored data.

use crate::cql::{digest, one};

#[test]
fn golden_vectors() {
    // Computed by another program from the description of the format.
    for (source, expected) in [
        ("", "0a02d00055b68e7cad99452440a69ec0bd6f9f576fed11d1c380d09f626be202"),
        (
            "DROP TABLE ${keyspace}.\"Users\";",
            "f9b7e367f7496e7711302ec2ff265ce2fad1b8d0a8b34cec2d994daa060c687c",
        ),
        (
            "INSERT INTO t (a, b) VALUES ('it''s', -1.5E3) -- x",
            "27408641df2d6684f43e845ce781b4a21c8692bb78836a87e756047ab9c40a64",
        ),
        ("a;\n$$é$$ 0xAB;", "12ede20dd0307ea31bc57f7db90d6e399f18386b701a04769b25e877af817586"),
        ("BEGIN BATCH a; b; APPLY BATCH", "574abfa32a3de9690a11d65f126fcf2c30513de7fbd5fb8faef83a492864977d"),
        (
            "a<=123E4567-e89b-12d3-a456-426614174000",
            "9413c5f10cda436ce37a6a2ee2065f64a8652f359468b0629c9f6086fe098de5",
        ),
    ] {
        assert_eq!(digest(source).unwrap(), expected, "{source:?}");
    }
}

fn same(a: &str, b: &str) -> bool {
    digest(a).unwrap() == digest(b).unwrap()
}

#[test]
fn layout_does_not_count() {
    for (a, b) in [
        ("SELECT a FROM t", "select  A\r\nFROM t;"),
        ("SELECT a FROM t", "\u{feff}-- x\nSELECT /* y */ a FROM t -- z"),
        ("a;b", ";;a;\n;b;"),
        ("BEGIN BATCH a; b; APPLY BATCH", "BEGIN BATCH a b APPLY BATCH;"),
        ("'it''s'", "$$it's$$"),
        ("0xAB", "0xab"),
        ("1E5", "1e5"),
        ("a=1", "a = 1"),
        ("a=a-1", "a = a - 1"),
    ] {
        assert!(same(a, b), "{a:?} {b:?}");
    }
}

#[test]
fn everything_else_counts() {
    let texts = [
        "", "a", "b", "a;b", "b;a", "a b", "\"a\"", "\"A\"", "'a'", "'A'", "'a '", "1", "1.0", "-1", "'1'",
        "0x1", "${a}", "${A}", "'${a}'", "a.b", "a..b", "a . . b", "<=", "< =", "(a)", "a()", "'a''b'",
        "'a' 'b'", "'a\nb'", "'a\r\nb'",
    ];
    for (i, a) in texts.iter().enumerate() {
        for b in &texts[i + 1..] {
            assert!(!same(a, b), "{a:?} {b:?}");
        }
    }
}

#[test]
fn a_statement_has_the_digest_of_its_script() {
    let statement = one("-- x\nDROP TABLE ${keyspace}.t;").unwrap();
    assert_eq!(statement.digest(), digest("drop table ${keyspace}.T").unwrap());
}
