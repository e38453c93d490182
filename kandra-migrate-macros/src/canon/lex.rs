//! From the compiler's tokens to ours.

use std::iter::Peekable;

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

use super::literal::Literal;
use super::shape;
use super::token::Token;

/// Rust's operators of more than one character, the longest first.
const OPERATORS: [&str; 24] = [
    "<<=", ">>=", "...", "..=", "::", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "*=", "/=",
    "%=", "^=", "&=", "|=", "<<", ">>", "..",
];

pub(crate) fn lex(stream: TokenStream) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Ident(ident) => tokens.push(Token::Word(ident.to_string())),
            TokenTree::Literal(literal) => push_literal(&literal.to_string(), &mut tokens),
            TokenTree::Group(group) => push_group(group.delimiter(), lex(group.stream()), &mut tokens),
            TokenTree::Punct(punct) if punct.as_char() == '\'' => push_lifetime(&mut trees, &mut tokens),
            TokenTree::Punct(punct) => {
                let mut run = String::from(punct.as_char());
                let mut spacing = punct.spacing();
                while let Some(TokenTree::Punct(next)) = trees.peek() {
                    if spacing == Spacing::Alone || next.as_char() == '\'' {
                        break;
                    }
                    run.push(next.as_char());
                    spacing = next.spacing();
                    trees.next();
                }
                push_operators(&run, &mut tokens);
            }
        }
    }
    tokens
}

/// Cuts a run of characters without space between them into operators by maximal munch.
fn push_operators(run: &str, tokens: &mut Vec<Token>) {
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
        let length = operator.map_or(first.len_utf8(), |operator| operator.len());
        tokens.push(Token::op(&rest[..length]));
        rest = &rest[length..];
    }
}

fn push_lifetime(trees: &mut Peekable<IntoIter>, tokens: &mut Vec<Token>) {
    let name = trees.next_if(|tree| matches!(tree, TokenTree::Ident(_)));
    tokens.push(name.map_or_else(|| Token::op("'"), |name| Token::Lifetime(name.to_string())));
}

/// A macro may make a literal `-1`; in source text that is an operator and a literal.
fn push_literal(text: &str, tokens: &mut Vec<Token>) {
    let magnitude = text.strip_prefix('-');
    if magnitude.is_some() {
        tokens.push(Token::op("-"));
    }
    tokens.push(Token::Literal(Literal::read(magnitude.unwrap_or(text))));
}

/// An invisible group (what a `macro_rules!` fragment stands for) counts as its tokens, but where they
/// would bind differently without it: there it counts as the parentheses that it means.
fn push_group(delimiter: Delimiter, inner: Vec<Token>, tokens: &mut Vec<Token>) {
    match delimiter {
        Delimiter::None if shape::binds_alike_bare(&inner) => tokens.extend(inner),
        Delimiter::None => tokens.push(Token::Group(Delimiter::Parenthesis, inner)),
        _ => tokens.push(Token::Group(delimiter, inner)),
    }
}
