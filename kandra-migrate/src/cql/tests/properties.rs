//! What holds for every text.

use proptest::prelude::*;

use crate::cql::{digest, mask, one, split};

/// Pieces of CQL that are likely to meet in odd ways.
fn script() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just(";"),
        Just(" "),
        Just("\n"),
        Just("\r"),
        Just("\r\n"),
        Just("'"),
        Just("''"),
        Just("\""),
        Just("$$"),
        Just("$"),
        Just("--"),
        Just("//"),
        Just("/*"),
        Just("*/"),
        Just("BEGIN"),
        Just("BATCH"),
        Just("APPLY"),
        Just("TRANSACTION"),
        Just("COMMIT"),
        Just("INSERT INTO t (a) VALUES"),
        Just("CREATE TABLE"),
        Just("a"),
        Just("${k}"),
        Just("1"),
        Just("-"),
        Just("é"),
        Just("\u{feff}"),
        Just("("),
        Just(")"),
        Just("CREATE ROLE r"),
        Just("SET a = a + ["),
        Just("frozen<"),
        Just(":"),
        Just("?"),
        Just("WITH"),
        Just("0x"),
        Just("P1Y"),
        Just(","),
        Just("UPDATE t SET"),
        Just("DELETE"),
        Just("FROM"),
        Just("ON"),
        Just("GRANT"),
        Just("PRIMARY KEY"),
        Just("{"),
        Just("CREATE INDEX"),
        Just("CREATE MATERIALIZED VIEW v AS SELECT"),
        Just("="),
        Just("DROP FUNCTION f"),
    ];
    proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    // A failure prints its input; no file of them is kept in the repository.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_and_gaps_are_the_input(source in prop_oneof![script(), any::<String>()]) {
        let Ok(pieces) = split(&source) else { return Ok(()) };
        let mut joined = String::new();
        for piece in &pieces {
            let gap = &source[joined.len()..piece.span.start];
            prop_assert!(split(gap).is_ok_and(|pieces| pieces.is_empty()), "a gap says something: {gap:?}");
            joined.push_str(gap);
            prop_assert_eq!(&source[piece.span.start..piece.span.end], piece.text);
            joined.push_str(piece.text);
        }
        let last = &source[joined.len()..];
        prop_assert!(split(last).is_ok_and(|pieces| pieces.is_empty()), "the end says something: {last:?}");
    }

    #[test]
    fn a_piece_is_one_statement(source in script()) {
        let Ok(pieces) = split(&source) else { return Ok(()) };
        for piece in pieces {
            let statement = one(piece.text).unwrap();
            prop_assert_eq!(statement.text(), piece.text);
            prop_assert_eq!(statement.digest(), digest(piece.text).unwrap());
            let _ = statement.classify();
        }
    }

    #[test]
    fn any_text_can_be_masked(source in prop_oneof![script(), any::<String>()]) {
        let _ = mask(&source);
        if let Err(error) = split(&source) {
            let _ = error.explain();
        }
    }

    #[test]
    fn a_value_does_not_show(secret in "[a-f0-9]{12}", before in script()) {
        if split(&before).is_err() {
            return Ok(());
        }
        let source = format!("{before};INSERT INTO t (a) VALUES ('{secret}', 0x{secret}, $${secret}$$");
        prop_assert!(!mask(&source).contains(&secret), "{}", mask(&source));
    }
}
