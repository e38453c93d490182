//! Attributes, and which of them do not count.

use proc_macro2::Delimiter;

use super::token::Token;

/// Attributes that change no meaning: documentation, and what the compiler warns of.
const IGNORED: [&str; 4] = ["doc", "allow", "expect", "warn"];

/// Leaves out the attributes that do not count.
pub(crate) fn without_ignored(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while !rest.is_empty() {
        let length = length(rest).unwrap_or(1);
        if length == 1 || !is_ignored(&rest[length - 1]) {
            kept.extend_from_slice(&rest[..length]);
        }
        rest = &rest[length..];
    }
    kept
}

/// How many tokens the attribute takes that starts here: `#[…]` or `#![…]`.
pub(crate) fn length(tokens: &[Token]) -> Option<usize> {
    match tokens {
        [hash, body, ..] if hash.is_op("#") && body.is_group(Delimiter::Bracket) => Some(2),
        _ => inner_length(tokens),
    }
}

/// The same for `#![…]` alone.
pub(crate) fn inner_length(tokens: &[Token]) -> Option<usize> {
    let [hash, bang, body, ..] = tokens else {
        return None;
    };
    (hash.is_op("#") && bang.is_op("!") && body.is_group(Delimiter::Bracket)).then_some(3)
}

/// How many tokens all the outer attributes take that start here.
pub(crate) fn outer_length(tokens: &[Token]) -> usize {
    let pairs = tokens.chunks(2).take_while(|pair| pair.len() == 2 && length(pair) == Some(2));
    2 * pairs.count()
}

fn is_ignored(body: &Token) -> bool {
    let Token::Group(_, content) = body else {
        return false;
    };
    let path = content.get(1).is_some_and(|token| token.is_op("::"));
    !path && IGNORED.iter().any(|name| content.first().is_some_and(|token| token.is_word(name)))
}
