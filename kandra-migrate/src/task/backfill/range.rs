//! Ranges of tokens.

use std::fmt;

/// The tokens above one bound up to and including another one: `(after, up_to]`.
///
/// A backfill works on ranges of the whole ring of Murmur3 tokens. [`TokenRange::ALL`] is all of them: no row has the
/// token `i64::MIN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenRange {
    after: i64,
    up_to: i64,
}

impl TokenRange {
    /// All tokens that rows have.
    pub const ALL: Self = Self { after: i64::MIN, up_to: i64::MAX };

    /// `None` where it would be empty.
    pub(super) fn new(after: i64, up_to: i64) -> Option<Self> {
        (after < up_to).then_some(Self { after, up_to })
    }

    /// The two values of `token(id) > ? AND token(id) <= ?`.
    #[must_use]
    pub fn bounds(&self) -> (i64, i64) {
        (self.after, self.up_to)
    }

    pub(super) fn tokens(&self) -> u64 {
        self.up_to.abs_diff(self.after)
    }

    /// Cut at the ring's tokens, since a range of one node is read from one set of replicas, and then so that none is
    /// wider than the whole ring divided by `parts`. Ascending.
    pub(super) fn cut(self, ring: &[i64], parts: u64) -> Vec<Self> {
        let widest = (u64::MAX / parts.max(1)).max(1);
        let mut bounds: Vec<i64> =
            ring.iter().copied().filter(|token| self.after < *token && *token < self.up_to).collect();
        bounds.push(self.up_to);
        bounds.sort_unstable();
        bounds.dedup();
        let mut ranges = Vec::new();
        let mut after = self.after;
        for up_to in bounds {
            Self { after, up_to }.cut_to(widest, &mut ranges);
            after = up_to;
        }
        ranges
    }

    /// Cut into equal parts, none wider than this.
    fn cut_to(self, widest: u64, ranges: &mut Vec<Self>) {
        let parts = self.tokens().div_ceil(widest);
        let width = self.tokens().div_ceil(parts);
        let mut after = self.after;
        while after < self.up_to {
            let up_to = after.saturating_add_unsigned(width).min(self.up_to);
            ranges.push(Self { after, up_to });
            after = up_to;
        }
    }
}

impl fmt::Display for TokenRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}]", self.after, self.up_to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_gapless(of: TokenRange, ranges: &[TokenRange]) -> bool {
        let ends = (ranges.first().map(|range| range.after), ranges.last().map(|range| range.up_to));
        ends == (Some(of.after), Some(of.up_to))
            && ranges.windows(2).all(|pair| pair[0].up_to == pair[1].after)
    }

    #[test]
    fn the_whole_ring_in_parts() {
        for parts in [1, 2, 3, 7, 64, 1000, 65_536] {
            let ranges = TokenRange::ALL.cut(&[], parts);
            assert!(is_gapless(TokenRange::ALL, &ranges), "{parts}");
            assert!(
                ranges.len() as u64 >= parts && ranges.len() as u64 <= parts + 1,
                "{parts}: {}",
                ranges.len()
            );
        }
    }

    #[test]
    fn no_part_crosses_a_token_of_the_ring() {
        let ring = [17, i64::MIN, -5_000_000_000_000_000_000, i64::MAX, 17];
        let ranges = TokenRange::ALL.cut(&ring, 1);
        assert!(is_gapless(TokenRange::ALL, &ranges));
        assert_eq!(ranges.len(), 3);
        let ranges = TokenRange::ALL.cut(&ring, 100);
        assert!(is_gapless(TokenRange::ALL, &ranges));
        assert!(
            ranges.iter().any(|range| range.up_to == 17)
                && ranges.iter().all(|range| range.tokens() <= u64::MAX / 100)
        );
    }

    #[test]
    fn a_range_of_one_token_is_not_cut() {
        let one = TokenRange::new(41, 42).unwrap();
        assert_eq!(one.cut(&[41, 42], u64::MAX), [one]);
        assert_eq!(TokenRange::new(42, 42), None);
        let last = TokenRange::new(i64::MAX - 2, i64::MAX).unwrap();
        assert_eq!(last.cut(&[], u64::MAX).len(), 2);
    }
}
