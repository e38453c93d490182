//! The checksum is a frozen format: a change of these values is a change of stored data.

use crate::files::{FileMigration, Found, checksum, of_module};

fn found(undo: Option<&str>) -> Found {
    Found { version: 1, name: "a".to_owned(), file: "V1__a.cql".to_owned(), undo: undo.map(str::to_owned) }
}

fn of(text: &str) -> String {
    FileMigration::read("m", &found(None), text, None).expect("a migration").checksum
}

fn with_undo(text: &str, undo: &str) -> String {
    FileMigration::read("m", &found(Some("U1__a.cql")), text, Some(undo)).expect("a migration").checksum
}

const CREATE: &str = "CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY, name text)";

#[test]
fn golden_vectors() {
    // Computed by another program from the description of the format.
    for (text, expected) in [
        (CREATE.to_owned(), "825a4dad5cfff2ec0a581ccb0f37014ea407ba91f83a2d111716ed912c13e3d6"),
        (
            format!("{CREATE};\n-- kandra: undo\nDROP TABLE ${{keyspace}}.users;"),
            "fc65fd056dd6463c9d770bfeb7a58d11b63cb75d0a11fac7183c296f9a6846ee",
        ),
        (
            format!("-- kandra: timeout 5m, once\nDELETE FROM ${{keyspace}}.t WHERE a = 'it''s';\n{CREATE}"),
            "1816dcbcadb514585afef4551ac41ca04e0348227ddfe27697185613ffa48da3",
        ),
        (
            "-- kandra: idempotent, point-of-no-return, unclassified\nDROP TABLE ${keyspace}.users"
                .to_owned(),
            "4f511fc81a2f0523e0c9924a6be8e3f9acdd10e0751a1a9c93e4beeec947b732",
        ),
    ] {
        assert_eq!(of(&text), format!("k1:{expected}"), "{text:?}");
    }
}

#[test]
fn golden_vectors_of_modules() {
    let tokens = format!("k1:{}", "0".repeat(64));
    for (files, expected) in [
        (&[("a.cql", CREATE)][..], "0639f8225330452fceb26e74f6231e4bb515ecb26d603174e4f522e050a058f8"),
        (
            &[("a.cql", CREATE), ("b.cql", "DROP TABLE ${keyspace}.users")],
            "8213998b5c23c3b80c942df58b0408660fc946af71b2c6d1e63e4afef049c72e",
        ),
        (&[("a.cql", "'no\r\nend")], "e206c20d0fc02a23a30d61b4b22f60f015e77b84fdeb967d2160e30e2fb81d80"),
        (&[], "9420c658b8e822fadf0753fc2d5f74c9c51dca375bbc4edb7555bbe9348a4a8d"),
    ] {
        assert_eq!(of_module(&tokens, files), format!("k1:{expected}"), "{files:?}");
    }
}

#[test]
fn layout_comments_and_what_is_said_of_the_whole_do_not_count() {
    let accept = format!("-- kandra: accept k1:{}\n", "b".repeat(64));
    for text in [
        format!("\u{feff}-- Why.\r\n{}\r\n;\r\n", CREATE.replace(' ', "\r\n ")),
        format!("-- kandra: out-of-order, after-start\n{accept}/* x */ {CREATE};;"),
        CREATE.to_lowercase(),
    ] {
        assert_eq!(of(&text), of(CREATE), "{text}");
    }
    assert_eq!(of(&format!("-- kandra: allow KL01, allow KL04\n{CREATE}")), of(CREATE));
    let marked = |marks: &str| of(&format!("{marks}\nDELETE FROM ${{keyspace}}.t WHERE a = 1"));
    assert_eq!(marked("-- kandra: once, timeout 60s"), marked("-- kandra: timeout 1m\n-- kandra: once"));
    assert_eq!(with_undo("A; B", "UB; UA"), of("A;\n-- kandra: undo\nUA;\nB;\n-- kandra: undo\nUB"));
}

#[test]
fn all_that_a_migration_does_counts() {
    let mut seen = vec![with_undo("A", "B")];
    for text in [
        "A",
        "B",
        "A B",
        "A;B",
        "B;A",
        "A;A",
        "'A'",
        "-- kandra: once\nA",
        "-- kandra: idempotent\nA",
        "-- kandra: unclassified\nA",
        "-- kandra: point-of-no-return\nA",
        "-- kandra: timeout 1s\nA",
        "-- kandra: timeout 2s\nA",
        "-- kandra: timeout 1s, once\nA",
        "-- kandra: once\nA;B",
        "A;\n-- kandra: once\nB",
        "A;\n-- kandra: undo\nC",
    ] {
        let checksum = of(text);
        assert!(!seen.contains(&checksum), "{text:?}");
        seen.push(checksum);
    }
}

#[test]
fn a_module_is_another_one_with_each_edit_of_its_files() {
    let of = |files: &[(&str, &str)]| of_module("k1:0", files);
    assert_eq!(of(&[("a.cql", "A;")]), of(&[("b.cql", "a")]), "where a file is stands in the tokens");
    let different = [
        of(&[("a.cql", "A")]),
        of(&[("a.cql", "B")]),
        of(&[("a.cql", "A"), ("b.cql", "B")]),
        of(&[("b.cql", "B"), ("a.cql", "A")]),
        of(&[("a.cql", "'no end")]),
        of(&[("a.cql", "'no end of another")]),
    ];
    for (i, a) in different.iter().enumerate() {
        assert!(!different[i + 1..].contains(a), "{i}");
    }
    assert_ne!(of_module("k1:1", &[("a.cql", "A")]), different[0]);
    assert!(checksum::of_module("k1:0", &[]).starts_with("k1:"));
}
