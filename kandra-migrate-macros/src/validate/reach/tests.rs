//! What reaches outside, and what only looks as if it did.

use crate::parse;
use crate::validate::validate;

/// What is wrong with a migration of the package `shop`, whose test is `checkout`.
fn errors(arguments: &str, content: &str) -> Vec<String> {
    let module = format!("mod m {{ fn up() {{}} {content} }}");
    let names = ["shop".to_owned(), "checkout".to_owned()];
    let arguments = parse::arguments(arguments.parse().expect("tokens"));
    let module = parse::module(module.parse().expect("tokens"));
    match validate(arguments, module, &names) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.into_iter().map(|error| error.to_string()).collect(),
    }
}

/// Each is refused, and allowed by `reaches_outside`.
fn assert_reaches(contents: &[&str]) {
    for content in contents {
        assert_eq!(
            errors("version = 1", content).len(),
            1,
            "{content}: {:?}",
            errors("version = 1", content)
        );
        let lifted = errors("version = 1, reaches_outside = \"why\"", content);
        assert!(lifted.is_empty(), "{content}: {lifted:?}");
    }
}

fn assert_closed(contents: &[&str]) {
    for content in contents {
        let errors = errors("version = 1", content);
        assert!(errors.is_empty(), "{content}: {errors:?}");
    }
}

#[test]
fn paths_into_the_same_crate() {
    assert_reaches(&[
        "use crate::a;",
        "fn f() { crate::a() }",
        "fn f(a: Vec<crate::A>) {}",
        "struct S(pub (crate::A));",
        "fn f() { m::n!(crate::a) }",
        "#[derive(crate::A)] struct S;",
        "macro_rules! n { () => { $crate::a() } }",
        "mod a { mod b { use crate::c; } }",
    ]);
    assert_closed(&["pub(crate) fn f() {}", "pub(in crate::a) fn f() {}", "struct S(pub(crate) A);"]);
}

#[test]
fn paths_above_the_module() {
    assert_reaches(&[
        "use super::a;",
        "fn f() { super::a() }",
        "use self::super::a;",
        "mod a { use super::super::b; }",
        "mod a { use super::{b, super::c}; }",
        "mod a { mod b { fn f() { super::super::super::c() } } }",
        "use {super::a, std::b};",
    ]);
    assert_closed(&[
        "mod a { use super::b; }",
        "mod a { use super::{b, c}; mod d { use super::super::{b, e}; } }",
        "mod a { pub(super) fn f() { super::f() } }",
        "mod a { pub(in super::super) fn f() {} }",
    ]);
}

#[test]
fn paths_by_the_packages_own_name() {
    assert_reaches(&[
        "use shop::a;",
        "use shop;",
        "use shop as other;",
        "use {std::fmt, shop};",
        "use ::shop::a;",
        "fn f() { shop::a() }",
        "fn f() { let a = ::shop::b; }",
        "fn f() -> Vec<shop::A> {}",
        "fn f() { checkout::a() }",
        "#[shop::a] fn f() {}",
        "fn f() { m::n!(shop::a) }",
        "fn f() { shop::m!() }",
        "extern crate shop;",
        "extern crate self as other;",
    ]);
    assert_closed(&[
        "fn f(shop: u8) { shop + shop.a }",
        "fn f() { a.shop::<u8>(); a::shop::b(); <A as B>::shop::c(); }",
        "use other::{shop, shop::a};",
        "use other::shop;",
        "fn f<'a>() -> impl A + use<'a> { shop }",
        "extern crate other;",
    ]);
}

#[test]
fn the_library_is_no_outside() {
    let content = "use kandra_migrate::prelude::*;";
    let tokens = |text: &str| text.parse().expect("tokens");
    let module = parse::module(tokens(&format!("mod m {{ {content} fn up() {{}} }}")));
    assert!(
        validate(parse::arguments(tokens("version = 1")), module, &["kandra_migrate".to_owned()]).is_ok()
    );
    assert!(errors("version = 1, crate = shop::library", "use shop::library::prelude::*;").is_empty());
}

#[test]
fn macros_from_around_the_module() {
    assert_reaches(&[
        "fn f() { ours!() }",
        "ours! { a }",
        "fn f() { g(a, |b| ours![b]) }",
        "fn f() { println!(\"{}\", ours!()) }",
        "use other::*; fn f() { ours!() }",
    ]);
    assert_closed(&[
        "fn f() { println!(\"{}\", vec![format!(\"\")].len()); assert!(a != (b)); if !(a) { return !(b); } }",
        "macro_rules! ours { ($m:ident) => { $m!() } } fn f() { ours!() }",
        "use other::ours; fn f() { ours!() }",
        "use other::{theirs as ours, c}; fn f() { ours!() }",
        "fn f() { other::ours!() }",
        "fn f() { cql_file!(\"a.cql\") }",
        "fn f() -> ! { loop {} }",
        "impl !Send for S {}",
    ]);
}

#[test]
fn files_and_the_environment() {
    assert_reaches(&[
        "include!(\"a.rs\");",
        "const A: &str = include_str!(\"a\");",
        "const A: &[u8] = ::std::include_bytes!(\"a\");",
        "use std::include_str as text; const A: &str = text!(\"a\");",
        "use core as c; const A: &str = c::include_str!(\"a\");",
        "const A: &str = concat!(env!(\"A\"), \"b\");",
        "const A: Option<&str> = option_env!(\"A\");",
    ]);
    assert_closed(&["use std::env; fn f() { env::var(\"A\") }", "fn f() { other::env!(\"A\") }"]);
}

#[test]
fn what_nothing_lifts() {
    for content in [
        "#[cfg(unix)] fn f() {}",
        "fn f() { #[cfg(debug_assertions)] g(); }",
        "#[cfg_attr(unix, a)] fn f() {}",
        "#![cfg_attr(unix, a)]",
        "fn f() { if cfg!(unix) {} }",
        "use std::cfg as c; fn f() { if c!(unix) {} }",
        "fn f() { m::n! { #[cfg(unix)] a } }",
        "mod other;",
        "#[path = \"a.rs\"] mod other { }",
    ] {
        for arguments in ["version = 1", "version = 1, reaches_outside = \"why\""] {
            assert_eq!(errors(arguments, content).len(), 1, "{content}: {:?}", errors(arguments, content));
        }
    }
}

#[test]
fn attributes_of_the_module_are_looked_at() {
    let module = parse::module("#[cfg(unix)] #[crate::other] mod m { fn up() {} }".parse().expect("tokens"));
    let arguments = parse::arguments("version = 1".parse().expect("tokens"));
    assert_eq!(validate(arguments, module, &[]).err().map(|errors| errors.into_iter().count()), Some(2));
}

#[test]
fn documentation_is_not_looked_at() {
    assert_closed(&["#[doc = include_str!(\"a\")] fn f() {}", "/// See `crate::a`.\nfn f() {}"]);
}

#[test]
fn all_is_said_at_once() {
    let content = "use crate::a; fn f() { super::b(); ours!() } #[cfg(unix)] mod other;";
    assert_eq!(errors("version = 1", content).len(), 5);
    assert_eq!(errors("version = 0", "static MIGRATION: u8 = 1;").len(), 2);
}
