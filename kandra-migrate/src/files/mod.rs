//! Migrations as files of CQL: names, what comments say, statements, checksums. Pure, but for the listing of a
//! directory.

mod checksum;
mod fault;
mod listing;
mod mark;
mod migration;
mod script;
#[cfg(test)]
mod tests;

pub(crate) use checksum::of_module;
pub(crate) use fault::Fault;
pub(crate) use listing::{Found, list, migrations};
pub(crate) use mark::Mark;
pub(crate) use migration::FileMigration;
pub(crate) use script::{Marked, Script};
