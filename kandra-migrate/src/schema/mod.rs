//! What `system_schema` says, and what of a statement can be seen there.

pub mod probe;
pub mod shape;

#[cfg(test)]
mod tests;
