//! The command line as a user runs it: real binaries, a real database, and the texts that they print.
//!
//! Golden files are in `golden/`; `KANDRA_BLESS=1` writes them anew.

mod commands;
mod files;
mod golden;
mod help;
mod next;
mod shop;
mod signals;
