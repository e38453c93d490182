//! The engine.
mod executor;
pub use executor::*;
