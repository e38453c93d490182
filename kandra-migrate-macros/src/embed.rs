//! A directory of CQL files, compiled in.

use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::LitStr;
use syn::parse::{ParseStream, Parser};

use crate::listing::{self, Found};

/// Expands `$crate, "directory"`; `package` is the directory that it is relative to.
pub(crate) fn embed(input: TokenStream, package: &Path) -> TokenStream {
    directory(input, package).unwrap_or_else(syn::Error::into_compile_error)
}

fn directory(input: TokenStream, package: &Path) -> syn::Result<TokenStream> {
    let (krate, directory) = arguments.parse2(input)?;
    let path = directory.value();
    let shown = path.trim_end_matches('/');
    let folder = package.join(shown);
    let listed = listing::list(&folder).map_err(|error| {
        let why = format!("the directory {shown} of this package cannot be read: {error}. Its path is relative to Cargo.toml");
        syn::Error::new(directory.span(), why)
    })?;
    let found = listing::migrations(shown, &listed)
        .map_err(|faults| syn::Error::new(directory.span(), faults.join("\n")))?;
    let files = found.iter().map(|found| embedded(&krate, &folder, found));
    Ok(quote! {
        const _: () = {
            static DIRECTORY: #krate::__private::Directory = #krate::__private::Directory::new(
                #shown,
                ::core::env!("CARGO_MANIFEST_DIR"),
                ::core::module_path!(),
                &[#(#files),*],
            );
            #krate::__private::inventory::submit! { #krate::__private::RegisteredDirectory(&DIRECTORY) }
        };
    })
}

fn embedded(krate: &TokenTree, folder: &Path, found: &Found) -> TokenStream {
    let Found { version, name, file, undo } = found;
    // Including it makes the compiler look for changes of it.
    let text = |file: &str| {
        let path = folder.join(file).to_string_lossy().into_owned();
        quote!(::core::include_str!(#path))
    };
    let this = text(file);
    let some_undo = undo.as_ref().map(|file| {
        let undo = text(file);
        quote!(::core::option::Option::Some((#file, #undo)))
    });
    let undo = some_undo.unwrap_or_else(|| quote!(::core::option::Option::None));
    quote! {
        #krate::__private::Embedded { version: #version, name: #name, file: #file, text: #this, undo: #undo }
    }
}

fn arguments(input: ParseStream<'_>) -> syn::Result<(TokenTree, LitStr)> {
    let krate = input.parse()?;
    input.parse::<syn::Token![,]>()?;
    let directory: LitStr = input.parse().map_err(|error| {
        syn::Error::new(error.span(), "the path of a directory is a string: cql_dir!(\"migrations\")")
    })?;
    Ok((krate, directory))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// A package with a directory of these files; it is removed with the value.
    struct Package(PathBuf);

    impl Package {
        fn with(test: &str, files: &[&str]) -> Self {
            let package = std::env::temp_dir().join(format!("kandra-embed-{}-{test}", std::process::id()));
            fs::create_dir_all(package.join("migrations")).expect("a directory");
            for file in files {
                fs::write(package.join("migrations").join(file), "DROP TABLE ${keyspace}.t").expect("a file");
            }
            Self(package)
        }

        fn embed(&self, directory: &str) -> String {
            embed(quote!(krate, #directory), &self.0).to_string()
        }
    }

    impl Drop for Package {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn each_file_is_included_once_in_the_order_of_versions() {
        let package =
            Package::with("order", &["V10__b.cql", "V9__a.cql", "U9__a.cql", "README.md", ".V9__a.cql.swp"]);
        let expanded = package.embed("migrations/");
        let includes: Vec<_> = expanded
            .split("include_str !")
            .skip(1)
            .map(|rest| rest.split('"').nth(1).and_then(|path| path.rsplit('/').next()).unwrap_or_default())
            .collect();
        assert_eq!(includes, ["V9__a.cql", "U9__a.cql", "V10__b.cql"]);
        assert!(expanded.contains("version : 9i64"), "{expanded}");
    }

    #[test]
    fn all_that_is_wrong_is_said_with_its_path() {
        let package = Package::with("wrong", &["V1__a.cql", "V001__b.cql", "V2__c.cql~", "v3__d.cql"]);
        let expanded = package.embed("migrations");
        for part in [
            "compile_error",
            "migrations/V1__a.cql: V001__b.cql has version 1 as well",
            "migrations/V2__c.cql~: it is no migration",
            "migrations/v3__d.cql: it begins with a capital: rename it to V3__d.cql",
        ] {
            assert!(expanded.contains(part), "{part} in {expanded}");
        }
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let package = Package::with("missing", &[]);
        assert!(package.embed("nowhere").contains("the directory nowhere of this package cannot be read"));
    }
}
