pub(crate) mod attribute;
mod encode;
pub(crate) mod import;
mod lex;
mod literal;
mod reduce;
pub(crate) mod shape;
pub(crate) mod token;

use std::collections::HashSet;

use proc_macro2::TokenStream;
use sha2::{Digest, Sha256};

use self::reduce::Reducer;
use self::token::Token;

/// The checksum of a migration: of the attributes of its module, and of what is between its braces.
pub(crate) fn checksum(attributes: TokenStream, content: TokenStream) -> String {
    let content = lex::lex(content);
    let own_macros = own_macros(&content);
    let content = Reducer { own_macros: &own_macros }.block(content);
    let attributes = attribute::without_ignored(lex::lex(attributes));

    let mut hasher = Sha256::new();
    hasher.update(b"k1");
    hasher.update(encode::encode(
        &[attributes.as_slice(), &[Token::Group(proc_macro2::Delimiter::Brace, content)]].concat(),
    ));
    format!("k1:{}", hex::encode(hasher.finalize()))
}

/// Names of the macros that the code defines, or imports by name.
pub(crate) fn own_macros(tokens: &[Token]) -> HashSet<String> {
    let mut names = HashSet::new();
    collect_macros(tokens, &mut names);
    names
}

fn collect_macros(tokens: &[Token], names: &mut HashSet<String>) {
    for (at, token) in tokens.iter().enumerate() {
        match &tokens[at..] {
            [word, bang, Token::Word(name), ..] if word.is_word("macro_rules") && bang.is_op("!") => {
                names.insert(name.clone());
            }
            [word, tree @ ..] if word.is_word("use") => {
                let end = tree.iter().position(|token| token.is_op(";")).unwrap_or(0);
                let paths = import::flatten(&tree[..end]).unwrap_or_default();
                names.extend(paths.iter().filter_map(|path| path.last()?.name().map(str::to_owned)));
            }
            _ => {}
        }
        if let Token::Group(_, inner) = token {
            collect_macros(inner, names);
        }
    }
}
