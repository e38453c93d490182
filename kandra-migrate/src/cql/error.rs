//! What is wrong with a text, and where.

use std::fmt;

use super::excerpt;
use super::position::Position;

/// What is wrong; for callers that map it to a code of their own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CqlErrorKind {
    /// There is no statement in the text, at most comments.
    #[error("there is no statement here")]
    Empty,
    /// There is a second statement where one was expected.
    #[error("a second statement begins here; one is expected")]
    SecondStatement,
    /// `'…` or `$$…` without its end.
    #[error("this string has no end")]
    UnterminatedText,
    /// `"…` without its end.
    #[error("this quoted name has no end")]
    UnterminatedName,
    /// `/* …` without its end.
    #[error("this comment has no end; `/* */` does not nest")]
    UnterminatedComment,
    /// `BEGIN BATCH` without `APPLY BATCH`.
    #[error("this batch has no APPLY BATCH")]
    UnterminatedBatch,
    /// `BEGIN TRANSACTION` without `COMMIT TRANSACTION`.
    #[error("this transaction has no COMMIT TRANSACTION")]
    UnterminatedTransaction,
    /// A character that no CQL token has.
    #[error("{} is not CQL", describe(*.0))]
    UnexpectedCharacter(char),
    /// A NUL character, anywhere.
    #[error("there is a NUL character here; is the file UTF-8?")]
    Nul,
    /// Bytes that are not UTF-8.
    #[error("this is not UTF-8")]
    InvalidUtf8,
    /// `${` that no name and `}` follow.
    #[error("a variable is written ${{name}}, with letters, digits and `_`")]
    MalformedVariable,
    /// A variable that touches a name, or is inside a quoted one.
    #[error("a variable stands for a whole name or value, it cannot be a part of one")]
    VariableInName,
    /// A variable that is defined, inside of a string, where it is not replaced.
    #[error("${{{0}}} is not replaced inside of a string; write it without the quotes")]
    VariableInText(String),
    /// A variable without a value.
    #[error("${{{0}}} has no value")]
    UnknownVariable(String),
    /// Types nested deeper than any server takes them.
    #[error("this type is nested too deeply")]
    TooDeep,
    /// A statement whose form is not known.
    #[error("expected {expected}, found {found}")]
    Syntax {
        /// What may stand here.
        expected: String,
        /// What stands here.
        found: String,
    },
}

fn describe(character: char) -> String {
    if character.is_ascii_graphic() {
        format!("`{character}`")
    } else {
        format!("the character U+{:04X}", u32::from(character))
    }
}

/// A kind and an offset, before it is known from which text they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: CqlErrorKind,
    pub(crate) at: usize,
}

impl Fault {
    /// `source` is the whole text, so that the excerpt can be masked by what its statement is.
    pub(crate) fn within(self, source: &str) -> CqlError {
        CqlError::new(self.kind, source, self.at)
    }
}

/// An error of a text: what, where, and an excerpt in which values of data and role statements are masked.
///
/// `Display` is one line; [`CqlError::explain`] adds the excerpt.
#[derive(Clone, PartialEq, Eq)]
pub struct CqlError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: CqlErrorKind,
    position: Position,
    excerpt: excerpt::Line,
}

impl CqlError {
    pub(crate) fn new(kind: CqlErrorKind, source: &str, at: usize) -> Self {
        let position = Position::in_text(source, at);
        Self(Box::new(Inner { kind, position, excerpt: excerpt::line(source, at) }))
    }

    /// For a statement that begins at `origin` of a larger text.
    pub(crate) fn moved_to(mut self, origin: Position) -> Self {
        self.0.position = self.0.position.moved_to(origin);
        self
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &CqlErrorKind {
        &self.0.kind
    }

    /// Where it is.
    #[must_use]
    pub fn position(&self) -> Position {
        self.0.position
    }

    /// The line, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.0.position.line
    }

    /// The column in characters, counted from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.0.position.column
    }

    /// The line's text around the place, masked and shortened.
    #[must_use]
    pub fn excerpt(&self) -> &str {
        &self.0.excerpt.text
    }

    /// Characters of the excerpt before the place that a caret marks.
    #[must_use]
    pub fn caret(&self) -> usize {
        self.0.excerpt.caret
    }

    /// The long form, of several lines: the message, the excerpt, a caret under the place.
    #[must_use]
    pub fn explain(&self) -> String {
        let number = self.line().to_string();
        let margin = " ".repeat(number.len());
        let indent = " ".repeat(self.caret());
        format!("{self}\n{margin} |\n{number} | {}\n{margin} | {indent}^\n", self.excerpt())
    }
}

impl fmt::Display for CqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CQL line {}, column {}: {}", self.line(), self.column(), self.kind())
    }
}

impl fmt::Debug for CqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CqlError({self})")
    }
}

impl std::error::Error for CqlError {}
