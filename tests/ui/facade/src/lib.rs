//! A crate that passes `kandra-migrate` on, as a company's common crate does.

pub use kandra_migrate;
