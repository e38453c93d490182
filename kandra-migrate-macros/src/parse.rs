//! From tokens to the parts of a migration, with no judgement of what they say.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Token, Visibility};

/// One of the attribute's arguments: `key` or `key = value`.
pub(crate) struct Argument {
    pub(crate) key: Ident,
    pub(crate) value: Option<TokenStream>,
}

/// An inline module.
pub(crate) struct Module {
    /// Its outer attributes, without the one that is being expanded.
    pub(crate) attributes: TokenStream,
    pub(crate) visibility: Visibility,
    /// From the attributes to the name, as they were.
    pub(crate) head: TokenStream,
    pub(crate) name: Ident,
    pub(crate) body: Group,
}

pub(crate) fn arguments(tokens: TokenStream) -> syn::Result<Vec<Argument>> {
    let arguments = Punctuated::<Argument, Token![,]>::parse_terminated.parse2(tokens)?;
    Ok(arguments.into_iter().collect())
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.call(Ident::parse_any)?;
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(Self { key, value: None });
        }
        input.parse::<Token![=]>()?;
        let mut value = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            value.extend([input.parse::<TokenTree>()?]);
        }
        Ok(Self { key, value: Some(value) })
    }
}

pub(crate) fn module(tokens: TokenStream) -> syn::Result<Module> {
    let usage = "`#[migration]` goes on an inline module: \
                 write `mod name { fn up() -> impl IntoPlan { … } }`";
    let read = |input: ParseStream<'_>| {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility: Visibility = input.parse()?;
        let keyword: Token![mod] = input.parse()?;
        let name: Ident = input.parse()?;
        let body = match input.parse()? {
            TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => body,
            other => return Err(syn::Error::new(other.span(), usage)),
        };
        let attributes = attributes.iter().map(ToTokens::to_token_stream).collect::<TokenStream>();
        let mut head = attributes.clone();
        visibility.to_tokens(&mut head);
        keyword.to_tokens(&mut head);
        name.to_tokens(&mut head);
        Ok(Module { attributes, visibility, head, name, body })
    };
    read.parse2(tokens).map_err(|error| syn::Error::new(error.span(), usage))
}
