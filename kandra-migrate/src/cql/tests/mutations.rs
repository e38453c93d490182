//! What the fuzz target looks for (`fuzz/fuzz_targets/split.rs`), by a seeded generator, so that each `cargo test` does
//! some of it: scripts with bytes changed, and bytes that are no script at all.

use crate::cql::{Statement, allowances, mask, split, utf8};

/// Scripts that have a bit of everything.
const SCRIPTS: [&str; 6] = [
    "\u{feff}-- it's; one\r\nINSERT INTO \"k s\".t (a) VALUES ('a;''b', $$;'$$); // end\rSELECT 1",
    "BEGIN UNLOGGED BATCH UPDATE t SET a = a + 1 WHERE b = 2; DELETE FROM t WHERE b = 3; APPLY BATCH; /* * / ; */ USE k;",
    "BEGIN TRANSACTION LET x = (SELECT a FROM t); IF x IS NULL THEN INSERT INTO t (a) VALUES (1); END IF COMMIT TRANSACTION",
    "CREATE FUNCTION ${keyspace}.f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS $$ return a; // ; $$;",
    "CREATE TABLE k.t (a int, b frozen<map<text, list<int>>>, c vector<float, 3>, PRIMARY KEY ((a), b)) WITH compaction = {'class': 'x', 'n': -1.5e3}",
    "-- kandra: allow KL01, KL99\nTRUNCATE k.t;\n\n-- kandra: allow\nCREATE ROLE r WITH PASSWORD = 'secret' AND LOGIN = true;;",
];

/// What is put in: each has a meaning somewhere.
const PARTS: [&[u8]; 24] = [
    b"'",
    b"\"",
    b"$$",
    b"$",
    b"--",
    b"//",
    b"/*",
    b"*/",
    b";",
    b"\n",
    b"\r",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"${",
    b"}",
    b"(",
    b")",
    b"BEGIN BATCH ",
    b"APPLY BATCH",
    b"COMMIT TRANSACTION",
    b"\xc3",
    b"\xf0\x9f\xa6\x80",
    b"-- kandra: allow ",
];

const ROUNDS: usize = 20_000;
const CHANGES_MAX: usize = 8;
const NOISE_BYTES_MAX: usize = 200;

/// Xorshift, so that a failure is found again.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).expect("below a usize")
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let (from, to) = (self.below(bytes.len() + 1), self.below(bytes.len() + 1));
        let range = from.min(to)..from.max(to);
        match self.below(5) {
            0 => drop(bytes.drain(range)),
            1 => {
                let part = PARTS[self.below(PARTS.len())];
                drop(bytes.splice(from..from, part.iter().copied()));
            }
            2 if from < bytes.len() => bytes[from] = u8::try_from(self.below(256)).expect("a byte"),
            3 => bytes.extend_from_within(range),
            _ => bytes.extend_from_slice(SCRIPTS[self.below(SCRIPTS.len())].as_bytes()),
        }
    }
}

/// The bytes are refused with a place that is one of theirs, or split so that pieces and gaps are the input.
fn holds(bytes: &[u8]) {
    let source = match utf8(bytes) {
        Ok(source) => source,
        Err(error) => {
            let place = error.line().min(error.column());
            assert!(place >= 1 && !error.explain().is_empty(), "{bytes:?}");
            return;
        }
    };
    let _ = mask(source);
    let pieces = match split(source) {
        Ok(pieces) => pieces,
        Err(error) => {
            let lines = source.split(['\n', '\r']).count();
            assert!((1..=lines).contains(&error.line()) && error.column() >= 1, "{source:?}: {error}");
            assert!(error.explain().contains('^'), "{source:?}: {}", error.explain());
            return;
        }
    };
    let mut end = 0;
    for piece in pieces {
        let gap = &source[end..piece.span.start];
        assert!(
            split(gap).is_ok_and(|pieces| pieces.is_empty()),
            "a gap says something: {gap:?} in {source:?}"
        );
        assert_eq!(&source[piece.span.start..piece.span.end], piece.text);
        end = piece.span.end;
        let statement = Statement::from(piece);
        let _ = (statement.classify(), statement.digest());
    }
    let last = &source[end..];
    assert!(
        split(last).is_ok_and(|pieces| pieces.is_empty()),
        "the end says something: {last:?} in {source:?}"
    );
    assert!(allowances(source).is_ok(), "{source:?}");
}

#[test]
fn scripts_with_bytes_changed() {
    let mut dice = Dice(0x5eed);
    for round in 0..ROUNDS {
        let mut bytes = SCRIPTS[round % SCRIPTS.len()].as_bytes().to_vec();
        for _ in 0..=dice.below(CHANGES_MAX) {
            dice.change(&mut bytes);
        }
        holds(&bytes);
    }
}

#[test]
fn bytes_that_are_no_script() {
    let mut dice = Dice(0xb17e5);
    for _ in 0..ROUNDS {
        let length = dice.below(NOISE_BYTES_MAX);
        // Half of them from what has a meaning, so that more than the first byte is looked at.
        let mut bytes = Vec::new();
        while bytes.len() < length {
            match dice.below(2) {
                0 => bytes.push(u8::try_from(dice.below(128)).expect("a byte")),
                _ => bytes.extend_from_slice(PARTS[dice.below(PARTS.len())]),
            }
        }
        holds(&bytes);
    }
}
