//! A digest of what a text says, whatever its layout. **A frozen format**: digests are stored.
//!
//! SHA-256 over `kandra-cql-1\n` and, for each token, a tag, the length of its content in bytes (eight
//! bytes, big-endian) and the content:
//!
//! | tag | token | content |
//! |---|---|---|
//! | `w` | word | in lower case (ASCII): neither keywords nor unquoted names have a case |
//! | `q` | quoted name | without its quotes, `""` as `"` |
//! | `s` | `'…'` and `$$…$$` | without its quotes, `''` as `'`; the line ends as they are |
//! | `n` | number, duration | in lower case |
//! | `b` | blob | in lower case |
//! | `u` | uuid | in lower case |
//! | `v` | variable | as it is written, `${name}` |
//! | `p` | punctuation | as it is written |
//! | `;` | end of a statement | nothing |
//!
//! White space, comments, a byte order mark, empty statements and every `;` itself (also those in a batch,
//! where they are optional) are left out. `users` and `"users"` are different: to know that they are the
//! same takes a rule that a later server may change.

use sha2::{Digest as _, Sha256};

use super::error::CqlError;
use super::lexer::Lexer;
use super::script::split;
use super::statement::Statement;
use super::token::{Token, TokenKind};

const FORMAT: &[u8] = b"kandra-cql-1\n";

/// The digest of a script, 64 hexadecimal digits.
pub fn digest(source: &str) -> Result<String, CqlError> {
    Ok(of_statements(split(source)?.iter().map(|piece| piece.text)))
}

impl Statement {
    /// The digest of the statement; the same as of a script that has no other.
    #[must_use]
    pub fn digest(&self) -> String {
        of_statements(std::iter::once(self.text()))
    }
}

fn of_statements<'a>(statements: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new_with_prefix(FORMAT);
    for source in statements {
        for token in Lexer::new(source).flatten() {
            if !token.is_punctuation(source, ";") {
                add(&mut hash, tag(token), content(token, source).as_bytes());
            }
        }
        add(&mut hash, b';', b"");
    }
    hex::encode(hash.finalize())
}

fn add(hash: &mut Sha256, tag: u8, content: &[u8]) {
    hash.update([tag]);
    hash.update((content.len() as u64).to_be_bytes());
    hash.update(content);
}

fn tag(token: Token) -> u8 {
    match token.kind {
        TokenKind::Word => b'w',
        TokenKind::QuotedName => b'q',
        TokenKind::Text | TokenKind::DollarText => b's',
        TokenKind::Number => b'n',
        TokenKind::Blob => b'b',
        TokenKind::Uuid => b'u',
        TokenKind::Variable => b'v',
        TokenKind::Punctuation => b'p',
    }
}

fn content(token: Token, source: &str) -> String {
    let value = token.value(source);
    match token.kind {
        TokenKind::Word | TokenKind::Number | TokenKind::Blob | TokenKind::Uuid => value.to_ascii_lowercase(),
        _ => value,
    }
}
