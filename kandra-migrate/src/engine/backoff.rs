//! Growing pauses between attempts.

use std::time::Duration;

use crate::clock::Dice;

/// Pauses that double from `first` to `longest`, each with up to half of it as jitter.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
    longest: Duration,
}

impl Backoff {
    pub(crate) const fn new(first: Duration, longest: Duration) -> Self {
        Self { next: first, longest }
    }

    /// Between re-issues of a conditional write: contention ends within milliseconds.
    pub(crate) const fn of_writes() -> Self {
        Self::new(Duration::from_millis(20), Duration::from_secs(1))
    }

    /// Between a watcher's reads of the head.
    pub(crate) const fn of_watchers() -> Self {
        Self::new(Duration::from_millis(250), Duration::from_secs(2))
    }

    pub(crate) fn pause(&mut self, dice: &Dice) -> Duration {
        let pause = self.next / 2 + dice.jitter(self.next);
        self.next = (self.next * 2).min(self.longest);
        pause
    }
}
