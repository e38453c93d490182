//! The arguments of `#[migration(…)]`.

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Lit, LitInt, LitStr, Path, Token};

use super::Errors;
use crate::parse::Argument;

/// What the attribute says.
pub(crate) struct Arguments {
    pub(crate) version: i64,
    pub(crate) accept: Vec<String>,
    pub(crate) reaches_outside: Option<String>,
    pub(crate) out_of_order: bool,
    pub(crate) after_start: bool,
    /// The library, as the user's crate knows it.
    pub(crate) krate: Path,
}

pub(crate) fn validate(arguments: Vec<Argument>) -> syn::Result<Arguments> {
    let mut errors = Errors::default();
    let mut given = HashSet::new();
    let mut version = None;
    let mut valid = Arguments {
        version: 0,
        accept: Vec::new(),
        reaches_outside: None,
        out_of_order: false,
        after_start: false,
        krate: syn::parse_quote!(::kandra_migrate),
    };
    for Argument { key, value } in arguments {
        let name = key.to_string();
        if !given.insert(name.clone()) {
            errors.push(key.span(), format!("`{name}` is given twice: remove one of them"));
            continue;
        }
        let read = match name.as_str() {
            "version" => self::version(key.span(), value).map(|read| version = Some(read)),
            "accept" => accept(key.span(), value).map(|read| valid.accept = read),
            "reaches_outside" => reason(key.span(), value).map(|read| valid.reaches_outside = Some(read)),
            "out_of_order" => flag(&name, value).map(|()| valid.out_of_order = true),
            "after_start" => flag(&name, value).map(|()| valid.after_start = true),
            "crate" => path(key.span(), value).map(|read| valid.krate = read),
            _ => Err(syn::Error::new(
                key.span(),
                format!(
                    "unknown key `{name}`: the keys are `version`, `accept`, `reaches_outside`, \
                     `out_of_order`, `after_start` and `crate`"
                ),
            )),
        };
        read.unwrap_or_else(|error| errors.add(error));
    }
    if !given.contains("version") {
        errors.push(Span::call_site(), "the version is missing: write `#[migration(version = 1)]`");
    }
    errors.into_result()?;
    Ok(Arguments { version: version.unwrap_or_default(), ..valid })
}

fn version(key: Span, value: Option<TokenStream>) -> syn::Result<i64> {
    let usage = "a version is a whole number from 1 to 9223372036854775807: write `version = 1`";
    let value = value.unwrap_or_default();
    let span = if value.is_empty() { key } else { value.span() };
    let wrong = || syn::Error::new(span, usage);
    let literal: LitInt = syn::parse2(value).map_err(|_| wrong())?;
    let version = literal.base10_parse().map_err(|_| wrong())?;
    if version > 0 && matches!(literal.suffix(), "" | "i64") { Ok(version) } else { Err(wrong()) }
}

/// `["k1:…", …]`, each well-formed and no two equal.
fn accept(key: Span, value: Option<TokenStream>) -> syn::Result<Vec<String>> {
    let usage = "`accept` lists earlier checksums of this migration: write `accept = [\"k1:…\"]`, as the \
                 mismatch error prints it";
    let value = value.unwrap_or_default();
    let span = if value.is_empty() { key } else { value.span() };
    let list = |input: ParseStream<'_>| {
        let list;
        syn::bracketed!(list in input);
        Punctuated::<Lit, Token![,]>::parse_terminated(&list)
    };
    let list = list.parse2(value).map_err(|_| syn::Error::new(span, usage))?;
    let mut errors = Errors::default();
    let mut checksums = Vec::new();
    for literal in list {
        match literal {
            Lit::Str(text) if !is_checksum(&text.value()) => errors.push(
                text.span(),
                "this is no checksum: it is `k1:` and 64 digits of 0-9a-f, as the mismatch error prints it",
            ),
            Lit::Str(text) if checksums.contains(&text.value()) => {
                errors.push(text.span(), "this checksum is listed twice: remove one of them");
            }
            Lit::Str(text) => checksums.push(text.value()),
            other => errors.push(other.span(), usage),
        }
    }
    errors.into_result().map(|()| checksums)
}

fn is_checksum(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.strip_prefix("k1:").is_some_and(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
}

fn reason(key: Span, value: Option<TokenStream>) -> syn::Result<String> {
    let value = value.unwrap_or_default();
    let span = if value.is_empty() { key } else { value.span() };
    let text = syn::parse2::<LitStr>(value).map(|text| text.value()).unwrap_or_default();
    if text.trim().is_empty() {
        let usage = "`reaches_outside` says why, for those who read what `verify` lists: \
                     write `reaches_outside = \"why\"`";
        return Err(syn::Error::new(span, usage));
    }
    Ok(text)
}

fn flag(name: &str, value: Option<TokenStream>) -> syn::Result<()> {
    value.map_or(Ok(()), |value| {
        Err(syn::Error::new(value.span(), format!("`{name}` takes no value: write it alone")))
    })
}

fn path(key: Span, value: Option<TokenStream>) -> syn::Result<Path> {
    let value = value.unwrap_or_default();
    let span = if value.is_empty() { key } else { value.span() };
    let path = Path::parse_mod_style.parse2(value);
    path.map_err(|_| {
        syn::Error::new(span, "`crate` is the path of kandra_migrate here: write `crate = renamed::path`")
    })
}

impl Arguments {
    /// The first name of the library's path.
    pub(crate) fn krate_name(&self) -> Option<String> {
        self.krate.segments.first().map(|segment| segment.ident.to_token_stream().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Arguments, Vec<String>> {
        let tokens = text.parse().expect("tokens");
        crate::parse::arguments(tokens)
            .and_then(validate)
            .map_err(|errors| errors.into_iter().map(|error| error.to_string()).collect())
    }

    #[test]
    fn every_key_is_read() {
        let checksum = format!("k1:{}", "0a".repeat(32));
        let text = format!(
            "version = 20_260_101, accept = [\"{checksum}\",], reaches_outside = \"why\", out_of_order, after_start, crate = a::b,"
        );
        let arguments = read(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
        assert_eq!(arguments.version, 20_260_101);
        assert_eq!(arguments.accept, [checksum]);
        assert_eq!(arguments.reaches_outside.as_deref(), Some("why"));
        assert!(arguments.out_of_order && arguments.after_start);
        assert_eq!(arguments.krate_name().as_deref(), Some("a"));
    }

    #[test]
    fn versions_are_positive_and_fit_an_i64() {
        for version in ["1", "0x10", "9223372036854775807", "3i64"] {
            assert!(read(&format!("version = {version}")).is_ok(), "{version}");
        }
        for version in ["0", "-1", "9223372036854775808", "3u8", "1.0", "\"1\"", "a", "", "1 + 1"] {
            assert_eq!(
                read(&format!("version = {version}")).err().map(|errors| errors.len()),
                Some(1),
                "{version}"
            );
        }
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let errors = read(
            "accept = [\"k1:0\", 3], out_of_order = 1, colour = 2, crate = \"a\", reaches_outside = \" \"",
        );
        assert_eq!(errors.err().map(|errors| errors.len()), Some(7));
    }
}
