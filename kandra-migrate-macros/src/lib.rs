//! The proc-macros of `kandra-migrate`; use them through that crate.

mod canon;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod mutation;
