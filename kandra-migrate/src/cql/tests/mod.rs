mod classify;
mod digest;
mod errors;
mod mask;
mod properties;
mod split;
mod template;

use super::{Classification, one};

fn classified(source: &str) -> Classification {
    one(source).unwrap_or_else(|error| panic!("{}", error.explain())).classify()
}
