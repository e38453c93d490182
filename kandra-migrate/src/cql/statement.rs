//! One statement.

use super::error::{CqlError, CqlErrorKind, Fault};
use super::lexer::Lexer;
use super::position::Position;
use super::script::{Piece, Splitter};
use super::token::Token;

/// One statement, from its first token to its last: readable to the lexer, perhaps with variables, and not
/// yet known to be CQL that a server takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Statement {
    text: String,
    origin: Position,
}

/// The statement of a text that has exactly one.
pub fn one(source: &str) -> Result<Statement, CqlError> {
    let mut pieces = Splitter::new(source);
    let fault = match (pieces.next().transpose(), pieces.next().transpose()) {
        (Err(fault), _) | (_, Err(fault)) => fault,
        (Ok(None), _) => Fault { kind: CqlErrorKind::Empty, at: source.len() },
        (_, Ok(Some(second))) => Fault { kind: CqlErrorKind::SecondStatement, at: second.span.start },
        (Ok(Some(piece)), Ok(None)) => return Ok(piece.into()),
    };
    Err(fault.within(source))
}

impl From<Piece<'_>> for Statement {
    fn from(piece: Piece<'_>) -> Self {
        Self { text: piece.text.to_owned(), origin: piece.position }
    }
}

impl Statement {
    /// What is sent, once the variables are replaced.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where it begins in the text that it was read from.
    #[must_use]
    pub fn origin(&self) -> Position {
        self.origin
    }

    /// The statement with another text, at the same place.
    pub(crate) fn with_text(&self, text: String) -> Self {
        Self { text, origin: self.origin }
    }

    /// An error at a byte offset of this statement, with the place in the text that it was read from.
    pub(crate) fn error(&self, kind: CqlErrorKind, at: usize) -> CqlError {
        CqlError::new(kind, &self.text, at).moved_to(self.origin)
    }

    pub(crate) fn tokens(&self) -> Vec<Token> {
        Lexer::new(&self.text).map(|token| token.expect("the lexer has read this statement before")).collect()
    }
}
