//! Help with raw tokens, which have the places of things.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// What a `macro_rules!` fragment stands for comes in an invisible group; to look for names, its tokens
/// are wanted.
pub(crate) fn without_invisible_groups(tokens: TokenStream) -> Vec<TokenTree> {
    let mut trees = Vec::new();
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => {
                let inner = without_invisible_groups(group.stream());
                if group.delimiter() == Delimiter::None {
                    trees.extend(inner);
                } else {
                    let mut bare = Group::new(group.delimiter(), inner.into_iter().collect());
                    bare.set_span(group.span());
                    trees.push(bare.into());
                }
            }
            other => trees.push(other),
        }
    }
    trees
}

/// Questions about a token that may be there.
pub(crate) trait Tree<'a>: Sized + Copy {
    fn ident(self) -> Option<&'a Ident>;
    fn is_punct(self, character: char) -> bool;
    fn group(self, delimiter: Delimiter) -> Option<&'a Group>;

    fn is_ident(self, name: &str) -> bool {
        self.ident().is_some_and(|ident| ident == name)
    }
}

impl<'a> Tree<'a> for Option<&'a TokenTree> {
    fn ident(self) -> Option<&'a Ident> {
        match self {
            Some(TokenTree::Ident(ident)) => Some(ident),
            _ => None,
        }
    }

    fn is_punct(self, character: char) -> bool {
        matches!(self, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
    }

    fn group(self, delimiter: Delimiter) -> Option<&'a Group> {
        match self {
            Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
            _ => None,
        }
    }
}

/// Whether `::` is at this place.
pub(crate) fn is_colons(trees: &[TokenTree], at: usize) -> bool {
    trees.get(at).is_punct(':') && trees.get(at + 1).is_punct(':')
}

/// Whether `::` is before this place.
pub(crate) fn follows_colons(trees: &[TokenTree], at: usize) -> bool {
    at >= 2 && is_colons(trees, at - 2)
}
