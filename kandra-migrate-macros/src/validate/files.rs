//! The files that a migration's `cql_file!`s name.

use proc_macro2::TokenTree;
use syn::LitStr;

use super::Errors;
use super::tree::Tree;

/// The paths, each once, in the order of the text.
pub(super) fn validate(trees: &[TokenTree], errors: &mut Errors) -> Vec<String> {
    let mut paths = Vec::new();
    collect(trees, &mut paths, errors);
    paths
}

fn collect(trees: &[TokenTree], paths: &mut Vec<String>, errors: &mut Errors) {
    for (at, tree) in trees.iter().enumerate() {
        if let TokenTree::Ident(name) = tree
            && name == "cql_file"
            && trees.get(at + 1).is_punct('!')
            && let Some(TokenTree::Group(argument)) = trees.get(at + 2)
        {
            match syn::parse2::<LitStr>(argument.stream()) {
                Ok(path) if !paths.contains(&path.value()) => paths.push(path.value()),
                Ok(_) => {}
                Err(_) => errors.push(
                    argument.span(),
                    "the file is part of the checksum, so its path is written out: cql_file!(\"cql/tables.cql\")",
                ),
            }
        }
        if let TokenTree::Group(group) = tree {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            collect(&inner, paths, errors);
        }
    }
}
