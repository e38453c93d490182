//! kandra-migrate against real nodes, by topic. One binary, so that it is linked once and the cluster is shared.

mod backfill;
mod copy;
mod crash;
mod deferred;
mod files;
mod fleet;
mod history;
mod instance;
mod journey;
mod ledger;
mod ledger_keyspace;
mod nodes;
mod refused;
mod requests;
mod rights;
mod roles;
mod schema;
mod scripts;
mod stop;
mod tasks;
mod tenants;
mod unreachable;
mod waiting;
