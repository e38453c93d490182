//! The engine over a simulated cluster, clock and network: one seed is one world, with its own faults, and comes out
//! the same each time.
//!
//! Nothing here sleeps or asks the system for anything. Processes are futures that the simulation polls one at a
//! time; it kills them between two polls, which is at any `await`, and lets them stand still. Requests to the ledger
//! and statements are lost, late, doubled and overtaken. The checker goes by the raw rows and by the effects that the
//! world has recorded, after each write, each sending and each landing.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "the numbers of a simulation are small"
)]

mod catalogue;
mod checker;
mod coverage;
mod database;
mod ledger;
mod operator;
mod port;
mod process;
mod random;
mod raw;
mod rules;
mod scenario;
mod simulation;
mod time;
mod world;

pub use checker::Violation;
pub use coverage::Coverage;
pub use rules::Rule;
pub use simulation::{Ended, simulate};
