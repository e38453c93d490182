//! What the tests against real nodes share.

pub mod execution;
pub mod fleet;
mod gate;
mod keyspace;
mod ledger;
mod private;
mod relay;
pub mod script;
mod wait;

pub use gate::Gate;
pub use keyspace::{Keyspace, LEASE, connect, connect_to, connected_as, log, session_builder};
pub use ledger::{Head, LedgerEvent, Snapshot, StepState};
pub use private::{Private, private};
pub use relay::{Relay, Request};
pub use wait::{eventually, within};

kandra_migrate::registry!(
    /// Those of the [`fleet`]'s application.
    pub static MIGRATIONS
);
