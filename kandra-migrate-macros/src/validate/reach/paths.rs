//! Paths that leave the migration.

use proc_macro2::{Delimiter, Ident, TokenTree};

use super::Place;
use crate::validate::tree::{Tree, follows_colons, is_colons};

/// What the path that starts with this identifier reaches, if that is outside.
pub(super) fn reach(
    trees: &[TokenTree],
    at: usize,
    ident: &Ident,
    place: Place,
    own_names: &[String],
) -> Option<String> {
    if ident == "crate" || ident == "$crate" {
        let names_a_crate = at > 0 && trees.get(at - 1).is_ident("extern");
        return (!names_a_crate).then(|| format!("`{ident}`"));
    }
    if ident == "super" && !follows_super(trees, at) {
        let above = place.prefix_supers.filter(|_| !follows_colons(trees, at)).unwrap_or(0);
        let supers = above + supers_from(trees, at);
        return (supers > place.depth).then(|| "`super`".to_owned());
    }
    let declared = at >= 2 && trees.get(at - 1).is_ident("crate") && trees.get(at - 2).is_ident("extern");
    if declared && ident == "self" {
        return Some("`extern crate self`".to_owned());
    }
    let is_own = own_names.iter().any(|name| ident == name);
    let is_path = is_colons(trees, at + 1) && !trees.get(at + 3).is_punct('<');
    (is_own && (declared || starts_path(trees, at, place) && (is_path || place.in_use)))
        .then(|| format!("`{ident}`, this package's own name,"))
}

/// How many tokens the chain of `super` or the single name takes that starts here.
pub(super) fn length(trees: &[TokenTree], at: usize) -> usize {
    match supers_from(trees, at) {
        0 => 1,
        supers => 3 * supers - 2,
    }
}

/// The `super`s of the path whose rest is the braces at this place, or `None` if no path stands before them.
pub(super) fn supers_before(trees: &[TokenTree], at: usize, place: Place) -> Option<usize> {
    if !trees.get(at).group(Delimiter::Brace).is_some_and(|_| follows_colons(trees, at)) {
        // A list within a list, as in `{{a, b}}`, or no list at all.
        return place.prefix_supers.filter(|_| place.in_use);
    }
    let mut start = at;
    while follows_colons(trees, start) && start >= 3 && trees.get(start - 3).ident().is_some() {
        start -= 3;
    }
    let first = if trees.get(start).is_ident("self") { start + 3 } else { start };
    Some(place.prefix_supers.unwrap_or(0) + supers_from(trees, first))
}

/// `(crate)`, `(super)`, `(self)` or `(in …)`, as it follows `pub`: nothing is reached by it.
pub(super) fn is_restriction(tree: Option<&TokenTree>) -> bool {
    tree.group(Delimiter::Parenthesis).is_some_and(|group| {
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        let is_scope = ["crate", "super", "self"].iter().any(|scope| inner.first().is_ident(scope));
        inner.len() == 1 && is_scope || inner.first().is_ident("in")
    })
}

/// How many `super` follow one another from here.
fn supers_from(trees: &[TokenTree], at: usize) -> usize {
    let mut supers = 0;
    while trees.get(at + 3 * supers).is_ident("super")
        && (supers == 0 || follows_colons(trees, at + 3 * supers))
    {
        supers += 1;
    }
    supers
}

fn follows_super(trees: &[TokenTree], at: usize) -> bool {
    at >= 3 && follows_colons(trees, at) && trees.get(at - 3).is_ident("super")
}

/// Whether this is a path's first name: what stands before it is neither a path nor a value.
fn starts_path(trees: &[TokenTree], at: usize, place: Place) -> bool {
    if at > 0 && trees.get(at - 1).is_punct('.') {
        return false;
    }
    if !follows_colons(trees, at) {
        return place.prefix_supers.is_none();
    }
    // `::name` from the root, but neither `path::name` nor `<T>::name`.
    let before = at.checked_sub(3).and_then(|before| trees.get(before));
    let is_keyword = ["use", "as", "in", "return", "match", "if", "dyn", "impl", "for", "mut"];
    !before.is_punct('>')
        && (before.ident().is_none() || is_keyword.iter().any(|keyword| before.is_ident(keyword)))
}
