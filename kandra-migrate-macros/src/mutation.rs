//! No edit of a single token goes unseen.

use std::iter::once;

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use crate::canon::checksum;

fn of(trees: &[TokenTree]) -> String {
    checksum(TokenStream::new(), trees.iter().cloned().collect())
}

/// One edit, at one place of a tree of tokens.
struct Mutant {
    edit: String,
    trees: Vec<TokenTree>,
}

/// Every edit of every token at every depth, save for those that are documented not to count.
fn mutants(trees: &[TokenTree]) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (at, tree) in trees.iter().enumerate() {
        if is_documentation(trees, at) {
            continue;
        }
        let mut edit = |name: &str, replaced: usize, by: Vec<TokenTree>| {
            let trees = [&trees[..at], &by, &trees[at + replaced..]].concat();
            mutants.push(Mutant { edit: format!("{name} `{tree}`"), trees });
        };
        if !is_optional_comma(trees, at) {
            edit("delete", 1, vec![]);
        }
        edit("double", 1, vec![tree.clone(), tree.clone()]);
        edit("replace", 1, vec![another(tree)]);
        if let Some(next) = trees.get(at + 1)
            && next.to_string() != tree.to_string()
            && !is_optional_comma(trees, at + 1)
        {
            edit("swap", 2, vec![next.clone(), tree.clone()]);
        }
        if let TokenTree::Group(group) = tree {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            for Mutant { edit, trees: inner } in self::mutants(&inner) {
                let group = TokenTree::Group(Group::new(group.delimiter(), inner.into_iter().collect()));
                let trees =
                    trees[..at].iter().cloned().chain(once(group)).chain(trees[at + 1..].iter().cloned());
                mutants.push(Mutant { edit, trees: trees.collect() });
            }
        }
    }
    mutants
}

/// A token of the same kind that says something else.
fn another(tree: &TokenTree) -> TokenTree {
    match tree {
        TokenTree::Ident(ident) => Ident::new(&format!("{ident}_"), Span::call_site()).into(),
        TokenTree::Literal(literal)
            if literal.to_string().starts_with(|first: char| first.is_ascii_digit()) =>
        {
            Literal::usize_unsuffixed(987_654_321).into()
        }
        TokenTree::Literal(literal) => Literal::string(&format!("{literal} ")).into(),
        TokenTree::Punct(punct) => {
            let other = if punct.as_char() == '%' { '^' } else { '%' };
            Punct::new(other, Spacing::Alone).into()
        }
        TokenTree::Group(group) => {
            let other = match group.delimiter() {
                Delimiter::Parenthesis => Delimiter::Bracket,
                _ => Delimiter::Parenthesis,
            };
            Group::new(other, group.stream()).into()
        }
    }
}

fn is_documentation(trees: &[TokenTree], at: usize) -> bool {
    let is_doc = |tree: Option<&TokenTree>| matches!(tree, Some(TokenTree::Group(body)) if body.stream().to_string().starts_with("doc"));
    match &trees[at] {
        TokenTree::Punct(punct) => punct.as_char() == '#' && is_doc(trees.get(at + 1)),
        tree => is_doc(Some(tree)),
    }
}

/// A comma that separates nothing, or that follows the braces of an arm.
fn is_optional_comma(trees: &[TokenTree], at: usize) -> bool {
    let is =
        |tree: &TokenTree, character| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == character);
    let follows_braces =
        at > 0 && matches!(&trees[at - 1], TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    let ends = match trees.get(at + 1) {
        None => true,
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
        Some(next) => is(next, '>'),
    };
    let is_tuple_of_one = trees.iter().filter(|tree| is(tree, ',')).count() == 1 && at == 1;
    is(&trees[at], ',') && (follows_braces || ends && !is_tuple_of_one)
}

#[test]
fn every_edit_of_a_token_changes_the_checksum() {
    let mut mutants_seen = 0;
    let mut unseen = Vec::new();
    for source in include_str!("golden/corpus.rs.txt").split("////////\n") {
        let trees: Vec<TokenTree> =
            source.parse::<TokenStream>().expect("the corpus is Rust").into_iter().collect();
        let original = of(&trees);
        for Mutant { edit, trees } in mutants(&trees) {
            mutants_seen += 1;
            if of(&trees) == original {
                unseen.push(format!("{edit} in {}", trees.into_iter().collect::<TokenStream>()));
            }
        }
    }
    assert!(unseen.is_empty(), "{unseen:#?}");
    assert!(mutants_seen > 2_000, "{mutants_seen} mutants are too few to prove anything");
}
