//! What cannot be split, where, and what is shown of it.

use crate::cql::{CqlErrorKind, one, split, utf8};

fn error_of(source: &str) -> (CqlErrorKind, usize, usize) {
    let error = split(source).expect_err(source);
    (error.kind().clone(), error.line(), error.column())
}

#[test]
fn what_has_no_end() {
    use CqlErrorKind::{
        UnterminatedBatch, UnterminatedComment, UnterminatedName, UnterminatedText, UnterminatedTransaction,
    };
    for (source, expected) in [
        ("'", (UnterminatedText, 1, 1)),
        ("a 'b", (UnterminatedText, 1, 3)),
        ("a;\nb '''", (UnterminatedText, 2, 3)),
        ("'a''", (UnterminatedText, 1, 1)),
        ("a; 'it''s ; b", (UnterminatedText, 1, 4)),
        ("$$ a", (UnterminatedText, 1, 1)),
        ("a $$ $ b", (UnterminatedText, 1, 3)),
        ("$$$", (UnterminatedText, 1, 1)),
        ("\"", (UnterminatedName, 1, 1)),
        ("\r\n a \"b\"\"", (UnterminatedName, 2, 4)),
        ("/*", (UnterminatedComment, 1, 1)),
        ("/*/", (UnterminatedComment, 1, 1)),
        ("a; /* /* */ /*", (UnterminatedComment, 1, 13)),
        ("a;\rb;\r  BEGIN BATCH a;", (UnterminatedBatch, 3, 3)),
        ("BEGIN BATCH a; APPLY; BATCH", (UnterminatedBatch, 1, 1)),
        ("BEGIN TRANSACTION a; COMMIT;", (UnterminatedTransaction, 1, 1)),
    ] {
        assert_eq!(error_of(source), expected, "{source:?}");
    }
}

#[test]
fn what_is_not_cql() {
    use CqlErrorKind::{MalformedVariable, Nul, UnexpectedCharacter, VariableInName};
    for (source, expected) in [
        ("a # b", (UnexpectedCharacter('#'), 1, 3)),
        ("é", (UnexpectedCharacter('é'), 1, 1)),
        ("a\u{a0}b", (UnexpectedCharacter('\u{a0}'), 1, 2)),
        ("ä", (UnexpectedCharacter('ä'), 1, 1)),
        ("a _b", (UnexpectedCharacter('_'), 1, 3)),
        ("a ! b", (UnexpectedCharacter('!'), 1, 3)),
        ("$a", (UnexpectedCharacter('$'), 1, 1)),
        ("$$a$$$", (UnexpectedCharacter('$'), 1, 6)),
        ("a;\u{feff}", (UnexpectedCharacter('\u{feff}'), 1, 3)),
        ("a\u{b}", (UnexpectedCharacter('\u{b}'), 1, 2)),
        ("a\0", (Nul, 1, 2)),
        ("'é\0'", (Nul, 1, 3)),
        ("\"\0\"", (Nul, 1, 2)),
        ("$$\0$$", (Nul, 1, 3)),
        ("-- \0\n", (Nul, 1, 4)),
        ("/*\n\0*/", (Nul, 2, 1)),
        ("${", (MalformedVariable, 1, 1)),
        ("a ${}", (MalformedVariable, 1, 3)),
        ("${1}", (MalformedVariable, 1, 1)),
        ("${a b}", (MalformedVariable, 1, 1)),
        ("${_a}", (MalformedVariable, 1, 1)),
        ("${a}_b", (VariableInName, 1, 1)),
        ("${a}b", (VariableInName, 1, 1)),
        ("a${b}", (VariableInName, 1, 2)),
        ("a_${b}", (VariableInName, 1, 3)),
        ("${a}${b}", (VariableInName, 1, 1)),
        ("\"${a}\"", (VariableInName, 1, 2)),
        ("\"x${a}\".t", (VariableInName, 1, 3)),
    ] {
        assert_eq!(error_of(source), expected, "{source:?}");
    }
}

#[test]
fn one_statement_is_one() {
    assert_eq!(one(" -- x\n a b ; -- y").unwrap().text(), "a b");
    assert_eq!(*one("").unwrap_err().kind(), CqlErrorKind::Empty);
    assert_eq!(*one(" /* only */ ; -- this").unwrap_err().kind(), CqlErrorKind::Empty);
    let second = one("a;\n b").unwrap_err();
    assert_eq!((second.kind(), second.line(), second.column()), (&CqlErrorKind::SecondStatement, 2, 2));
    assert_eq!(*one("a; 'b").unwrap_err().kind(), CqlErrorKind::UnterminatedText);
    assert_eq!(*one("'a").unwrap_err().kind(), CqlErrorKind::UnterminatedText);
}

#[test]
fn a_file_is_utf8() {
    assert_eq!(utf8("a é".as_bytes()).unwrap(), "a é");
    let error = utf8(b"CREATE TABLE t (\n  a int, \xff int)").unwrap_err();
    assert_eq!(*error.kind(), CqlErrorKind::InvalidUtf8);
    assert_eq!((error.line(), error.column()), (2, 10));
    assert_eq!(error.excerpt(), "  a int, ");
    let utf16 = utf8(b"\xff\xfeC\0R\0").unwrap_err();
    assert_eq!((utf16.line(), utf16.column()), (1, 1));
}

#[test]
fn explain_shows_the_line_and_a_caret() {
    let error = split("CREATE TABLE a (b int);\nCREATE TABLE c (d # text);\n").unwrap_err();
    assert_eq!(error.to_string(), "CQL line 2, column 19: `#` is not CQL");
    assert_eq!(
        error.explain(),
        "CQL line 2, column 19: `#` is not CQL\n  |\n2 | CREATE TABLE c (d # text)\n  |                   ^\n"
    );
}

#[test]
fn the_excerpt_hides_values() {
    let error = split("INSERT INTO t (a, b) VALUES ('secret', 'more;\n").unwrap_err();
    assert_eq!(error.excerpt(), "INSERT INTO t (a, b) VALUES ('…', …");
    assert_eq!(error.caret(), "INSERT INTO t (a, b) VALUES ('…', ".chars().count());
    assert_eq!(error.column(), 40);
    assert!(!format!("{error:?}{error}{}", error.explain()).contains("secret"));
    let error = split("CREATE ROLE r WITH PASSWORD = 'secret' # 'secret'").unwrap_err();
    assert!(!error.explain().contains("secret"));
    let error = split("CREATE TABLE t (a # int); INSERT INTO t (a) VALUES (12345)").unwrap_err();
    assert_eq!(error.excerpt(), "CREATE TABLE t (a # int)");
}

#[test]
fn the_excerpt_is_short_and_has_no_control_characters() {
    let source = format!("CREATE TABLE t ({}\t# {})", "a int,".repeat(1000), "b int,".repeat(1000));
    let error = split(&source).unwrap_err();
    assert!(error.excerpt().chars().count() < 110);
    assert_eq!(error.excerpt().chars().nth(error.caret()), Some('#'));
    assert!(!error.excerpt().contains('\t'));
}
