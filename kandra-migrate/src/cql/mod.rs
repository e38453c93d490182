//! CQL as text: splitting scripts, replacing variables, telling what a statement does, hiding values, and a
//! digest. Nothing here asks a server.

mod allowance;
mod change;
mod classify;
mod comment;
mod cqltype;
mod cursor;
mod data;
mod ddl;
mod digest;
mod error;
mod excerpt;
mod identity;
mod lexer;
mod lint;
mod literal;
mod mask;
mod name;
mod normalise;
mod place;
mod position;
mod role;
mod rule;
mod script;
mod statement;
mod template;
mod token;
mod value;

#[cfg(test)]
mod tests;

pub use allowance::{Allowance, allowances};
pub use change::{
    ColumnDefinition, CreateAggregate, CreateFunction, CreateIndex, CreateTable, CreateView, Object,
    ObjectKind, OptionValue, Options, SchemaChange, TableAction,
};
pub use classify::{Classification, Kind, NotIdempotent, Refusal};
pub use comment::{Comment, comments};
pub use cqltype::CqlType;
pub use digest::digest;
pub use error::{CqlError, CqlErrorKind};
pub use lint::{Finding, LintStep, lint};
pub use literal::literal;
pub use mask::mask;
pub use name::{QualifiedName, fold, quote};
pub use normalise::{conditions, normalise};
pub use position::Position;
pub use role::{Resource, RoleChange, RoleOptions};
pub use rule::{Rule, lint_codes};
pub use script::{Piece, split, utf8};
pub use statement::{Statement, one};
pub use template::Template;
pub use token::Span;
pub use value::{Value, Variables};
