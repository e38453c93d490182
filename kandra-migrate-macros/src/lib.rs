//! The proc-macros of `kandra-migrate`; use them through that crate.
#![doc = include_str!("canon/k1.md")]

mod canon;
mod expand;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod mutation;
mod parse;
mod validate;

use std::env;

use proc_macro2::TokenStream;

/// Makes an inline module a migration.
#[proc_macro_attribute]
pub fn migration(
    arguments: proc_macro::TokenStream,
    module: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    migrate(arguments.into(), module.into(), &crate_names()).into()
}

fn migrate(arguments: TokenStream, module: TokenStream, crate_names: &[String]) -> TokenStream {
    let valid = validate::validate(parse::arguments(arguments), parse::module(module.clone()), crate_names);
    match valid {
        Ok(valid) => expand::expand(&valid),
        // With the module as it is beside the errors, editors go on completing in it.
        Err(errors) => [module, errors.into_compile_error()].into_iter().collect(),
    }
}

/// What the crate that is being compiled can be called in a path: by cargo, its library and itself.
fn crate_names() -> Vec<String> {
    let names = ["CARGO_PKG_NAME", "CARGO_CRATE_NAME"].into_iter().filter_map(|name| env::var(name).ok());
    names.map(|name| name.replace('-', "_")).collect()
}
