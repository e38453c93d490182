//! The bytes that are hashed: each token framed, so that no two sequences of tokens have the same bytes.

use proc_macro2::Delimiter;

use super::literal::Kind;
use super::token::Token;

/// The bytes of a sequence of tokens in canonical form.
pub(crate) fn encode(tokens: &[Token]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_all(tokens, &mut bytes);
    bytes
}

fn write_all(tokens: &[Token], bytes: &mut Vec<u8>) {
    for token in tokens {
        write(token, bytes);
    }
}

fn write(token: &Token, bytes: &mut Vec<u8>) {
    match token {
        Token::Word(text) => frame(b'i', text.as_bytes(), bytes),
        Token::Lifetime(text) => frame(b'l', text.as_bytes(), bytes),
        Token::Op(text) => frame(b'p', text.as_bytes(), bytes),
        Token::Literal(literal) => {
            frame(tag(literal.kind), &literal.value, bytes);
            if !literal.suffix.is_empty() {
                frame(b'x', literal.suffix.as_bytes(), bytes);
            }
        }
        Token::Group(delimiter, inner) => {
            let (open, close) = match delimiter {
                Delimiter::Parenthesis => (b'(', b')'),
                Delimiter::Bracket => (b'[', b']'),
                Delimiter::Brace => (b'{', b'}'),
                Delimiter::None => unreachable!("the lexer resolves invisible groups"),
            };
            bytes.push(open);
            write_all(inner, bytes);
            bytes.push(close);
        }
        Token::Import(path) => frame(b'u', &encode(path), bytes),
    }
}

fn tag(kind: Kind) -> u8 {
    match kind {
        Kind::Number => b'n',
        Kind::Text => b's',
        Kind::Bytes => b'b',
        Kind::CText => b'c',
        Kind::Char => b'h',
        Kind::Byte => b'y',
    }
}

fn frame(tag: u8, content: &[u8], bytes: &mut Vec<u8>) {
    bytes.push(tag);
    bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
    bytes.extend_from_slice(content);
}
