//! A migration is closed: nothing that it means is outside of what its checksum covers.

mod macros;
mod paths;
#[cfg(test)]
mod tests;

use proc_macro2::{Delimiter, Ident, Span, TokenTree};

use self::macros::Macros;
use super::tree::{Tree, is_colons};
use super::{Arguments, Errors};

/// Judges the attributes of the module as well as its content.
pub(super) fn validate(
    attributes: &[TokenTree],
    content: &[TokenTree],
    arguments: &Arguments,
    crate_names: &[String],
    errors: &mut Errors,
) {
    let ours = [Some("kandra_migrate".to_owned()), arguments.krate_name()];
    let own_names = crate_names.iter().filter(|name| !ours.iter().flatten().any(|our| our == *name));
    let mut scan = Scan {
        macros: Macros::of(content),
        own_names: own_names.cloned().collect(),
        may_reach: arguments.reaches_outside.is_some(),
        errors,
    };
    scan.walk(attributes, Place::default());
    scan.walk(content, Place::default());
}

/// Where a sequence of tokens is.
#[derive(Clone, Copy, Default)]
struct Place {
    /// How many modules are around it, within the migration.
    depth: usize,
    /// In a `use` declaration.
    in_use: bool,
    /// The path that it goes on with, as in `a::{…}`: how many `super` that starts with.
    prefix_supers: Option<usize>,
}

struct Scan<'a> {
    macros: Macros,
    /// The names of the crate that the migration is in.
    own_names: Vec<String>,
    may_reach: bool,
    errors: &'a mut Errors,
}

impl Scan<'_> {
    fn walk(&mut self, trees: &[TokenTree], place: Place) {
        let mut place = place;
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            at += match tree {
                TokenTree::Punct(punct) if punct.as_char() == '#' => self.attribute(trees, at, place),
                TokenTree::Punct(punct) => {
                    place.in_use &= punct.as_char() != ';';
                    1
                }
                TokenTree::Ident(ident) => {
                    // `use<'a>` is a bound.
                    place.in_use |= ident == "use" && !trees.get(at + 1).is_punct('<');
                    self.ident(trees, at, ident, place)
                }
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    let prefix_supers = paths::supers_before(trees, at, place);
                    let in_use = place.in_use && group.delimiter() == Delimiter::Brace;
                    self.walk(&inner, Place { in_use, prefix_supers, ..place });
                    1
                }
                TokenTree::Literal(_) => 1,
            };
        }
    }

    /// Judges an attribute, and returns how many tokens need no further look.
    fn attribute(&mut self, trees: &[TokenTree], at: usize, place: Place) -> usize {
        let bang = usize::from(trees.get(at + 1).is_punct('!'));
        let Some(body) = trees.get(at + 1 + bang).group(Delimiter::Bracket) else {
            return 1;
        };
        let content: Vec<TokenTree> = body.stream().into_iter().collect();
        match content.first().ident() {
            Some(name) if is_colons(&content, 1) => {
                self.ident(&content, 0, name, Place::default());
            }
            // They are no part of the checksum, since they have no meaning.
            Some(name) if ["doc", "allow", "expect", "warn"].iter().any(|known| name == known) => {}
            Some(name) if name == "cfg" || name == "cfg_attr" => self.refuse_cfg(name),
            Some(name) if name == "path" => self.errors.push(
                name.span(),
                "the file would be outside of the migration's checksum: put its content into the module",
            ),
            _ => self.walk(&content, Place { in_use: false, prefix_supers: None, ..place }),
        }
        2 + bang
    }

    /// Judges an identifier, and returns how many tokens need no further look.
    fn ident(&mut self, trees: &[TokenTree], at: usize, ident: &Ident, place: Place) -> usize {
        if ident == "mod" && trees.get(at + 1).ident().is_some() {
            return self.module(trees, at, place);
        }
        if ident == "pub" && paths::is_restriction(trees.get(at + 1)) {
            return 2;
        }
        if let Some(refusal) = self.macros.refusal(trees, at) {
            match refusal {
                macros::Refusal::Cfg => self.refuse_cfg(ident),
                macros::Refusal::Outside { what, instead } => self.refuse(ident.span(), &what, &instead),
            }
            return 1;
        }
        match paths::reach(trees, at, ident, place, &self.own_names) {
            Some(what) => {
                let what = format!("{what} reaches");
                self.refuse(ident.span(), &what, "copy what is needed into the module");
                paths::length(trees, at)
            }
            None => 1,
        }
    }

    fn module(&mut self, trees: &[TokenTree], at: usize, place: Place) -> usize {
        if let Some(body) = trees.get(at + 2).group(Delimiter::Brace) {
            let inner: Vec<TokenTree> = body.stream().into_iter().collect();
            self.walk(&inner, Place { depth: place.depth + 1, ..Place::default() });
            return 3;
        }
        if trees.get(at + 2).is_punct(';') {
            let message = "the file of this module would be outside of the migration's checksum: write the \
                           module inline, with braces";
            self.errors.push(trees[at + 1].span(), message);
        }
        2
    }

    fn refuse(&mut self, span: Span, what: &str, instead: &str) {
        if !self.may_reach {
            let message = format!(
                "{what} outside of the migration, where an edit would not change its checksum: {instead}, \
                 or allow it with `#[migration(…, reaches_outside = \"why\")]`"
            );
            self.errors.push(span, message);
        }
    }

    fn refuse_cfg(&mut self, name: &Ident) {
        let message = format!(
            "with `{name}` one checksum would stand for more than one migration: write code that is the same \
             in every build, and decide at run time"
        );
        self.errors.push(name.span(), message);
    }
}
