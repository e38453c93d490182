//! How fast a backfill works: as fast as it is allowed to, and slower while the cluster is overloaded.

use std::time::Duration;

/// The slowest, as a part of what is allowed.
const FACTOR_MIN: f64 = 1.0 / 64.0;

/// How much of what is allowed comes back with each range that succeeds.
const RECOVERY: f64 = 1.0 / 32.0;

/// One burst of errors is one sign.
const HALVES_MS_MIN: Duration = Duration::from_secs(1);

/// Additive increase, multiplicative decrease, as congestion is avoided in networks (Jacobson, SIGCOMM 1988): the rate
/// halves when the cluster cannot keep up, and comes back little by little.
#[derive(Debug)]
pub(super) struct Pace {
    workers: usize,
    rows_per_second: Option<f64>,
    factor: f64,
    halved_at: Option<Duration>,
    /// When the next row may be worked on.
    next_row_at: Duration,
}

impl Pace {
    pub(super) fn new(workers: usize, rows_per_second: Option<u32>) -> Self {
        Self {
            workers,
            rows_per_second: rows_per_second.map(f64::from),
            factor: 1.0,
            halved_at: None,
            next_row_at: Duration::ZERO,
        }
    }

    /// How many ranges may be worked on at once.
    pub(super) fn workers(&self) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "it is between zero and the number of workers"
        )]
        let workers = (self.workers as f64 * self.factor).ceil() as usize;
        workers.max(1)
    }

    /// How long to wait after this many rows.
    pub(super) fn spend(&mut self, rows: u64, now: Duration) -> Duration {
        let Some(rate) = self.rows_per_second else { return Duration::ZERO };
        #[expect(clippy::cast_precision_loss, reason = "a pause need not be exact")]
        let cost = Duration::try_from_secs_f64(rows as f64 / (rate * self.factor)).unwrap_or(Duration::MAX);
        self.next_row_at = self.next_row_at.max(now).saturating_add(cost);
        self.next_row_at.saturating_sub(now)
    }

    /// The cluster did not keep up.
    pub(super) fn slow_down(&mut self, now: Duration) {
        if self.halved_at.is_some_and(|halved_at| now.saturating_sub(halved_at) < HALVES_MS_MIN) {
            return;
        }
        self.halved_at = Some(now);
        self.factor = (self.factor / 2.0).max(FACTOR_MIN);
    }

    /// A range succeeded.
    pub(super) fn recover(&mut self) {
        self.factor = (self.factor + RECOVERY).min(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn it_halves_and_recovers() {
        let mut pace = Pace::new(16, None);
        assert_eq!(pace.workers(), 16);
        pace.slow_down(SECOND);
        assert_eq!(pace.workers(), 8);
        pace.slow_down(SECOND + Duration::from_millis(10));
        assert_eq!(pace.workers(), 8, "one burst");
        for n in 2..40 {
            pace.slow_down(SECOND * n);
        }
        assert_eq!(pace.workers(), 1);
        for _ in 0..40 {
            pace.recover();
        }
        assert_eq!(pace.workers(), 16);
    }

    #[test]
    fn rows_have_their_time() {
        let mut pace = Pace::new(4, Some(100));
        assert_eq!(pace.spend(50, SECOND), SECOND / 2);
        assert_eq!(pace.spend(50, SECOND), SECOND);
        assert_eq!(pace.spend(0, SECOND * 9), Duration::ZERO);
        // What was not used is not saved up.
        assert_eq!(pace.spend(100, SECOND * 9), SECOND);
        pace.slow_down(SECOND * 20);
        assert_eq!(pace.spend(100, SECOND * 20), SECOND * 2);
        assert_eq!(Pace::new(4, None).spend(1_000_000, SECOND), Duration::ZERO);
    }
}
