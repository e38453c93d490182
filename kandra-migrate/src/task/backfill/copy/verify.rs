//! Whether a copy is one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use super::TableCopy;
use super::copier::Copier;
use super::error::CopyError;
use super::image::Image;
use crate::clock::Clock as _;
use crate::task::backfill::cells::{Cell, Cells, RawRow};
use crate::task::backfill::names::quoted;
use crate::task::backfill::row::Tokened;
use crate::task::backfill::table::Table;
use crate::task::{TaskContext, TaskError, TaskResult};

/// An application writes one of the two tables first.
const COMPARES_MAX: usize = 4;
const PAUSE_MS: Duration = Duration::from_millis(250);

/// Equal parts of all tokens, from each of which as many rows are compared as from the others.
const PARTS: u64 = 256;

pub(super) async fn verify(
    copy: TableCopy,
    from: Table,
    into: Table,
    copier: Copier,
    rows: u64,
) -> TaskResult {
    let cx = copy.backfill.context();
    let copier = Arc::new(copier);
    let sample = Arc::new(Sample::new(rows));
    let from_rows = count_from(&copy, &from, &copier, Some(sample)).await?;
    let into_rows = count_into(&copy, &into).await?;
    if from_rows == into_rows {
        return Ok(());
    }
    // What has been written since.
    let again = count_from(&copy, &from, &copier, None).await?;
    if (from_rows.min(again)..=from_rows.max(again)).contains(&into_rows) {
        return Ok(());
    }
    tracing::warn!(
        from = from.name,
        from_rows,
        again,
        into = into.name,
        into_rows,
        keyspace = cx.keyspace(),
        "no copy"
    );
    Err(CopyError::Count { from: from.name, from_rows: again, into: into.name, into_rows }.into())
}

/// The rows that are to be there; a few are compared.
async fn count_from(
    copy: &TableCopy,
    from: &Table,
    copier: &Arc<Copier>,
    sample: Option<Arc<Sample>>,
) -> Result<u64, TaskError> {
    let copier = Arc::clone(copier);
    let reads = copier.texts.reads.clone();
    let row = move |cx: TaskContext, Tokened { token, row }: Tokened<RawRow>| {
        let (copier, sample) = (Arc::clone(&copier), sample.clone());
        async move {
            let Some(image) = copier.image(&row)?.filter(|image| !image.is_static_only) else { return Ok(0) };
            if sample.is_some_and(|sample| sample.takes(token)) {
                compare(&cx, &copier, row, image).await?;
            }
            Ok(1)
        }
    };
    copy.backfill.clone().without_place().each_row(from.clone(), &reads, row).await
}

async fn count_into(copy: &TableCopy, into: &Table) -> Result<u64, TaskError> {
    // One that is there for its static columns alone has none.
    let last = into.columns.iter().rfind(|column| column.is_key());
    let reads = quoted(last.map(|column| column.name.as_str()));
    let row =
        async |_, Tokened { row, .. }: Tokened<RawRow>| Ok(u64::from(row.cells.iter().all(Option::is_some)));
    copy.backfill.clone().without_place().each_row(into.clone(), &reads, row).await
}

/// Whether a row is in the other table, or something newer: what differs is read again.
async fn compare(cx: &TaskContext, copier: &Copier, row: RawRow, image: Image) -> TaskResult {
    let mut image = image;
    for _ in 0..COMPARES_MAX - 1 {
        if difference(cx, copier, &image).await?.is_none() {
            return Ok(());
        }
        cx.parts().clock.sleep(PAUSE_MS).await;
        let keys = copier.mapping.reads.iter().zip(&row.cells).filter(|(column, _)| column.is_key());
        let keys = Cells(keys.map(|(_, value)| Cell::value(value.as_ref())).collect());
        let now: Vec<RawRow> = cx.rows(&copier.texts.read_again, keys).await?;
        let now = now.first().map(|now| copier.image(now)).transpose()?.flatten();
        // It is not there any more, or is another row in the other table.
        let Some(now) = now.filter(|now| now.keys == image.keys) else { return Ok(()) };
        image = now;
    }
    match difference(cx, copier, &image).await? {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

async fn difference(
    cx: &TaskContext,
    copier: &Copier,
    image: &Image,
) -> Result<Option<CopyError>, TaskError> {
    let keys = Cells(image.keys.iter().map(|key| Cell::value(Some(key))).collect());
    let rows: Vec<RawRow> = cx.rows(&copier.texts.look_up, keys).await?;
    let into = copier.into.clone();
    let Some(row) = rows.first() else { return Ok(Some(CopyError::Missing { into })) };
    let claimed_us = cx.parts().timestamp_us.unwrap_or(i64::MIN);
    let column = differing(copier, image, row, claimed_us);
    Ok(column.map(|column| CopyError::Differs { into, column: column.to_owned() }))
}

/// The first column that does, and was not written later.
fn differing<'a>(copier: &'a Copier, image: &Image, row: &RawRow, claimed_us: i64) -> Option<&'a str> {
    let (cells, collections) = (&copier.mapping.cells, &copier.mapping.collections);
    let value = |at: usize| row.cells.get(at).and_then(Option::as_ref);
    for (at, filled) in cells.iter().enumerate() {
        let wanted = image.cells.iter().find(|cell| cell.at == at);
        // Behind a column of the key; the times are behind all values.
        let time = row.time(1 + cells.len() + collections.len() + 2 * at);
        let older_us = wanted.and_then(|cell| cell.time).map_or(claimed_us, |time| time.written_us);
        let is_newer = time.is_some_and(|time| time.written_us > older_us);
        if value(1 + at) != wanted.map(|cell| &cell.value) && !is_newer {
            return Some(&filled.column.name);
        }
    }
    let differs = |(at, _): &(usize, _)| value(1 + cells.len() + at) != image.collections[*at].as_ref();
    let found = collections.iter().enumerate().find(differs);
    found.map(|(_, filled)| filled.column.name.as_str())
}

/// Which rows are compared: the first ones of each part of all tokens.
#[derive(Debug)]
struct Sample {
    left: Vec<AtomicU64>,
}

impl Sample {
    fn new(rows: u64) -> Self {
        Self { left: (0..PARTS).map(|part| AtomicU64::new(share(rows, part))).collect() }
    }

    fn takes(&self, token: i64) -> bool {
        let part = token.abs_diff(i64::MIN) / (u64::MAX / PARTS + 1);
        let left = usize::try_from(part).ok().and_then(|part| self.left.get(part));
        left.is_some_and(|left| left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok())
    }
}

/// Of so many rows, those of one part.
fn share(rows: u64, part: u64) -> u64 {
    let up_to = |part: u64| u128::from(rows) * u128::from(part) / u128::from(PARTS);
    u64::try_from(up_to(part + 1) - up_to(part)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_together_are_the_sample() {
        for rows in [0, 1, 100, 1000, u64::MAX] {
            assert_eq!((0..PARTS).map(|part| share(rows, part)).sum::<u64>(), rows);
        }
    }

    #[test]
    fn each_part_has_its_share() {
        let sample = Sample::new(2 * PARTS);
        for token in [i64::MIN + 1, -1, 0, i64::MAX] {
            assert_eq!([(); 3].map(|()| sample.takes(token)), [true, true, false], "{token}");
        }
        assert!(!Sample::new(0).takes(0));
    }
}
