//! A walk over the tokens of one statement.

use super::error::{CqlErrorKind, Fault};
use super::name::{QualifiedName, fold};
use super::token::{Token, TokenKind};

#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    source: &'a str,
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(source: &'a str, tokens: &'a [Token]) -> Self {
        Self { source, tokens, at: 0 }
    }

    pub(crate) fn source(&self) -> &'a str {
        self.source
    }

    /// The tokens that were not read.
    pub(crate) fn rest(&self) -> &'a [Token] {
        &self.tokens[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    pub(crate) fn advance(&mut self) -> Option<Token> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    pub(crate) fn skip(&mut self, tokens: usize) {
        self.at = (self.at + tokens).min(self.tokens.len());
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.peek().is_some_and(|token| token.is_word(self.source, word))
    }

    pub(crate) fn is_punctuation(&self, sign: &str) -> bool {
        self.peek().is_some_and(|token| token.is_punctuation(self.source, sign))
    }

    /// Reads this keyword if it is next.
    pub(crate) fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    /// Reads these keywords if all of them are next.
    pub(crate) fn words(&mut self, words: &[&str]) -> bool {
        let next = self.rest().iter().take(words.len());
        let found = next.len() == words.len()
            && next.zip(words).all(|(token, word)| token.is_word(self.source, word));
        self.at += if found { words.len() } else { 0 };
        found
    }

    /// Reads this sign if it is next.
    pub(crate) fn punctuation(&mut self, sign: &str) -> bool {
        let found = self.is_punctuation(sign);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect_word(&mut self, word: &str) -> Result<(), Fault> {
        if self.word(word) { Ok(()) } else { Err(self.expected(&word.to_ascii_uppercase())) }
    }

    pub(crate) fn expect_words(&mut self, words: &[&str]) -> Result<(), Fault> {
        words.iter().try_for_each(|word| self.expect_word(word))
    }

    pub(crate) fn expect_punctuation(&mut self, sign: &str) -> Result<(), Fault> {
        if self.punctuation(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    pub(crate) fn expect_end(&self) -> Result<(), Fault> {
        if self.peek().is_none() { Ok(()) } else { Err(self.expected("the end of the statement")) }
    }

    /// A name as the server sees it.
    pub(crate) fn name(&mut self, what: &str) -> Result<String, Fault> {
        let name = match self.peek() {
            Some(token) if token.kind == TokenKind::Word => fold(token.text(self.source)),
            Some(token) if matches!(token.kind, TokenKind::QuotedName | TokenKind::Variable) => {
                token.value(self.source)
            }
            _ => return Err(self.expected(what)),
        };
        self.at += 1;
        Ok(name)
    }

    pub(crate) fn qualified_name(&mut self, what: &str) -> Result<QualifiedName, Fault> {
        let first = self.name(what)?;
        if !self.punctuation(".") {
            return Ok(QualifiedName { keyspace: None, name: first });
        }
        Ok(QualifiedName { keyspace: Some(first), name: self.name(what)? })
    }

    /// A string, `'…'` or `$$…$$`, by value.
    pub(crate) fn string(&mut self, what: &str) -> Result<String, Fault> {
        match self.peek() {
            Some(token)
                if matches!(token.kind, TokenKind::Text | TokenKind::DollarText | TokenKind::Variable) =>
            {
                self.at += 1;
                Ok(token.value(self.source))
            }
            _ => Err(self.expected(what)),
        }
    }

    /// `item` and `, item` for as long as a comma follows.
    pub(crate) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let mut items = vec![item(self)?];
        while self.punctuation(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// The error that something else stands here.
    pub(crate) fn expected(&self, what: &str) -> Fault {
        let at = self.peek().map_or(self.source.len(), |token| token.span.start);
        Fault { kind: CqlErrorKind::Syntax { expected: what.to_owned(), found: self.found() }, at }
    }

    fn found(&self) -> String {
        const SHOWN_CHARS_MAX: usize = 40;
        match self.peek() {
            None => "the end".to_owned(),
            Some(token) if token.is_literal() => match token.kind {
                TokenKind::Text | TokenKind::DollarText => "a string".to_owned(),
                _ => "a value".to_owned(),
            },
            Some(token) => {
                let shown: String = token.text(self.source).chars().take(SHOWN_CHARS_MAX).collect();
                format!("`{shown}`")
            }
        }
    }
}
