mod classify;
mod ddl;
mod digest;
mod errors;
mod identity;
mod lint;
mod mask;
mod mutations;
mod properties;
mod roles;
mod split;
mod template;
mod types;

use super::{Classification, one};

fn classified(source: &str) -> Classification {
    one(source).unwrap_or_else(|error| panic!("{}", error.explain())).classify()
}
