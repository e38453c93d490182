//! Which cells of a row are written together: those that were written at the same time and expire at the same time.

use std::collections::BTreeMap;

use crate::task::backfill::cells::Time;

/// A value to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewCell {
    /// Which of the cells.
    pub(super) at: usize,
    pub(super) value: Vec<u8>,
    /// `None` where the database does not tell.
    pub(super) time: Option<Time>,
    /// It lives as long as its row: it is from a column that is neither static nor of the key.
    pub(super) is_of_row: bool,
    /// It goes into a static column.
    pub(super) is_static: bool,
}

/// Values that one statement writes; without a time, with the write time of the claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) time: Option<Time>,
    pub(super) cells: Vec<(usize, Vec<u8>)>,
    /// It makes the row, as `INSERT` does, which then is there even without cells.
    pub(super) makes_row: bool,
}

/// The first makes the row, and is of the cells that are there longest: what a row is beyond its cells has a write time
/// and TTL as well, and no query tells them.
pub(super) fn of_row(cells: Vec<NewCell>) -> Vec<Write> {
    let of_row = cells.iter().filter(|cell| cell.is_of_row && !cell.is_static);
    let times = of_row.filter_map(|cell| cell.time);
    let longest = times.max_by_key(|time| (time.expires_s.unwrap_or(i64::MAX), time.written_us));
    let mut groups = grouped(cells, longest);
    let first = groups.remove(&longest).unwrap_or_default();
    let first = Write { time: longest, cells: first, makes_row: true };
    std::iter::once(first).chain(others(groups)).collect()
}

/// Those of static columns, where there is no row.
pub(super) fn of_statics(cells: Vec<NewCell>) -> Vec<Write> {
    let statics = cells.into_iter().filter(|cell| cell.is_static).collect();
    others(grouped(statics, None)).collect()
}

type Groups = BTreeMap<Option<Time>, Vec<(usize, Vec<u8>)>>;

fn grouped(cells: Vec<NewCell>, of_row: Option<Time>) -> Groups {
    let mut groups = Groups::new();
    for NewCell { at, value, time, is_static, .. } in cells {
        let time = time.or(of_row.filter(|_| !is_static));
        groups.entry(time).or_default().push((at, value));
    }
    groups
}

fn others(groups: Groups) -> impl Iterator<Item = Write> {
    groups.into_iter().map(|(time, cells)| Write { time, cells, makes_row: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Option<Time> = Some(Time { written_us: 5, expires_s: None });

    const fn until(written_us: i64, expires_s: i64) -> Time {
        Time { written_us, expires_s: Some(expires_s) }
    }

    fn cell(at: usize, time: Option<Time>) -> NewCell {
        let value = vec![u8::try_from(at).unwrap()];
        NewCell { at, value, time, is_of_row: time.is_some(), is_static: false }
    }

    fn shape(writes: &[Write]) -> Vec<(Option<Time>, Vec<usize>, bool)> {
        let cells = |write: &Write| write.cells.iter().map(|(at, _)| *at).collect();
        writes.iter().map(|write| (write.time, cells(write), write.makes_row)).collect()
    }

    #[test]
    fn cells_of_one_write_are_one_statement() {
        let writes = of_row(vec![cell(0, OLD), cell(1, OLD), cell(2, None)]);
        assert_eq!(shape(&writes), [(OLD, vec![0, 1, 2], true)]);
    }

    #[test]
    fn the_row_is_there_as_long_as_its_last_cell() {
        let writes = of_row(vec![cell(0, Some(until(9, 100))), cell(1, OLD), cell(2, Some(until(7, 50)))]);
        assert_eq!(
            shape(&writes),
            [
                (OLD, vec![1], true),
                (Some(until(7, 50)), vec![2], false),
                (Some(until(9, 100)), vec![0], false)
            ]
        );
        let writes = of_row(vec![cell(0, Some(until(9, 50))), cell(1, Some(until(5, 100)))]);
        assert_eq!(shape(&writes)[0], (Some(until(5, 100)), vec![1], true));
    }

    #[test]
    fn a_row_of_nothing_but_its_key() {
        assert_eq!(shape(&of_row(Vec::new())), [(None, vec![], true)]);
        // A static column says nothing of the row.
        let statics = NewCell { is_static: true, is_of_row: false, ..cell(0, Some(until(5, 100))) };
        assert_eq!(
            shape(&of_row(vec![statics.clone()])),
            [(None, vec![], true), (Some(until(5, 100)), vec![0], false)]
        );
        let others = vec![statics, cell(1, None)];
        assert_eq!(shape(&of_statics(others)), [(Some(until(5, 100)), vec![0], false)]);
    }
}
