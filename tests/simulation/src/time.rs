//! The world's time, and how a process's clock runs against it.

use std::time::Duration;

/// Nanoseconds of the world's time since the simulation began.
pub(crate) type Nanos = u64;

pub(crate) const MS: Nanos = 1_000_000;
pub(crate) const SECOND: Nanos = 1000 * MS;

/// The server's wall clock when the simulation begins, in milliseconds since the epoch.
const EPOCH_MS: i64 = 1_700_000_000_000;

/// The server's wall clock, in milliseconds since the epoch.
pub(crate) fn server_ms(now: Nanos) -> i64 {
    EPOCH_MS + whole(now / MS)
}

pub(crate) fn nanos(duration: Duration) -> Nanos {
    Nanos::try_from(duration.as_nanos()).unwrap_or(Nanos::MAX / 4)
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The clock of one process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    /// How fast it runs: 1000 keeps the world's pace.
    pub(crate) per_mille: u64,
    /// What it showed when the world began.
    pub(crate) offset: Nanos,
    /// How far its wall clock is off, in milliseconds.
    pub(crate) wall_off_ms: i64,
}

impl Rate {
    pub(crate) fn local(self, now: Nanos) -> Duration {
        Duration::from_nanos(self.offset + (u128::from(now) * u128::from(self.per_mille) / 1000) as u64)
    }

    /// How much of the world's time passes while this clock counts `local`; rounded up, so that no timer is early.
    pub(crate) fn world(self, local: Duration) -> Nanos {
        let local = local.as_nanos().min(u128::from(Nanos::MAX / 4));
        (local * 1000).div_ceil(u128::from(self.per_mille)) as u64 + 1
    }

    pub(crate) fn wall_ms(self, now: Nanos) -> i64 {
        server_ms(now) + self.wall_off_ms
    }
}
