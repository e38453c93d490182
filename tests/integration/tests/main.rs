//! kandra-migrate against real nodes, by topic. One binary, so that it is linked once and the cluster is shared.

mod history;
mod journey;
mod ledger;
mod refused;
