//! Whether CQL has a name or a value at a place, told from the tokens before it.

use super::token::{Token, TokenKind};

/// Operators, behind which a value stands; `<` also opens the arguments of a type.
const OPERATORS: [&str; 15] =
    ["=", "!=", "<", ">", "<=", ">=", "+", "-", "+=", "-=", "*", "/", "%", ":", "?"];
/// Words behind which a value stands.
const BEFORE_VALUES: [&str; 11] = [
    "limit",
    "ttl",
    "timestamp",
    "timeout",
    "like",
    "contains",
    "between",
    "initcond",
    "using",
    "password",
    "identity",
];
/// Types that have arguments.
const GENERIC_TYPES: [&str; 6] = ["frozen", "list", "set", "map", "tuple", "vector"];

/// Reads the tokens of one statement, or of several, from left to right.
#[derive(Debug)]
pub(super) struct Places<'a> {
    source: &'a str,
    /// For each open bracket, whether values are in it.
    open: Vec<bool>,
    last: Option<Token>,
    before_last: Option<Token>,
    /// Whether a value stands at the last token, as a function's name does in `a = f(1)`.
    last_is_value: bool,
}

impl<'a> Places<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, open: Vec::new(), last: None, before_last: None, last_is_value: false }
    }

    /// Whether a value, and not a name, stands where `token` is, which comes next.
    pub(super) fn read(&mut self, token: Token) -> bool {
        let is_value = self.is_value();
        if token.kind == TokenKind::Punctuation {
            match token.text(self.source) {
                "{" | "[" => self.open.push(true),
                "(" => self.open.push(is_value || self.last_is_value || self.is_after(&["values", "in"])),
                "}" | "]" | ")" => drop(self.open.pop()),
                ";" => *self = Self::new(self.source),
                _ => {}
            }
        }
        self.last_is_value = is_value && token.kind == TokenKind::Word;
        self.before_last = self.last.replace(token);
        is_value
    }

    fn is_value(&self) -> bool {
        let Some(last) = self.last else { return false };
        if last.is_punctuation(self.source, ".") {
            return false;
        }
        if self.open.last() == Some(&true) {
            return true;
        }
        match last.kind {
            TokenKind::Punctuation => {
                let sign = last.text(self.source);
                OPERATORS.contains(&sign) && !(sign == "<" && self.opens_type())
            }
            TokenKind::Word => {
                let before_last =
                    |word| self.before_last.is_some_and(|token| token.is_word(self.source, word));
                self.is_after(&BEFORE_VALUES)
                    || last.is_word(self.source, "key") && before_last("contains")
                    || last.is_word(self.source, "json") && !before_last("select")
            }
            _ => false,
        }
    }

    fn is_after(&self, words: &[&str]) -> bool {
        self.last.is_some_and(|last| words.iter().any(|word| last.is_word(self.source, word)))
    }

    fn opens_type(&self) -> bool {
        let is_generic = |token: Token| GENERIC_TYPES.iter().any(|name| token.is_word(self.source, name));
        self.before_last.is_some_and(is_generic)
    }
}
