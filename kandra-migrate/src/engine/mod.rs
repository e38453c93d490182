//! The engine: what a run does, from its first look to its last write. It knows stores, clocks and executors by their
//! traits only.

mod await_applied;
mod backoff;
mod building;
mod catalog;
mod decide;
mod env;
mod executor;
mod halt;
mod hold;
mod lease;
mod obey;
mod observer;
mod operator;
mod patience;
mod perform;
mod premises;
#[cfg(feature = "cli")]
mod preview;
mod reader;
mod remaining;
mod resume;
mod settings;
mod shutdown;
mod sighting;
mod standing;
mod stopped;
mod verbs;
mod verify;
mod watch;

#[cfg(test)]
mod tests;

pub(crate) use await_applied::await_applied;
pub use catalog::Catalog;
pub(crate) use catalog::Entry;
pub use env::Env;
pub use executor::{CodeRun, Executor, Send};
pub use lease::Identity;
pub use observer::{Observer, Progress};
pub use operator::Operator;
pub(crate) use reader::Reader;
pub(crate) use remaining::{tell_remaining, trouble_of_deferred};
pub use settings::{Settings, Wait};
pub use shutdown::Shutdown;
pub use verbs::{Expected, Verb};
pub(crate) use verify::verify;
pub use watch::Run;
