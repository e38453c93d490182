//! Chance, from a seed.

/// The same sequence for the same seed.
///
/// Steele, Lea, Flood: Fast splittable pseudorandom number generators (OOPSLA 2014).
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// From 0 up to, not including, `end`; the bias for ends far below 2^64 does not matter here.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.bits() % end.max(1)
    }

    /// From `low` up to and including `high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True so many times in a thousand.
    pub(crate) fn per_mille(&mut self, rate: u64) -> bool {
        rate > 0 && self.below(1000) < rate
    }

    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or_default()
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.index(all.len())]
    }
}
