//! Any bytes: they are refused with a place, or split so that pieces and gaps are the input.
#![no_main]

use kandra_migrate::__internals::cql::{Statement, allowances, mask, split, utf8};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let source = match utf8(bytes) {
        Ok(source) => source,
        Err(error) => return drop(error.explain()),
    };
    drop(mask(source));
    let pieces = match split(source) {
        Ok(pieces) => pieces,
        Err(error) => return drop(error.explain()),
    };
    let mut end = 0;
    for piece in pieces {
        let gap = &source[end..piece.span.start];
        assert!(split(gap).is_ok_and(|pieces| pieces.is_empty()), "a gap says something: {gap:?}");
        assert_eq!(&source[piece.span.start..piece.span.end], piece.text);
        end = piece.span.end;
        let statement = Statement::from(piece);
        drop((statement.classify(), statement.digest()));
    }
    assert!(split(&source[end..]).is_ok_and(|pieces| pieces.is_empty()), "the end says something");
    assert!(allowances(source).is_ok());
});
