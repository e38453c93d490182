//! Which tokens of a table are done.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::range::TokenRange;

/// A set of tokens, as few intervals as there can be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::task) struct Finished {
    /// By the bound above which each begins, where it ends.
    intervals: BTreeMap<i64, i64>,
}

impl Finished {
    pub(super) fn add(&mut self, range: TokenRange) {
        let (mut after, mut up_to) = range.bounds();
        // The one that begins at or below this range, where it reaches it.
        if let Some((&left, &right)) =
            self.intervals.range(..=after).next_back().filter(|(_, right)| **right >= after)
        {
            after = left;
            up_to = up_to.max(right);
        }
        // Those that begin in it or at its end.
        while let Some((&left, &right)) = self.intervals.range(after..=up_to).next() {
            up_to = up_to.max(right);
            self.intervals.remove(&left);
        }
        self.intervals.insert(after, up_to);
    }

    /// What is not done, ascending.
    pub(super) fn rest(&self) -> Vec<TokenRange> {
        let (first, last) = TokenRange::ALL.bounds();
        let starts = std::iter::once(first).chain(self.intervals.values().copied());
        let ends = self.intervals.keys().copied().chain(std::iter::once(last));
        starts.zip(ends).filter_map(|(after, up_to)| TokenRange::new(after, up_to)).collect()
    }

    pub(super) fn is_all(&self) -> bool {
        self.rest().is_empty()
    }
}

/// Text that is no set of tokens.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no range of tokens")]
pub(in crate::task) struct NoRange(String);

/// `*` for all; otherwise `after-up_to`, and so on, in hexadecimal, counted from the smallest token: no sign, and short.
impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_all() {
            return f.write_str("*");
        }
        for (n, (after, up_to)) in self.intervals.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            write!(f, "{comma}{:x}-{:x}", after.abs_diff(i64::MIN), up_to.abs_diff(i64::MIN))?;
        }
        Ok(())
    }
}

impl FromStr for Finished {
    type Err = NoRange;

    fn from_str(text: &str) -> Result<Self, NoRange> {
        let mut finished = Self::default();
        if text == "*" {
            finished.add(TokenRange::ALL);
            return Ok(finished);
        }
        for part in text.split(',').filter(|part| !part.is_empty()) {
            finished.add(range(part).ok_or_else(|| NoRange(part.to_owned()))?);
        }
        Ok(finished)
    }
}

fn range(text: &str) -> Option<TokenRange> {
    let (after, up_to) = text.split_once('-')?;
    let token = |text| Some(i64::MIN.wrapping_add_unsigned(u64::from_str_radix(text, 16).ok()?));
    TokenRange::new(token(after)?, token(up_to)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ranges: &[(i64, i64)]) -> Finished {
        let mut finished = Finished::default();
        for (after, up_to) in ranges {
            finished.add(TokenRange::new(*after, *up_to).unwrap());
        }
        finished
    }

    #[test]
    fn neighbours_become_one() {
        assert_eq!(of(&[(0, 10), (20, 30), (10, 20)]), of(&[(0, 30)]));
        assert_eq!(of(&[(10, 20), (0, 10)]), of(&[(0, 20)]));
        assert_eq!(of(&[(0, 100), (10, 20)]), of(&[(0, 100)]));
        assert_eq!(of(&[(10, 20), (30, 40), (5, 50)]), of(&[(5, 50)]));
        assert_eq!(of(&[(0, 10), (11, 20)]).rest().len(), 3);
    }

    #[test]
    fn the_rest_is_what_is_missing() {
        assert_eq!(Finished::default().rest(), [TokenRange::ALL]);
        let finished = of(&[(i64::MIN, 0), (5, 7)]);
        let bounds: Vec<_> = finished.rest().iter().map(TokenRange::bounds).collect();
        assert_eq!(bounds, [(0, 5), (7, i64::MAX)]);
        let all = of(&[(i64::MIN, 0), (0, i64::MAX)]);
        assert!(all.is_all());
    }

    #[test]
    fn any_order_of_ranges_leaves_one_interval() {
        let mut ranges = TokenRange::ALL.cut(&[], 500);
        // An order that is none: multiples of a number that has no divisor in common with their count.
        let count = ranges.len();
        let order: Vec<_> = (0..count).map(|n| ranges[n * 37 % count]).collect();
        let mut finished = Finished::default();
        for range in order {
            finished.add(range);
            assert_eq!(finished.to_string().parse(), Ok(finished.clone()));
        }
        assert!(finished.is_all());
        ranges.clear();
        assert_eq!(finished.to_string(), "*");
    }

    #[test]
    fn text_of_a_checkpoint() {
        let finished = of(&[(i64::MIN, -1), (0, 16)]);
        assert_eq!(finished.to_string(), "0-7fffffffffffffff,8000000000000000-8000000000000010");
        for wrong in ["1", "2-1", "x-1", "0-1;"] {
            assert!(wrong.parse::<Finished>().is_err(), "{wrong}");
        }
    }
}
