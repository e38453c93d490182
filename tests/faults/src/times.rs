//! The times that instances run with: a lease short enough that takeovers do not take the whole test.

use std::time::Duration;

/// How long a lease outlives its holder.
pub(crate) const LEASE: Duration = Duration::from_secs(8);
/// How often it is renewed.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(2);
/// When a statement's outcome counts as unknown.
pub(crate) const STATEMENT_TIMEOUT: Duration = Duration::from_secs(3);

/// Until an instance that only waits for takeovers and drains must have ended.
pub(crate) const END_SECS_MAX: u64 = 600;
/// Until a request that a test waits for must have come.
pub(crate) const REACH_SECS_MAX: u64 = 240;
