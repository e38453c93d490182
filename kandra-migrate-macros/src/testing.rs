//! `#[kandra_migrate::test(MIGRATIONS)]`: a test with a migrated keyspace of its own.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, ItemFn, LitInt, LitStr, Path, Token};

const USAGE: &str =
    "the test is an async function with one argument: write `async fn name(db: TestKeyspace) { … }`";

/// What the attribute says.
struct Arguments {
    registry: Path,
    krate: Path,
    /// Calls of `Setup`'s methods.
    settings: TokenStream,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let usage = "the registry comes first: write `#[kandra_migrate::test(MIGRATIONS)]`";
        if input.is_empty() || input.peek2(Token![=]) {
            return Err(input.error(usage));
        }
        let registry = input.parse().map_err(|error| syn::Error::new(error.span(), usage))?;
        let mut arguments =
            Self { registry, krate: syn::parse_quote!(::kandra_migrate), settings: TokenStream::new() };
        let mut given = HashSet::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let key = input.call(Ident::parse_any)?;
            if !given.insert(key.to_string()) {
                return Err(syn::Error::new(
                    key.span(),
                    format!("`{key}` is given twice: remove one of them"),
                ));
            }
            input.parse::<Token![=]>()?;
            arguments.setting(&key, input)?;
        }
        Ok(arguments)
    }
}

impl Arguments {
    fn setting(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let value: TokenStream = match key.to_string().as_str() {
            "crate" => {
                self.krate = input.call(Path::parse_mod_style)?;
                return Ok(());
            }
            "session" | "runner" => input.parse::<Path>()?.into_token_stream(),
            "up_to" => input.parse::<LitInt>()?.into_token_stream(),
            "replication" => input.parse::<LitStr>()?.into_token_stream(),
            _ => {
                let keys = "the keys are `session`, `up_to`, `replication`, `runner` and `crate`";
                return Err(syn::Error::new(key.span(), format!("unknown key `{key}`: {keys}")));
            }
        };
        self.settings.extend(quote!(.#key(#value)));
        Ok(())
    }
}

pub(crate) fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    match syn::parse2(arguments).and_then(|arguments| Ok((arguments, checked(function.clone())?))) {
        Ok((arguments, function)) => expand(&arguments, function),
        // With the function as it is beside the error, editors go on completing in it.
        Err(error) => [function, error.into_compile_error()].into_iter().collect(),
    }
}

fn checked(function: TokenStream) -> syn::Result<ItemFn> {
    let function: ItemFn = syn::parse2(function).map_err(|error| syn::Error::new(error.span(), USAGE))?;
    let signature = &function.sig;
    if signature.asyncness.is_none() || signature.inputs.len() != 1 || !signature.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(signature, USAGE));
    }
    Ok(function)
}

fn expand(arguments: &Arguments, mut function: ItemFn) -> TokenStream {
    let Arguments { registry, krate, settings } = arguments;
    let attributes = std::mem::take(&mut function.attrs);
    let visibility = std::mem::replace(&mut function.vis, syn::Visibility::Inherited);
    let name = &function.sig.ident;
    let path: Expr = {
        let shown = name.unraw().to_string();
        syn::parse_quote!(::core::concat!(::core::module_path!(), "::", #shown))
    };
    quote! {
        #(#attributes)*
        #[::core::prelude::v1::test]
        #visibility fn #name() {
            #function
            #krate::testing::Setup::new(&#registry, #path, ::core::env!("CARGO_MANIFEST_DIR")) #settings .run(#name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(arguments: &str, function: &str) -> String {
        test(arguments.parse().expect("tokens"), function.parse().expect("tokens")).to_string()
    }

    #[test]
    fn what_the_attribute_says_is_passed_on() {
        let arguments = "shop::MIGRATIONS, up_to = 3, session = connect, replication = \"{}\", crate = k,";
        let text = expanded(arguments, "#[ignore] pub async fn t(db: Db) {}");
        for part in [
            "# [ignore]",
            "pub fn t () { async fn t (db : Db) { }",
            "k :: testing :: Setup :: new (& shop :: MIGRATIONS ,",
            ". up_to (3) . session (connect) . replication (\"{}\") . run (t)",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_and_the_function_is_kept() {
        for (arguments, function, message) in [
            ("", "async fn t(db: Db) {}", "the registry comes first"),
            ("up_to = 3", "async fn t(db: Db) {}", "the registry comes first"),
            ("M, up = 3", "async fn t(db: Db) {}", "unknown key `up`"),
            ("M, up_to = 3, up_to = 4", "async fn t(db: Db) {}", "is given twice"),
            ("M", "fn t(db: Db) {}", "an async function with one argument"),
            ("M", "async fn t() {}", "an async function with one argument"),
        ] {
            let text = expanded(arguments, function);
            assert!(text.contains(message) && text.contains("fn t"), "{message} in {text}");
        }
    }
}
