//! Takes out of code what a formatter may add or remove.

use proc_macro2::Delimiter;

use super::names::Names;
use super::shape::{
    ends_operand, is_jump_statement, is_single_expression, separates_elements, takes_arguments,
};
use super::token::Token;
use super::{attribute, import};

/// Macros of the standard library whose arguments are expressions, and so are code like any other.
const MACROS_OF_EXPRESSIONS: [&str; 21] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "matches",
    "panic",
    "print",
    "println",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// Reduces code, knowing which macros are not what their names say.
pub(crate) struct Reducer<'a> {
    pub(crate) names: &'a Names,
}

impl Reducer<'_> {
    /// The canonical form of a sequence of items or statements.
    pub(crate) fn block(&self, tokens: &[Token]) -> Vec<Token> {
        let tokens = import::gather(&attribute::without_ignored(&split_angles(tokens)));
        Level::new(self, &tokens).reduce()
    }

    /// The canonical form of what stands between parentheses or brackets, or in a list of parameters.
    fn list(&self, tokens: &[Token]) -> Vec<Token> {
        let tokens = attribute::without_ignored(&split_angles(tokens));
        Level::new(self, &tokens).reduce()
    }

    fn group(&self, delimiter: Delimiter, inner: &[Token], before: &[Token]) -> Token {
        if delimiter == Delimiter::Brace {
            return Token::Group(delimiter, self.block(inner));
        }
        let mut reduced = self.list(inner);
        if delimiter == Delimiter::Parenthesis
            && let [elements @ .., comma] = inner
            && comma.is_op(",")
            && !takes_arguments(before)
            && !separates_elements(&split_angles(elements))
        {
            reduced.push(Token::op(","));
        }
        Token::Group(delimiter, reduced)
    }

    /// The body of a match arm or of a closure: without its braces where it is a single expression.
    fn body(&self, inner: &[Token]) -> Vec<Token> {
        let mut content = self.block(inner);
        if is_jump_statement(&content) {
            content.pop();
        }
        let content = innermost(&content).to_vec();
        if is_single_expression(&content) { content } else { vec![Token::Group(Delimiter::Brace, content)] }
    }
}

/// What is within braces that are around nothing but braces.
fn innermost(content: &[Token]) -> &[Token] {
    match content {
        [only] => only.braced().map_or(content, innermost),
        _ => content,
    }
}

/// `>` may close generic arguments, so no operator that begins with it is one token.
fn split_angles(tokens: &[Token]) -> Vec<Token> {
    let mut split = Vec::with_capacity(tokens.len());
    for token in tokens {
        match token {
            Token::Op(op) if op.len() > 1 && op.starts_with('>') => {
                split.extend(op.chars().map(|character| Token::Op(character.into())));
            }
            other => split.push(other.clone()),
        }
    }
    split
}

/// One sequence of tokens between two delimiters, on its way from `tokens` to `out`.
struct Level<'a> {
    reducer: &'a Reducer<'a>,
    tokens: &'a [Token],
    at: usize,
    out: Vec<Token>,
    /// Only the body of a `match` has `=>`.
    is_match: bool,
    /// A `|` here would lead a pattern.
    pattern_starts: bool,
    /// Within a `where` clause, and how many angle brackets are open there.
    where_depth: Option<usize>,
}

impl<'a> Level<'a> {
    fn new(reducer: &'a Reducer<'a>, tokens: &'a [Token]) -> Self {
        let is_match = tokens.iter().any(|token| token.is_op("=>"));
        let out = Vec::with_capacity(tokens.len());
        Self { reducer, tokens, at: 0, out, is_match, pattern_starts: is_match, where_depth: None }
    }

    fn reduce(mut self) -> Vec<Token> {
        while let Some(token) = self.tokens.get(self.at) {
            match token {
                Token::Op(op) => self.operator(op),
                Token::Group(delimiter, inner) => {
                    if *delimiter == Delimiter::Brace {
                        self.where_depth = None;
                    }
                    let group = self.reducer.group(*delimiter, inner, &self.out);
                    self.push(group);
                }
                Token::Word(word) => {
                    self.push(token.clone());
                    self.pattern_starts = matches!(word.as_str(), "let" | "for");
                    if word == "where" {
                        self.where_depth = Some(0);
                    }
                }
                other => self.push(other.clone()),
            }
        }
        self.out
    }

    /// Moves on by one token, which counts as `token`.
    fn push(&mut self, token: Token) {
        self.out.push(token);
        self.at += 1;
        self.pattern_starts = false;
    }

    fn next(&self) -> Option<&'a Token> {
        self.tokens.get(self.at + 1)
    }

    fn operator(&mut self, op: &str) {
        match op {
            "#" if attribute::length(&self.tokens[self.at..]).is_some() => self.attribute(),
            "!" => self.macro_call(),
            "|" if self.pattern_starts => self.at += 1,
            "|" | "||" if !self.out.last().is_some_and(ends_operand) => self.closure(op),
            "=>" if self.is_match => self.arm(),
            "," => self.comma(),
            _ => {
                self.angle(op);
                self.push(Token::op(op));
            }
        }
    }

    fn angle(&mut self, op: &str) {
        let Some(depth) = self.where_depth else {
            return;
        };
        self.where_depth = match op {
            "<" => Some(depth + 1),
            "<<" => Some(depth + 2),
            ">" => Some(depth.saturating_sub(1)),
            ";" => None,
            _ => Some(depth),
        };
    }

    /// The content of an attribute is its own affair, and counts as it is.
    fn attribute(&mut self) {
        let pattern_starts = self.pattern_starts;
        let length = attribute::length(&self.tokens[self.at..]).unwrap_or(1);
        for _ in 0..length {
            self.push(self.tokens[self.at].clone());
        }
        self.pattern_starts = pattern_starts;
    }

    /// What is passed to a macro counts as it is, but where the macro is known to take expressions.
    fn macro_call(&mut self) {
        let name = self.out.last().and_then(Token::name);
        let is_path = self.out.iter().rev().nth(1).is_some_and(|token| token.is_op("::"));
        let known = !is_path
            && name.is_some_and(|name| {
                MACROS_OF_EXPRESSIONS.contains(&name) && !self.reducer.names.contain(name)
            });
        let called = name.is_some();
        self.push(Token::op("!"));
        if called && let Some(defined @ Token::Word(_)) = self.tokens.get(self.at) {
            self.push(defined.clone());
        }
        if called && let Some(Token::Group(delimiter, inner)) = self.tokens.get(self.at) {
            let content = if known { self.reducer.list(inner) } else { inner.clone() };
            self.push(Token::Group(*delimiter, content));
        }
    }

    /// Parameters, and a body in braces if nothing follows that would go on with it.
    fn closure(&mut self, op: &str) {
        self.push(Token::op(op));
        if op == "|" {
            let rest = &self.tokens[self.at..];
            let Some(end) = rest.iter().position(|token| token.is_op("|")) else {
                return;
            };
            self.out.extend(self.reducer.list(&rest[..end]));
            self.at += end;
            self.push(Token::op("|"));
        }
        let Some(body) = self.tokens.get(self.at).and_then(Token::braced) else {
            return;
        };
        if self.next().is_none_or(|token| token.is_op(",") || token.is_op(";")) {
            self.out.extend(self.reducer.body(body));
            self.at += 1;
        }
    }

    /// A body in braces ends its arm, so that its comma can be there or not: it is always counted.
    fn arm(&mut self) {
        self.push(Token::op("=>"));
        let Some(body) = self.tokens.get(self.at).and_then(Token::braced) else {
            return;
        };
        if self.next().is_some_and(|token| token.is_op(".") || token.is_op("?")) {
            return;
        }
        self.out.extend(self.reducer.body(body));
        self.at += 1;
        if self.tokens.get(self.at).is_some_and(|token| token.is_op(",")) {
            self.at += 1;
        }
        if self.at < self.tokens.len() {
            self.out.push(Token::op(","));
        }
        self.pattern_starts = true;
    }

    /// A comma counts where it separates two things.
    fn comma(&mut self) {
        let follows = self.out.last().is_some_and(|token| !token.is_op("<"));
        let ends = match self.next() {
            None => true,
            Some(Token::Op(op)) if op == ">" => true,
            Some(Token::Op(op)) => self.where_depth == Some(0) && (op == ";" || op == "="),
            Some(next) => self.where_depth == Some(0) && next.braced().is_some(),
        };
        if follows && ends {
            self.at += 1;
        } else {
            self.push(Token::op(","));
            self.pattern_starts = self.is_match;
        }
    }
}
