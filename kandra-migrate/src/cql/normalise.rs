//! One spelling for pieces of CQL that the servers print in their own way.

use super::lexer::Lexer;
use super::name::{fold, quote};
use super::token::TokenKind;

/// The tokens with one space between them, words in lower case, names quoted only if they need it, strings
/// in single quotes. A text that is not CQL stays as it is.
#[must_use]
pub fn normalise(source: &str) -> String {
    let tokens: Result<Vec<_>, _> = Lexer::new(source).collect();
    let Ok(tokens) = tokens else { return source.to_owned() };
    let spellings: Vec<String> = tokens
        .into_iter()
        .map(|token| match token.kind {
            TokenKind::Word => fold(token.text(source)),
            TokenKind::QuotedName => shortest(&token.value(source)),
            TokenKind::Text | TokenKind::DollarText => {
                format!("'{}'", token.value(source).replace('\'', "''"))
            }
            _ => token.text(source).to_owned(),
        })
        .collect();
    spellings.join(" ")
}

/// A name as it is written in CQL, with quotes only if it needs them for its case or characters.
pub(crate) fn shortest(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if is_plain || name.starts_with("${") { name.to_owned() } else { quote(name) }
}

/// The conditions of a WHERE clause, each normalised.
#[must_use]
pub fn conditions(clause: &str) -> Vec<String> {
    let normalised = normalise(clause);
    let mut conditions: Vec<String> = Vec::new();
    let mut depth = 0_usize;
    let mut condition: Vec<&str> = Vec::new();
    for word in normalised.split(' ') {
        match word {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            "and" if depth == 0 => {
                conditions.push(condition.join(" "));
                condition.clear();
                continue;
            }
            _ => {}
        }
        condition.push(word);
    }
    if !normalised.is_empty() {
        conditions.push(condition.join(" "));
    }
    conditions
}
