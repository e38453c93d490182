//! Macros that bring something in from outside of the migration.

use proc_macro2::{Delimiter, TokenTree};

use crate::canon::Names;
use crate::validate::tree::{Tree, follows_colons};

/// Macros of the standard library that are in scope everywhere, and depend on nothing but their tokens.
const STANDARD: [&str; 30] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "column",
    "compile_error",
    "concat",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "eprint",
    "eprintln",
    "file",
    "format",
    "format_args",
    "line",
    "macro_rules",
    "matches",
    "module_path",
    "panic",
    "print",
    "println",
    "stringify",
    "thread_local",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];
/// Ours, which `kandra_migrate::prelude` brings along.
const OURS: [&str; 1] = ["cql_file"];
/// Macros of the standard library that read a file.
const OF_FILES: [&str; 3] = ["include", "include_bytes", "include_str"];
/// Macros of the standard library that read the environment of the build.
const OF_ENVIRONMENT: [&str; 2] = ["env", "option_env"];

/// The macros that are known in a migration.
pub(super) struct Macros {
    own: Names,
}

pub(super) enum Refusal {
    /// `cfg!` or `cfg_select!`, whatever it is called.
    Cfg,
    /// What it does outside of the migration, and what to write instead.
    Outside { what: String, instead: String },
}

impl Macros {
    pub(super) fn of(content: &[TokenTree]) -> Self {
        Self { own: Names::of(content.iter().cloned().collect()) }
    }

    /// Why the macro may not be called whose name is at this place, if one is called there.
    pub(super) fn refusal(&self, trees: &[TokenTree], at: usize) -> Option<Refusal> {
        if !is_call(trees, at) {
            return None;
        }
        let called = path_to(trees, at);
        let name = called.last()?.clone();
        let is_bare = called.len() == 1 && !follows_colons(trees, at);
        let path = self.origin(called);
        let is_standard = match path.as_slice() {
            [_] => is_bare,
            [root, ..] => root == "std" || root == "core",
            [] => false,
        };
        let original = path.last()?.as_str();
        if is_standard && (original == "cfg" || original == "cfg_select") {
            return Some(Refusal::Cfg);
        }
        let outside =
            |what: String, instead: &str| Some(Refusal::Outside { what, instead: instead.to_owned() });
        if is_standard && OF_FILES.contains(&original) {
            return outside(format!("`{name}!` reads a file"), "copy what is needed into the module");
        }
        if is_standard && OF_ENVIRONMENT.contains(&original) {
            return outside(format!("`{name}!` reads the environment"), "write the value in its place");
        }
        if !is_bare || STANDARD.iter().chain(&OURS).any(|known| name == *known) || self.own.contain(&name) {
            return None;
        }
        let instead = format!("write `krate::{name}!` if a crate has it, copy it into the module");
        outside(format!("`{name}!` is defined"), &instead)
    }

    /// The path that a path stands for, if its first name is imported.
    fn origin(&self, path: Vec<String>) -> Vec<String> {
        match path.first().and_then(|first| self.own.imported.get(first)) {
            Some(imported) => imported.iter().chain(path.iter().skip(1)).cloned().collect(),
            None => path,
        }
    }
}

/// `name!(…)`, `name! other {…}`; but not `return !(…)`, and not `$name!(…)`, which a caller names.
fn is_call(trees: &[TokenTree], at: usize) -> bool {
    let is_name =
        trees.get(at).ident().is_some_and(|ident| syn::parse_str::<syn::Ident>(&ident.to_string()).is_ok());
    let is_argument = at > 0 && trees.get(at - 1).is_punct('$');
    let body = if trees.get(at + 2).ident().is_some() { at + 3 } else { at + 2 };
    let has_body = [Delimiter::Parenthesis, Delimiter::Bracket, Delimiter::Brace]
        .into_iter()
        .any(|delimiter| trees.get(body).group(delimiter).is_some());
    is_name && !is_argument && trees.get(at + 1).is_punct('!') && has_body
}

/// The names of the path that ends at this place.
fn path_to(trees: &[TokenTree], at: usize) -> Vec<String> {
    let mut start = at;
    while follows_colons(trees, start) && start >= 3 && trees.get(start - 3).ident().is_some() {
        start -= 3;
    }
    let names = trees[start..=at].iter().filter_map(|tree| Some(tree).ident().map(ToString::to_string));
    names.collect()
}
