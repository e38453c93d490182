//! CQL as text: splitting scripts, replacing variables, telling what a statement does, hiding values, and a
//! digest. Nothing here asks a server.

mod change;
mod classify;
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
mod position;
mod script;
mod statement;
mod template;
mod token;

#[cfg(test)]
mod tests;

pub use change::{
    ColumnDefinition, CreateAggregate, CreateFunction, CreateIndex, CreateTable, CreateView, Object,
    ObjectKind, OptionValue, Options, SchemaChange, TableAction,
};
pub use classify::{Classification, Kind, NotIdempotent, Refusal};
pub use cqltype::CqlType;
pub use digest::digest;
pub use error::{CqlError, CqlErrorKind};
pub use lint::{Finding, LintStep, Rule, lint};
pub use literal::literal;
pub use mask::mask;
pub use name::{QualifiedName, fold, quote};
pub use normalise::{conditions, normalise};
pub use position::Position;
pub use script::{Piece, split, utf8};
pub use statement::{Statement, one};
pub use template::{Template, Value, Variables};
pub use token::Span;
