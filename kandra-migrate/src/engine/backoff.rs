//! Growing pauses between attempts.

use std::time::Duration;

use crate::clock::Dice;

/// Pauses that grow from `first` to `longest`, each by chance somewhat longer or shorter.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
    longest: Duration,
    growth_percent: u32,
    spread_percent: u32,
}

impl Backoff {
    pub(crate) const fn new(first: Duration, longest: Duration) -> Self {
        Self { next: first, longest, growth_percent: 100, spread_percent: 50 }
    }

    /// Between re-issues of a conditional write: contention ends within milliseconds.
    pub(crate) const fn of_writes() -> Self {
        Self::new(Duration::from_millis(20), Duration::from_secs(1))
    }

    /// Between a watcher's reads of the head. They grow slowly, so that of a hundred that wait for a short migration none
    /// waits for half as long again; and none is longer than 1.9 s, so that a lease that is given back is taken within 2 s.
    pub(crate) const fn of_watchers() -> Self {
        let (first, longest) = (Duration::from_millis(250), Duration::from_millis(1500));
        Self { next: first, longest, growth_percent: 10, spread_percent: 25 }
    }

    pub(crate) fn pause(&mut self, dice: &Dice) -> Duration {
        let spread = self.next * self.spread_percent / 100;
        let pause = self.next.saturating_sub(spread) + dice.jitter(spread * 2);
        self.next = (self.next * (100 + self.growth_percent) / 100).min(self.longest);
        pause
    }
}
