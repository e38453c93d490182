//! The pace that all workers of a backfill share.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::pace::Pace;
use crate::clock::{Clock as _, Dice};
use crate::task::TaskContext;

/// A pause is no stall, however long it is.
const SIGN_OF_LIFE_SECS: Duration = Duration::from_secs(10);

const RETRY_MS_FIRST: Duration = Duration::from_millis(100);
const RETRY_MS_MAX: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Throttle {
    cx: TaskContext,
    pace: Mutex<Pace>,
    is_limited: bool,
}

impl Throttle {
    pub(super) fn new(cx: TaskContext, workers: usize, rows_per_second: Option<u32>) -> Self {
        let pace = Mutex::new(Pace::new(workers, rows_per_second));
        Self { cx, pace, is_limited: rows_per_second.is_some() }
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn workers(&self) -> usize {
        self.pace().workers()
    }

    pub(super) fn recover(&self) {
        self.pace().recover();
    }

    /// Pauses as long as these rows may take.
    pub(super) async fn spend(&self, rows: u64) {
        // The clock is a read of a file, and this is called for each row.
        if !self.is_limited {
            return;
        }
        let now = self.cx.parts().clock.now();
        let pause = self.pace().spend(rows, now);
        self.pause(pause).await;
    }

    /// After the n-th attempt at a range, from 1, which the cluster was too slow for.
    pub(super) async fn slow_down(&self, attempt: u32) {
        let now = self.cx.parts().clock.now();
        self.pace().slow_down(now);
        let longest = RETRY_MS_FIRST.saturating_mul(1 << attempt.min(16)).min(RETRY_MS_MAX);
        self.pause(longest / 2 + Dice::system().jitter(longest / 2)).await;
    }

    async fn pause(&self, mut left: Duration) {
        while !left.is_zero() {
            let part = left.min(SIGN_OF_LIFE_SECS);
            self.cx.parts().clock.sleep(part).await;
            self.cx.parts().guard.note_progress();
            left -= part;
        }
    }
}
