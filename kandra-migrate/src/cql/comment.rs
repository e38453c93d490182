//! The comments of a text.

use super::error::CqlError;
use super::lexer::Lexer;
use super::token::Span;

/// A comment, from its first sign to its last, without the line's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment<'a> {
    /// Its text, `--`, `//` or `/*` included.
    pub text: &'a str,
    /// Where it is.
    pub span: Span,
}

/// The comments of a script, in order; those in strings are none.
pub fn comments(source: &str) -> Result<Vec<Comment<'_>>, CqlError> {
    let mut comments = Vec::new();
    let mut read = 0;
    for token in Lexer::new(source) {
        let token = token.map_err(|fault| fault.within(source))?;
        comments.extend(Gap { source, at: read, end: token.span.start });
        read = token.span.end;
    }
    comments.extend(Gap { source, at: read, end: source.len() });
    Ok(comments)
}

/// What is between two tokens: comments and blanks.
struct Gap<'a> {
    source: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Iterator for Gap<'a> {
    type Item = Comment<'a>;

    fn next(&mut self) -> Option<Comment<'a>> {
        let gap = &self.source[self.at..self.end];
        let start = self.at + gap.find(['-', '/'])?;
        let rest = &self.source[start..self.end];
        let length = if rest.starts_with("/*") {
            rest.find("*/").map(|length| length + 2)
        } else {
            rest.find(['\n', '\r'])
        };
        let span = Span { start, end: length.map_or(self.end, |length| start + length) };
        self.at = span.end;
        Some(Comment { text: span.of(self.source), span })
    }
}
