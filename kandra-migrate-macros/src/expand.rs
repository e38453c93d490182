//! A valid migration with its registration.

use proc_macro2::{Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Visibility;
use syn::ext::IdentExt;

use crate::canon;
use crate::validate::{Arguments, Valid};

pub(crate) fn expand(migration: &Valid) -> TokenStream {
    let Valid { module, .. } = migration;
    let mut content = module.body.stream();
    content.extend(registration(migration));
    let mut body = Group::new(module.body.delimiter(), content);
    body.set_span(module.body.span());

    let mut expanded = module.head.clone();
    body.to_tokens(&mut expanded);
    expanded
}

fn registration(migration: &Valid) -> TokenStream {
    let Valid { arguments, module, up, files } = migration;
    let Arguments { version, accept, reaches_outside, out_of_order, after_start, krate } = arguments;
    let name = module.name.unraw().to_string();
    let checksum = canon::checksum(module.attributes.clone(), module.body.stream());
    let some_reason = reaches_outside.as_ref().map(|why| quote!(::core::option::Option::Some(#why)));
    let reaches_outside = some_reason.unwrap_or_else(|| quote!(::core::option::Option::None));
    let doc = format!("Migration {version} `{name}`, as `Registry::of` takes it.");
    let visibility = visibility_inside(&module.visibility);
    // At the place of what they name, but known as the macro's to lints.
    let migration = Ident::new("MIGRATION", Span::call_site().located_at(module.name.span()));
    let plan = quote_spanned!(Span::call_site().located_at(*up)=> up());
    quote! {
        #[doc = #doc]
        #visibility static #migration: #krate::Migration = #krate::__private::migration(#krate::__private::Source {
            version: #version,
            name: #name,
            checksum: #checksum,
            also: &[],
            accept: &[#(#accept),*],
            reaches_outside: #reaches_outside,
            out_of_order: #out_of_order,
            after_start: #after_start,
            file: ::core::file!(),
            line: ::core::line!(),
            module_path: ::core::module_path!(),
            files: &[#((
                #files,
                ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #files)),
            )),*],
            plan: || #krate::__private::into_plan(#plan),
        });
        #krate::__private::inventory::submit! { #krate::__private::Registered(&#migration) }
    }
}

/// What the module is visible to, said from inside of it.
fn visibility_inside(module: &Visibility) -> TokenStream {
    let path = match module {
        Visibility::Public(_) => return quote!(pub),
        Visibility::Inherited => return quote!(pub(super)),
        Visibility::Restricted(restricted) => &restricted.path,
    };
    match path.segments.first() {
        Some(_) if path.is_ident("self") => quote!(pub(super)),
        Some(first) if first.ident == "super" => quote!(pub(in super::#path)),
        _ => quote!(#module),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modules_visibility_is_said_from_inside() {
        for (outside, inside) in [
            ("", "pub (super)"),
            ("pub", "pub"),
            ("pub(crate)", "pub (crate)"),
            ("pub(self)", "pub (super)"),
            ("pub(super)", "pub (in super :: super)"),
            ("pub(in super::super)", "pub (in super :: super :: super)"),
            ("pub(in crate::a)", "pub (in crate :: a)"),
        ] {
            let visibility = syn::parse_str(outside).expect("a visibility");
            assert_eq!(visibility_inside(&visibility).to_string(), inside, "{outside}");
        }
    }
}
