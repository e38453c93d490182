//! The service's migrations. `registry!` finds each `#[migration]` of the crate, in whichever file it is.

mod first_release;
mod second_release;

kandra_migrate::registry!(pub(crate) static MIGRATIONS);

/// The newest version of the first release.
pub(crate) const FIRST_RELEASE: i64 = 5;

/// How many users [`first_release`] adds.
pub(crate) const USERS: u64 = 60;

/// How many users [`second_release`] works on between two checkpoints.
pub(crate) const BATCH: u64 = 5;
