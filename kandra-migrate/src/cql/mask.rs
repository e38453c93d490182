//! Literals out of messages.
//!
//! Values of data and role statements may be personal or secret, so errors, events and logs show them as
//! `'…'` (strings) and `…` (numbers, blobs, uuids, durations). Schema statements are shown as they are,
//! except a string that a name such as `password` announces. Comments are left out everywhere: they hold
//! disabled statements. What follows a place that cannot be read is left out too.

use super::lexer::Lexer;
use super::token::{Span, Token, TokenKind};

/// The text as it may be shown; any text, also one that is not CQL or holds many statements.
#[must_use]
pub fn mask(source: &str) -> String {
    masked(source, source.len()).text
}

/// A masked text, and where in it a place of the source went.
pub(crate) struct Masked {
    pub(crate) text: String,
    pub(crate) mark: usize,
}

pub(crate) fn masked(source: &str, mark: usize) -> Masked {
    let mut masker =
        Masker { source, mark, out: String::new(), marked: None, read: 0, statement: Statement::default() };
    for token in Lexer::new(source) {
        match token {
            Ok(token) => masker.token(token),
            Err(fault) => {
                masker.gap(fault.at);
                masker.unreadable(fault.at);
                return masker.finish();
            }
        }
    }
    masker.gap(source.len());
    masker.finish()
}

struct Masker<'a> {
    source: &'a str,
    mark: usize,
    out: String,
    marked: Option<usize>,
    /// End of what was read.
    read: usize,
    statement: Statement,
}

impl Masker<'_> {
    /// White space up to `end`, without the comments in it.
    fn gap(&mut self, end: usize) {
        let gap = &self.source[self.read.min(end)..end];
        push_without_comments(gap, &mut self.out);
        self.read = end;
        if self.mark <= end {
            self.marked.get_or_insert(self.out.len());
        }
    }

    fn token(&mut self, token: Token) {
        self.gap(token.span.start);
        let Span { start, end } = token.span;
        let before = self.out.len();
        match self.statement.shown(token, self.source) {
            Shown::Plain => self.out.push_str(token.text(self.source)),
            Shown::String => self.out.push_str("'…'"),
            Shown::Value => self.out.push('…'),
        }
        self.read = end;
        if (start..end).contains(&self.mark) && self.marked.is_none() {
            let is_plain =
                self.out.len() - before == end - start && self.out.ends_with(token.text(self.source));
            self.marked = Some(if is_plain { before + self.mark - start } else { before });
        }
    }

    /// A schema statement's names may be shown after the fault, up to what could begin a value or another
    /// statement.
    fn unreadable(&mut self, at: usize) {
        let rest = &self.source[at..];
        let tail =
            rest.find(['\'', '"', '$', ';', '/', '-', '\n', '\r', '\0']).map_or(rest, |end| &rest[..end]);
        if self.statement.hides() || tail.is_empty() {
            self.out.push('…');
        } else {
            self.out.push_str(tail);
        }
    }

    fn finish(self) -> Masked {
        let mark = self.marked.unwrap_or(self.out.len());
        Masked { text: self.out, mark }
    }
}

fn push_without_comments(gap: &str, out: &mut String) {
    let mut rest = gap;
    while !rest.is_empty() {
        let length = if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("--") || rest.starts_with("//") {
            rest.find(['\n', '\r']).unwrap_or(rest.len())
        } else {
            let blanks = rest.find(['-', '/']).unwrap_or(rest.len());
            out.push_str(&rest[..blanks]);
            // A lone sign would be a token, not part of a gap.
            blanks.max(usize::from(blanks == 0))
        };
        rest = &rest[length..];
    }
}

enum Shown {
    Plain,
    String,
    Value,
}

/// What the tokens so far say of the statement that they are in.
#[derive(Default)]
struct Statement {
    tokens: usize,
    is_definition: bool,
    is_schema: bool,
    /// The last name or key announces a secret.
    secret_next: bool,
}

impl Statement {
    /// Unknown statements hide their values, and so do those that may yet be about roles.
    fn hides(&self) -> bool {
        self.tokens < 2 || !self.is_schema
    }

    fn shown(&mut self, token: Token, source: &str) -> Shown {
        if token.is_punctuation(source, ";") {
            *self = Self::default();
            return Shown::Plain;
        }
        self.read(token, source);
        let hidden = if self.is_schema { self.secret_next && is_string(token) } else { token.is_literal() };
        if !token.is_punctuation(source, "=") && !token.is_punctuation(source, ":") {
            self.secret_next = token.kind != TokenKind::Punctuation && announces_secret(token.text(source));
        }
        match (hidden, is_string(token)) {
            (false, _) => Shown::Plain,
            (true, true) => Shown::String,
            (true, false) => Shown::Value,
        }
    }

    fn read(&mut self, token: Token, source: &str) {
        let is_any = |words: &[&str]| words.iter().any(|word| token.is_word(source, word));
        self.tokens += 1;
        match self.tokens {
            1 => {
                self.is_definition = is_any(&["create", "alter", "drop"]);
                self.is_schema = self.is_definition || is_any(&["use", "describe", "desc"]);
            }
            2 if self.is_definition => self.is_schema = !is_any(&["role", "user", "identity"]),
            // A data statement begins where a `;` was forgotten.
            _ if is_any(&["insert", "update", "delete"]) => self.is_schema = false,
            _ => {}
        }
    }
}

fn is_string(token: Token) -> bool {
    matches!(token.kind, TokenKind::Text | TokenKind::DollarText)
}

fn announces_secret(text: &str) -> bool {
    const SIGNS: [&str; 3] = ["password", "secret", "credential"];
    // Long strings are values, not names; looking at their start keeps this linear.
    let head: String = text.chars().take(64).map(|c| c.to_ascii_lowercase()).collect();
    SIGNS.iter().any(|sign| head.contains(sign))
}
