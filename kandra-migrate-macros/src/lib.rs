//! The proc-macros of `kandra-migrate`; use them through that crate.

mod canon;
