//! What a migration must be. All that is wrong is said at once, each thing where it is, with what to write
//! instead.

mod arguments;
mod files;
mod items;
mod reach;
mod tree;

use proc_macro2::Span;

use crate::parse::{Argument, Module};

pub(crate) use self::arguments::Arguments;

/// What was found wrong so far.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    pub(crate) fn push(&mut self, span: Span, message: impl std::fmt::Display) {
        self.add(syn::Error::new(span, message));
    }

    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            errors @ None => *errors = Some(error),
        }
    }

    pub(crate) fn into_result(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

/// A migration that is as it must be.
pub(crate) struct Valid {
    pub(crate) arguments: Arguments,
    pub(crate) module: Module,
    /// Where the name of `up` is.
    pub(crate) up: Span,
    /// The files that are part of it.
    pub(crate) files: Vec<String>,
}

/// Judges a migration of a crate that is known by `crate_names`.
pub(crate) fn validate(
    arguments: syn::Result<Vec<Argument>>,
    module: syn::Result<Module>,
    crate_names: &[String],
) -> syn::Result<Valid> {
    let mut errors = Errors::default();
    let arguments = arguments.and_then(arguments::validate).map_err(|error| errors.add(error)).ok();
    let module = module.map_err(|error| errors.add(error)).ok();
    let mut files = Vec::new();
    let up = module.as_ref().and_then(|module| {
        let content = tree::without_invisible_groups(module.body.stream());
        files = files::validate(&content, &mut errors);
        let up = items::validate(&content, &module.name, &mut errors);
        // With arguments that are wrong it is not known whether the migration may reach outside.
        if let Some(arguments) = &arguments {
            let attributes = tree::without_invisible_groups(module.attributes.clone());
            reach::validate(&attributes, &content, arguments, crate_names, &mut errors);
        }
        up
    });
    errors.into_result()?;
    match (arguments, module, up) {
        (Some(arguments), Some(module), Some(up)) => Ok(Valid { arguments, module, up, files }),
        _ => unreachable!("what is missing was an error"),
    }
}
