//! The names that code defines or imports, as far as they can be macros.

use std::collections::{HashMap, HashSet};

use proc_macro2::TokenStream;

use super::import;
use super::lex::lex;
use super::token::Token;

#[derive(Default)]
pub(crate) struct Names {
    /// By `macro_rules!`.
    pub(crate) defined: HashSet<String>,
    /// By `use`, each with the path that it stands for.
    pub(crate) imported: HashMap<String, Vec<String>>,
}

impl Names {
    pub(crate) fn of(code: TokenStream) -> Self {
        let mut names = Self::default();
        names.collect(&lex(code));
        names
    }

    pub(crate) fn contain(&self, name: &str) -> bool {
        self.defined.contains(name) || self.imported.contains_key(name)
    }

    fn collect(&mut self, tokens: &[Token]) {
        for (at, token) in tokens.iter().enumerate() {
            match &tokens[at..] {
                [word, bang, Token::Word(name), ..] if word.is_word("macro_rules") && bang.is_op("!") => {
                    self.defined.insert(name.clone());
                }
                [word, tree @ ..] if word.is_word("use") => {
                    let end = tree.iter().position(|token| token.is_op(";")).unwrap_or(0);
                    let paths = import::flatten(&tree[..end]).unwrap_or_default();
                    self.imported.extend(paths.iter().filter_map(|path| imported(path)));
                }
                _ => {}
            }
            if let Token::Group(_, inner) = token {
                self.collect(inner);
            }
        }
    }
}

/// The name that a flattened path brings into scope, and the path without its `as` and `self`.
fn imported(path: &[Token]) -> Option<(String, Vec<String>)> {
    let (path, alias) = match path {
        [path @ .., word, alias] if word.is_word("as") => (path, Some(alias)),
        _ => (path, None),
    };
    let mut words: Vec<String> = path.iter().filter_map(Token::word).map(str::to_owned).collect();
    if words.last().is_some_and(|last| last == "self") {
        words.pop();
    }
    let name = alias.or(path.last().filter(|last| !last.is_op("*")))?.word()?;
    let name = if name == "self" { words.last()?.clone() } else { name.to_owned() };
    Some((name, words))
}
