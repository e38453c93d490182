//! What a variable of a statement stands for.

use std::collections::BTreeMap;
use std::fmt;

use super::lexer::{Lexer, variable_length};
use super::name::quote;
use super::token::{Token, TokenKind};

/// What a [variable](crate::Runner::variable) stands for: a name or text, a number, a boolean, or a literal of CQL.
///
/// Made from what Rust has for it, as in `.variable("ttl", 3600)`; what is left is [`Value::literal`].
#[derive(Clone, PartialEq, Eq)]
pub struct Value(Kind);

#[derive(Clone, PartialEq, Eq)]
enum Kind {
    /// A name in double quotes or a text in single quotes, as its place in the statement needs.
    Word(String),
    /// As it is.
    Literal(String),
}

impl Value {
    /// A literal of CQL, sent as it is: a map, list or set, a uuid, a duration, a text in single quotes.
    ///
    /// ```
    /// kandra_migrate::Value::literal("{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}");
    /// ```
    ///
    /// What is not one literal is an error of the runner's settings.
    #[must_use]
    pub fn literal(cql: impl Into<String>) -> Self {
        Self(Kind::Literal(cql.into()))
    }

    /// A literal if the text reads as one, else a name or text: for values from a command line or a file of settings.
    ///
    /// `3600`, `true`, `{'a': 1}` and `'shop'` are literals, `shop` is not.
    #[must_use]
    pub fn parse(text: impl Into<String>) -> Self {
        let text = text.into();
        if is_literal(&text) { Self(Kind::Literal(text)) } else { Self(Kind::Word(text)) }
    }

    pub(super) fn render(&self, at_value: bool) -> String {
        match &self.0 {
            Kind::Word(word) if at_value => format!("'{}'", word.replace('\'', "''")),
            Kind::Word(word) => quote(word),
            Kind::Literal(literal) => literal.clone(),
        }
    }
}

impl From<&str> for Value {
    fn from(word: &str) -> Self {
        Self(Kind::Word(word.to_owned()))
    }
}

impl From<String> for Value {
    fn from(word: String) -> Self {
        Self(Kind::Word(word))
    }
}

macro_rules! from_literals {
    ($($type:ty),*) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self(Kind::Literal(value.to_string()))
            }
        })*
    };
}

from_literals!(i16, i32, i64, u16, u32, u64, bool);

/// Hides the value, which may be secret.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// One literal and nothing around it: a number with its sign, a string, a word such as `true`, or a collection.
fn is_literal(text: &str) -> bool {
    let Ok(tokens) = Lexer::new(text).collect::<Result<Vec<_>, _>>() else { return false };
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return false };
    // No comment at its ends, which would swallow what follows.
    if (first.span.start, last.span.end) != (0, text.len()) {
        return false;
    }
    match tokens.as_slice() {
        [one] => {
            one.is_literal()
                || ["true", "false", "null", "nan", "infinity"].iter().any(|word| one.is_word(text, word))
        }
        [sign, number] if sign.is_punctuation(text, "-") => number.kind == TokenKind::Number,
        [open, inner @ .., close] => {
            matches!((open.text(text), close.text(text)), ("{", "}") | ("[", "]") | ("(", ")"))
                && is_content(text, inner)
        }
        [] => false,
    }
}

/// Literals and words between the brackets of one collection, which these tokens do not leave.
fn is_content(text: &str, tokens: &[Token]) -> bool {
    let mut depth = 0_i32;
    let stays_inside = tokens.iter().all(|token| {
        match token.text(text) {
            "{" | "[" | "(" => depth += 1,
            "}" | "]" | ")" => depth -= 1,
            "," | ":" | "-" => {}
            _ => return token.is_literal() || token.kind == TokenKind::Word,
        }
        depth >= 0
    });
    stays_inside && depth == 0
}

/// The variables that are defined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, Value>);

impl Variables {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One more, or another value for one.
    #[must_use]
    pub fn with(mut self, variable: &str, value: impl Into<Value>) -> Self {
        self.set(variable, value.into());
        self
    }

    /// `${keyspace}`.
    #[must_use]
    pub fn keyspace(name: &str) -> Self {
        Self::new().with("keyspace", name)
    }

    /// Defines one.
    pub fn set(&mut self, variable: &str, value: Value) {
        self.0.insert(variable.to_owned(), value);
    }

    /// What a variable stands for.
    #[must_use]
    pub fn get(&self, variable: &str) -> Option<&Value> {
        self.0.get(variable)
    }

    /// Why these do not do, if they do not.
    pub fn check(&self) -> Result<(), String> {
        for (name, Value(kind)) in &self.0 {
            let variable = format!("${{{name}}}");
            if variable_length(variable.as_bytes()) != Some(variable.len()) {
                return Err(format!(
                    "no variable can be called `{name}`: a letter, then letters, digits and `_`"
                ));
            }
            if let Kind::Literal(literal) = kind
                && !is_literal(literal)
            {
                return Err(format!(
                    "what {variable} stands for is said to be a literal of CQL, and is none"
                ));
            }
        }
        Ok(())
    }
}
