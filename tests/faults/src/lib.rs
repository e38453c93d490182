//! Real faults on real nodes: instances are processes, killed and stopped for real; relays lose, delay and double what
//! goes between them and the nodes; nodes are killed and stopped. Whether what comes of it is right is decided by
//! [`check`] over the ledger's events and the effects, not by the flow of the test.
//!
//! `cargo run -p faults -- --all --seed 1` does all of it, a line a number of the design's list of faults.
//!
//! Not here: 6 (clocks: a process cannot be given another one without a preloaded library; the simulation has them),
//! 11 and 18 (the simulation and the model), 21 (there is one scope yet).

pub mod cases;
pub mod check;
pub mod dice;
pub mod instance;
pub mod people;
pub mod plans;
pub mod process;
pub mod record;
pub mod relay;
pub mod run;
pub mod scene;
pub mod times;
pub mod trouble;
pub mod world;

pub use cases::Extent;
pub use instance::Instance;
pub use run::{Selection, run};
pub use trouble::{Result, Trouble};
