//! A script into its statements.

use super::error::{CqlError, CqlErrorKind, Fault};
use super::lexer::Lexer;
use super::position::Position;
use super::token::{Span, Token};

/// One statement of a script: its text from the first token to the last, without the `;`, so that no
/// comment at its ends is sent (one without a line end is a syntax error to the server).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// What is sent.
    pub text: &'a str,
    /// Where it is in the script.
    pub span: Span,
    /// Where it begins, for people.
    pub position: Position,
}

/// Splits a script at `;`, in linear time. Batches and transactions are one statement; pieces that hold
/// only comments, or nothing, are left out; the last `;` is optional.
pub fn split(source: &str) -> Result<Vec<Piece<'_>>, CqlError> {
    Splitter::new(source).collect::<Result<_, _>>().map_err(|fault| fault.within(source))
}

/// The text of a file, or an error that says where it is not UTF-8.
pub fn utf8(bytes: &[u8]) -> Result<&str, CqlError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        CqlError::new(CqlErrorKind::InvalidUtf8, valid, valid.len())
    })
}

/// Yields the statements of a script; ends after the first error.
pub(crate) struct Splitter<'a> {
    source: &'a str,
    lexer: Lexer<'a>,
    /// A place that was counted already, so that counting lines stays linear.
    counted: (usize, Position),
}

impl<'a> Splitter<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        Self { source, lexer: Lexer::new(source), counted: (0, Position::START) }
    }

    fn piece(&mut self, span: Span) -> Piece<'a> {
        let (at, position) = self.counted;
        let position = position.after(&self.source[at..span.start]);
        self.counted = (span.start, position);
        Piece { text: span.of(self.source), span, position }
    }

    fn span(&mut self) -> Option<Result<Span, Fault>> {
        let mut span: Option<Span> = None;
        let mut block = Block::default();
        for token in self.lexer.by_ref() {
            let token = match token {
                Ok(token) => token,
                Err(fault) => return Some(Err(fault)),
            };
            if token.is_punctuation(self.source, ";") && !block.is_open() {
                match span {
                    Some(span) => return Some(Ok(span)),
                    None => continue,
                }
            }
            block.read(token, self.source);
            let start = span.map_or(token.span.start, |span| span.start);
            span = Some(Span { start, end: token.span.end });
        }
        let span = span?;
        Some(match block.unterminated() {
            Some(kind) => Err(Fault { kind, at: span.start }),
            None => Ok(span),
        })
    }
}

impl<'a> Iterator for Splitter<'a> {
    type Item = Result<Piece<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.span()?.map(|span| self.piece(span)))
    }
}

/// Whether a `;` is inside of a batch or transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Block {
    #[default]
    Start,
    /// After `BEGIN`, perhaps a word between.
    Begin {
        words: usize,
    },
    Batch,
    BatchApply,
    Transaction,
    TransactionCommit,
    /// Nothing to open, or closed again.
    Plain,
}

impl Block {
    fn read(&mut self, token: Token, source: &str) {
        let is = |word| token.is_word(source, word);
        *self = match *self {
            Self::Start if is("begin") => Self::Begin { words: 0 },
            Self::Begin { .. } if is("batch") => Self::Batch,
            Self::Begin { words: 0 } if is("transaction") => Self::Transaction,
            // UNLOGGED, COUNTER and what a server may add.
            Self::Begin { words: 0 } => Self::Begin { words: 1 },
            Self::Batch | Self::BatchApply if is("apply") => Self::BatchApply,
            Self::BatchApply if !is("batch") => Self::Batch,
            Self::Transaction | Self::TransactionCommit if is("commit") => Self::TransactionCommit,
            Self::TransactionCommit if !is("transaction") => Self::Transaction,
            Self::Batch => Self::Batch,
            Self::Transaction => Self::Transaction,
            _ => Self::Plain,
        };
    }

    fn unterminated(self) -> Option<CqlErrorKind> {
        match self {
            Self::Batch | Self::BatchApply => Some(CqlErrorKind::UnterminatedBatch),
            Self::Transaction | Self::TransactionCommit => Some(CqlErrorKind::UnterminatedTransaction),
            Self::Start | Self::Begin { .. } | Self::Plain => None,
        }
    }

    fn is_open(self) -> bool {
        self.unterminated().is_some()
    }
}
