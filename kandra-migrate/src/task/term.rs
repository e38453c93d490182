//! How long a lease lasts, by the clocks of its run.

use std::time::Duration;

use crate::clock::Clock;

/// Clocks that part by more than this since a renewal have jumped: rates differ by less.
const PARTED_MS_MIN: u64 = 5_000;

/// What the last known renewal of a lease has left to its run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Term {
    /// Nothing that may end later than this is sent.
    deadline: Duration,
    /// The wall clock and the run's own at the renewal. Where they have parted since, the machine may have stood still
    /// without the run's clock having noticed.
    renewed: Option<(i64, Duration)>,
}

impl Term {
    /// For so long after a renewal that was sent now.
    pub(crate) fn beginning(clock: &impl Clock, length: Duration) -> Self {
        let now = clock.now();
        Self { deadline: now + length, renewed: Some((clock.wall_ms(), now)) }
    }

    pub(crate) fn begun(&self) -> Duration {
        self.renewed.map(|(_, at)| at).unwrap_or_default()
    }

    pub(crate) fn deadline(&self) -> Duration {
        self.deadline
    }

    /// Whether something that takes at most `timeout` ends within it.
    pub(crate) fn covers(&self, clock: &impl Clock, timeout: Duration) -> bool {
        let now = clock.now();
        now + timeout <= self.deadline && !self.clocks_have_parted(now, clock.wall_ms())
    }

    /// A jump of the wall clock counts as a lapse: it may be the machine that stood still.
    fn clocks_have_parted(&self, now: Duration, now_wall_ms: i64) -> bool {
        let Some((wall_ms, at)) = self.renewed else { return false };
        let own_ms = i64::try_from(now.saturating_sub(at).as_millis()).unwrap_or(i64::MAX);
        (now_wall_ms - wall_ms).abs_diff(own_ms) > PARTED_MS_MIN
    }
}
