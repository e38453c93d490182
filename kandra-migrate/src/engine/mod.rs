//! The engine: what a run does, from its first look to its last write. It knows stores, clocks and executors by their
//! traits only.

mod backoff;
mod catalog;
mod decide;
mod executor;
mod halt;
mod hold;
mod lease;
mod perform;
mod settings;
mod shutdown;
mod verify;
mod watch;

#[cfg(test)]
mod tests;

pub(crate) use catalog::{Catalog, Entry};
pub use executor::{CodeRun, Coordinator, Drained, Executor, NoAgreement, Send, SendError};
pub(crate) use lease::Identity;
pub use settings::{Settings, Wait};
pub use shutdown::Shutdown;
pub(crate) use verify::verify;
pub(crate) use watch::{Run, pending};
