//! In which order the ranges of a table are worked on.

use std::collections::VecDeque;

use super::range::TokenRange;

/// Ranges in as many rows as there are workers, each ascending. Work in one row alone would be on one set of replicas
/// at a time; work in any order would leave as many gaps as there are ranges, and a checkpoint has to name them.
#[derive(Debug)]
pub(super) struct Queue {
    rows: Vec<VecDeque<TokenRange>>,
    turn: usize,
}

impl Queue {
    pub(super) fn new(ranges: &[TokenRange], rows: usize) -> Self {
        let length = ranges.len().div_ceil(rows.max(1)).max(1);
        Self { rows: ranges.chunks(length).map(|chunk| chunk.iter().copied().collect()).collect(), turn: 0 }
    }

    /// The next one, of the rows in turn.
    pub(super) fn next(&mut self) -> Option<TokenRange> {
        self.rows.retain(|row| !row.is_empty());
        let row = self.turn.checked_rem(self.rows.len())?;
        self.turn = row + 1;
        self.rows[row].pop_front()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::task::backfill::finished::Finished;

    #[test]
    fn each_range_once() {
        for (parts, rows) in [(1, 8), (7, 3), (100, 8), (5, 1), (5, 0)] {
            let ranges = TokenRange::ALL.cut(&[], parts);
            let mut queue = Queue::new(&ranges, rows);
            let mut finished = Finished::default();
            let mut count = 0;
            while let Some(range) = queue.next() {
                finished.add(range);
                count += 1;
            }
            assert!(finished.is_all() && count == ranges.len(), "{parts} {rows}");
        }
    }

    #[test]
    fn a_checkpoint_stays_short() {
        const WORKERS: usize = 64;
        let mut queue = Queue::new(&TokenRange::ALL.cut(&[], 65_536), WORKERS);
        let mut working: VecDeque<_> = (0..WORKERS).filter_map(|_| queue.next()).collect();
        let mut finished = Finished::default();
        let mut longest = 0;
        // Every other worker is as slow as can be.
        while let Some(range) = working.pop_back() {
            finished.add(range);
            longest = longest.max(finished.to_string().len());
            if let Some(next) = queue.next() {
                working.insert(working.len() / 2, next);
            }
        }
        assert!(finished.is_all());
        assert!(longest < 4000, "{longest}");
    }
}
