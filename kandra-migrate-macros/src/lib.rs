//! The proc-macros of `kandra-migrate`; use them through that crate.
#![doc = include_str!("canon/k1.md")]

mod canon;
mod embed;
mod expand;
#[cfg(test)]
mod golden;
mod listing;
#[cfg(test)]
mod mutation;
mod parse;
mod testing;
mod validate;

use std::env;

use proc_macro2::TokenStream;

/// Makes an inline module a migration: its plan is what its function `up` returns, its name is the module's.
///
/// ```ignore
/// #[migration(version = 3)]
/// mod split_user_name {
///     use kandra_migrate::prelude::*;
///
///     fn up() -> impl IntoPlan {
///         cql("ALTER TABLE ${keyspace}.users ADD first_name text")
///     }
/// }
/// ```
///
/// | key | what it says |
/// |-----|--------------|
/// | `version = 3` | the version, from 1 to 9223372036854775807; required |
/// | `accept = ["k1:…"]` | checksums of earlier texts of this migration that had the same effect; default: none |
/// | `reaches_outside = "why"` | allows what is refused below, and says why; default: it is refused |
/// | `out_of_order` | it may be applied although a higher version already is; default: it may not |
/// | `after_start` | a service is ready before it: `run` stops before it, `run_deferred` applies it and what comes behind it; default: it is part of the start |
/// | `crate = path` | where the library is, if it is renamed or passed on by another crate; default: `::kandra_migrate` |
///
/// It leaves `MIGRATION` in the module, as visible as the module is, and registers it.
///
/// A file of `cql_file!` in it is part of its checksum, so the file's path is a string, written out.
///
/// # What is refused
///
/// A migration is closed: all that it means is in the module, so that an edit changes its checksum. Errors are
/// paths by `crate`, by `super` above the module, and by the package's own name; the macros `include!`,
/// `include_str!`, `include_bytes!`, `env!` and `option_env!`; and macros by a bare name that are neither the
/// standard library's, nor defined in the module, nor imported there by name. `reaches_outside` allows them.
///
/// Never allowed are `#[cfg]`, `#[cfg_attr]` and `cfg!`, with which one checksum would stand for several
/// migrations, and modules in other files.
#[proc_macro_attribute]
pub fn migration(
    arguments: proc_macro::TokenStream,
    module: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    migrate(arguments.into(), module.into(), &crate_names()).into()
}

/// Makes an async function a test with a migrated keyspace of its own; what it can say is in the docs of the module
/// `kandra_migrate::testing`, of the feature of that name.
///
/// ```ignore
/// #[kandra_migrate::test(MIGRATIONS, up_to = 1)]
/// async fn names_are_filled(db: TestKeyspace) {
///     db.run_task("fill").await;
/// }
/// ```
#[proc_macro_attribute]
pub fn test(
    arguments: proc_macro::TokenStream,
    function: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    testing::test(arguments.into(), function.into()).into()
}

/// For `kandra_migrate::cql_dir!`: the files of a directory, compiled in.
#[doc(hidden)]
#[proc_macro]
pub fn embed_directory(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let package = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    embed::embed(input.into(), package.as_ref()).into()
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
