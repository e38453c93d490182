use std::time::Duration;

use crate::cql::Statement;
use crate::files::mark::{Mark, Setting};
use crate::files::{Fault, Marked, Script};

fn parse(text: &str) -> Result<Script, Fault> {
    Script::parse("migrations/V1__a.cql", text)
}

/// What is said of a text that is refused.
fn refused(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

/// Each statement with its undo and how many marks it has.
fn statements(script: &Script) -> Vec<(&str, Option<&str>, usize)> {
    fn shown(Marked { statement, marks, undo }: &Marked) -> (&str, Option<&str>, usize) {
        (statement.text(), undo.as_ref().map(Statement::text), marks.len())
    }
    script.statements.iter().map(shown).collect()
}

#[test]
fn a_comment_is_about_the_statement_that_follows() {
    let script = parse(
        "\u{feff}-- kandra: out-of-order\r\n-- Why.\r\nCREATE A;\r\n  --kandra: undo\r\n\r\nDROP A;\r\n\
         /* kandra would say: once */ -- not kandra: once\r\nB;\r\n\
         -- kandra: idempotent,  timeout 1m30s\r\n-- kandra: point-of-no-return\r\n-- What it does.\r\nC 'kandra: once'",
    )
    .unwrap();
    assert_eq!(
        statements(&script),
        [("CREATE A", Some("DROP A"), 0), ("B", None, 0), ("C 'kandra: once'", None, 3)]
    );
    assert_eq!(script.settings, [Setting::OutOfOrder]);
    let marks = &script.statements[2].marks;
    assert_eq!(*marks, [Mark::Idempotent, Mark::Timeout(Duration::from_secs(90)), Mark::PointOfNoReturn]);
    assert_eq!(script.statements[2].statement.origin().line, 12);
}

#[test]
fn what_is_said_wrongly_is_an_error_at_its_line() {
    let accept = format!("-- kandra: accept k1:{}", "a".repeat(64));
    for (text, expected) in [
        (
            "A;\n-- kandra: idempotant\nB",
            "2: unknown key `idempotant`: the keys are undo, idempotent, once, ",
        ),
        ("-- kandra:\nA", "1: unknown key ``"),
        ("-- kandra: once,\nA", "1: unknown key ``"),
        ("-- kandra: once yes\nA", "1: `once` has no value"),
        (
            "-- kandra: once idempotent\nA",
            "1: `once` has no value: write it alone, keys are separated by commas",
        ),
        ("-- kandra: timeout\nA", "1: `timeout` has a value: write `timeout 5m`"),
        ("-- kandra: timeout 5 m\nA", "1: `timeout 5 m`: it is written as in"),
        ("-- kandra: timeout 0\nA", "1: `timeout 0`: a statement needs some time"),
        ("-- kandra: allow KL00\nA", "1: `allow KL00`: no rule of the lint has this code"),
        ("-- kandra: allow KL01, allow KL01\nA", "1: this is said twice"),
        ("-- kandra: accept k2:00\nA", "1: `accept k2:00`: a checksum is `k1:`"),
        ("-- Kandra: once\nA", "1: what is said to kandra-migrate begins with `-- kandra:`"),
        ("// kandra: once\nA", "1: what is said to kandra-migrate begins with `-- kandra:`"),
        ("/* kandra: once */\nA", "1: what is said to kandra-migrate begins with `-- kandra:`"),
        ("A; -- kandra: once\nB", "1: it stands on a line of its own"),
        ("A\n-- kandra: once\nB", "2: it stands before a statement, not inside of one"),
        ("A;\n\n-- kandra: once\n-- end", "3: no statement follows"),
        ("-- kandra: undo\nA", "1: there is no statement before"),
        ("A;\n-- kandra: undo\nB;\n-- kandra: undo\nC", "4: the statement before has an undo already"),
        ("A;\n-- kandra: undo, once\nB", "2: nothing else can be said of an undo"),
        ("A;\n-- kandra: once\n-- kandra: undo\nB", "3: nothing else can be said of an undo"),
        ("A;\n-- kandra: undo, undo\nB", "2: this is said twice"),
        ("-- kandra: once, idempotent\nA", "1: a statement is either idempotent or once"),
        ("-- kandra: timeout 1s\n-- kandra: timeout 2s\nA", "2: this is said twice"),
        ("-- kandra: out-of-order, out-of-order\nA", "1: this is said twice"),
        (&format!("A;\n{accept}\nB"), "2: this is about the whole file"),
        ("", "1: there is no statement in it"),
        ("-- only this\n;;", "1: there is no statement in it"),
        ("A;\n'", "2: column 1: this string has no end"),
    ] {
        let found = refused(text);
        assert!(found.starts_with(&format!("migrations/V1__a.cql:{expected}")), "{text:?}: {found}");
    }
}

#[test]
fn a_batch_holds_no_marks() {
    let text = "BEGIN BATCH\n-- kandra: once\nINSERT INTO t (a) VALUES (1); APPLY BATCH";
    assert!(refused(text).contains("not inside of one"));
}

#[test]
fn an_undo_of_its_own_has_a_statement_for_each_the_last_first() {
    let with = |text: &str, undo: &str| parse(text).unwrap().with_undo("migrations/U1__a.cql", undo);
    let script = with("A; B", "-- first\nUNDO B;\nUNDO A;").unwrap();
    assert_eq!(statements(&script), [("A", Some("UNDO A"), 0), ("B", Some("UNDO B"), 0)]);
    for (text, undo, expected) in [
        ("A; B", "UNDO A", "it has 1 statements and the migration has 2"),
        ("A", "-- kandra: once\nUNDO A", "nothing can be said of the statements of an undo"),
        ("A", "-- kandra: out-of-order\nUNDO A", "nothing can be said of the statements of an undo"),
        ("A;\n-- kandra: undo\nUNDO A", "UNDO A", "the undo is in the migration already"),
        ("A", "", "there is no statement in it"),
    ] {
        let fault = with(text, undo).expect_err(undo).to_string();
        assert!(fault.starts_with(&format!("migrations/U1__a.cql:1: {expected}")), "{fault}");
    }
}

#[test]
fn values_are_not_in_what_is_said_of_a_file() {
    let fault = parse("INSERT INTO t (a) VALUES ('secret', 'x").unwrap_err();
    let said = format!("{fault} {}", fault.excerpt().unwrap_or_default());
    assert!(!said.contains("secret"), "{said}");
}
