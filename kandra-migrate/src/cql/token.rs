//! What the lexer yields: a kind and the place in the text, no copy of it.

/// A byte range of the text that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

impl Span {
    /// The text at this place.
    #[must_use]
    pub fn of(self, source: &str) -> &str {
        &source[self.start..self.end]
    }
}

/// What a token is, as far as splitting and classifying need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TokenKind {
    /// A keyword or an unquoted name.
    Word,
    /// `"…"`, with `""` for a quote inside.
    QuotedName,
    /// `'…'`, with `''` for a quote inside.
    Text,
    /// `$$…$$`, taken as it is.
    DollarText,
    /// An integer, decimal or duration; a sign is punctuation of its own.
    Number,
    /// `0x…`.
    Blob,
    /// 8-4-4-4-12 hexadecimal digits, without quotes.
    Uuid,
    /// `${name}`: replaced before the statement is sent.
    Variable,
    /// An operator, bracket, separator or `?`.
    Punctuation,
}

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: TokenKind,
    /// Where it is.
    pub(crate) span: Span,
}

impl Token {
    /// Its text, quotes included.
    #[must_use]
    pub(crate) fn text(self, source: &str) -> &str {
        self.span.of(source)
    }

    /// Whether it is this keyword, in any case.
    pub(crate) fn is_word(self, source: &str, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text(source).eq_ignore_ascii_case(word)
    }

    pub(crate) fn is_punctuation(self, source: &str, sign: &str) -> bool {
        self.kind == TokenKind::Punctuation && self.text(source) == sign
    }

    /// Whether it is a value written out.
    pub(crate) fn is_literal(self) -> bool {
        matches!(
            self.kind,
            TokenKind::Text | TokenKind::DollarText | TokenKind::Number | TokenKind::Blob | TokenKind::Uuid
        )
    }

    /// What a string, a quoted name or a variable stands for; other tokens as they are written.
    pub(crate) fn value(self, source: &str) -> String {
        let text = self.text(source);
        match self.kind {
            TokenKind::QuotedName => text[1..text.len() - 1].replace("\"\"", "\""),
            TokenKind::Text => text[1..text.len() - 1].replace("''", "'"),
            TokenKind::DollarText => text[2..text.len() - 2].to_owned(),
            _ => text.to_owned(),
        }
    }
}
