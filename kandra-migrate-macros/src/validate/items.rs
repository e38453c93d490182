//! The items that a migration must and must not have.

use proc_macro2::{Delimiter, Ident, Span, TokenTree};

use super::Errors;
use super::tree::Tree;

/// Returns where the name of `up` is, and says what is wrong with it, or with others.
pub(crate) fn validate(content: &[TokenTree], name: &Ident, errors: &mut Errors) -> Option<Span> {
    refuse_migration(content, errors);
    let function =
        (0..content.len()).find(|at| content.get(*at).is_ident("fn") && content.get(at + 1).is_ident("up"));
    let Some(function) = function else {
        errors.push(name.span(), "the migration has no `up`: write `fn up() -> impl IntoPlan { … }` in it");
        return None;
    };
    let up = content[function + 1].span();
    let qualifiers = content[..function].iter().rev().map_while(|tree| Some(tree).ident());
    for qualifier in qualifiers {
        if qualifier == "async" {
            let message = "`up` describes the plan and does nothing by itself: write `fn up()`, and pass what \
                           is to be done to `code(\"name\", function)`";
            errors.push(qualifier.span(), message);
        } else if qualifier == "unsafe" {
            errors.push(qualifier.span(), "`up` is called as `up()`: remove `unsafe`");
        }
    }
    let next = content.get(function + 2);
    if next.is_punct('<') {
        errors.push(up, "`up` takes no parameters, also no generic ones: write `fn up()`");
    }
    if let Some(parameters) = next.group(Delimiter::Parenthesis)
        && !parameters.stream().is_empty()
    {
        let message = "`up` takes no arguments: write `fn up()`; a function that is passed to \
                       `code(\"name\", function)` gets a `TaskContext`";
        errors.push(parameters.span(), message);
    }
    Some(up)
}

/// The name `MIGRATION` is ours.
fn refuse_migration(content: &[TokenTree], errors: &mut Errors) {
    let mut in_use = false;
    for (at, tree) in content.iter().enumerate() {
        let tree = Some(tree);
        in_use = tree.is_ident("use") || in_use && !tree.is_punct(';');
        let before = at.checked_sub(1).and_then(|before| content.get(before));
        let is_item = ["static", "mut", "const", "fn", "struct"].iter().any(|item| before.is_ident(item));
        if let Some(ident) = tree.ident()
            && ident == "MIGRATION"
            && (is_item || in_use)
        {
            let message = "`MIGRATION` is the name of what the attribute adds to the module: choose another";
            errors.push(ident.span(), message);
        }
    }
}
