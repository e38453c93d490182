//! The checksum of a migration, `k1`; `k1.md` says what it is, token by token.

mod attribute;
mod encode;
mod import;
mod lex;
mod literal;
mod names;
mod reduce;
mod shape;
mod token;

use proc_macro2::{Delimiter, TokenStream};
use sha2::{Digest, Sha256};

use self::reduce::Reducer;
use self::token::Token;

pub(crate) use self::names::Names;

/// The checksum of a migration: of the attributes of its module, and of what is between its braces.
pub(crate) fn checksum(attributes: TokenStream, content: TokenStream) -> String {
    let names = Names::of(content.clone());
    let content = Reducer { names: &names }.block(&lex::lex(content));
    let mut tokens = attribute::without_ignored(&lex::lex(attributes));
    tokens.push(Token::Group(Delimiter::Brace, content));

    let mut hasher = Sha256::new();
    hasher.update(b"k1");
    hasher.update(encode::encode(&tokens));
    format!("k1:{}", hex::encode(hasher.finalize()))
}
