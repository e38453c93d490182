//! The checksum of tokens as the compiler hands them to a macro, for code that need not mean anything.

#[path = "../../../../kandra-migrate-macros/src/canon/mod.rs"]
mod canon;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Replaces an inline module by `const` of the module's name in upper case: the checksum of its content.
///
/// # Panics
/// Where the module is not private, or has attributes.
#[proc_macro_attribute]
pub fn checksum(_: proc_macro::TokenStream, module: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let mut name = String::new();
    let mut content = TokenStream::new();
    for tree in TokenStream::from(module) {
        match tree {
            TokenTree::Ident(ident) => name = ident.to_string().to_uppercase(),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => content = group.stream(),
            other => panic!("a private module without attributes is wanted, not {other}"),
        }
    }
    let checksum = canon::checksum(TokenStream::new(), content);
    format!("const {name}: &str = {checksum:?};").parse().expect("a constant is Rust")
}
