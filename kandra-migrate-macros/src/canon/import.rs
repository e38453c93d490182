//! `use` declarations as a set of paths: how they are grouped, sorted and placed does not count.

use super::attribute;
use super::encode::encode;
use super::token::Token;

/// Takes the `use` declarations out of a block, and puts the sorted set of their paths at its start.
pub(crate) fn gather(tokens: &[Token]) -> Vec<Token> {
    let mut imports = Vec::new();
    let mut others = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    let mut statement_starts = true;
    while let Some(token) = rest.first() {
        if statement_starts && let Some((paths, length)) = declaration(rest) {
            imports.extend(paths);
            rest = &rest[length..];
            continue;
        }
        let length = if statement_starts { attribute::inner_length(rest).unwrap_or(1) } else { 1 };
        statement_starts = length > 1 || token.is_op(";") || token.braced().is_some();
        others.extend_from_slice(&rest[..length]);
        rest = &rest[length..];
    }
    imports.sort_by_cached_key(|import| encode(std::slice::from_ref(import)));
    imports.dedup();
    imports.extend(others);
    imports
}

/// The flattened paths of the `use` declaration that starts here, and how many tokens it takes.
fn declaration(tokens: &[Token]) -> Option<(Vec<Token>, usize)> {
    let keyword = attribute::outer_length(tokens);
    let keyword = keyword + visibility_length(&tokens[keyword..]);
    // `use<'a>` is a bound, not a declaration.
    let declares = tokens.get(keyword)?.is_word("use") && !tokens.get(keyword + 1)?.is_op("<");
    let length = declares.then(|| tokens[keyword..].iter().position(|token| token.is_op(";")))??;
    let paths = flatten(&tokens[keyword + 1..keyword + length])?;
    let import = |path| Token::Import([&tokens[..=keyword], path].concat());
    Some((paths.iter().map(|path| import(path.as_slice())).collect(), keyword + length + 1))
}

fn visibility_length(tokens: &[Token]) -> usize {
    match tokens {
        [word, Token::Group(proc_macro2::Delimiter::Parenthesis, _), ..] if word.is_word("pub") => 2,
        [word, ..] if word.is_word("pub") => 1,
        _ => 0,
    }
}

/// The paths that the tree between `use` and `;` names, or `None` where it is no such tree.
pub(crate) fn flatten(tree: &[Token]) -> Option<Vec<Vec<Token>>> {
    let mut paths = Vec::new();
    flatten_below(&[], tree, &mut paths)?;
    Some(paths)
}

fn flatten_below(prefix: &[Token], tree: &[Token], paths: &mut Vec<Vec<Token>>) -> Option<()> {
    let (last, stem) = tree.split_last()?;
    let Some(branches) = last.braced() else {
        is_path(tree).then_some(())?;
        paths.push([prefix, tree].concat());
        return Some(());
    };
    is_stem(stem).then_some(())?;
    if branches.is_empty() {
        return Some(());
    }
    let prefix = [prefix, stem].concat();
    let branches = branches.strip_suffix(&[Token::op(",")]).unwrap_or(branches);
    branches.split(|token| token.is_op(",")).try_for_each(|branch| flatten_below(&prefix, branch, paths))
}

/// Nothing, `::`, or a path that ends in `::`.
fn is_stem(tokens: &[Token]) -> bool {
    let path = tokens.strip_prefix(&[Token::op("::")]).unwrap_or(tokens);
    path.chunks(2).all(|pair| matches!(pair, [Token::Word(_), colons] if colons.is_op("::")))
}

/// `a::b`, `a::b as c` or `a::*`, each with or without `::` in front.
fn is_path(tokens: &[Token]) -> bool {
    match tokens {
        [stem @ .., Token::Word(_), word, Token::Word(_)] if word.is_word("as") => is_stem(stem),
        [stem @ .., Token::Word(_)] => is_stem(stem),
        [stem @ .., glob] => glob.is_op("*") && is_stem(stem),
        [] => false,
    }
}
