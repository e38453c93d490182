//! A whole table, range by range.

mod catalog;
mod cells;
mod column;
mod copy;
mod error;
mod finished;
mod names;
mod pace;
mod place;
mod position;
mod queue;
mod range;
mod rewrite;
mod row;
mod table;
mod throttle;
mod work;

use std::sync::Arc;

use scylla::deserialize::row::DeserializeRow;
use scylla::serialize::row::SerializeRow;
use scylla::statement::Consistency;

pub use copy::{CopyError, TableCopy};
pub use error::BackfillError;
pub(super) use finished::Finished;
pub(super) use place::Place;
pub use range::TokenRange;

use super::{TaskContext, TaskError, TaskResult};
use cells::RawRow;
use position::is_name;
use rewrite::Rewrite;
use row::Tokened;
use table::Table;
use throttle::Throttle;
use work::{Pauses, RowWork, Work};

const WORKERS_MAX: i64 = 64;
const WORKERS_DEFAULT_MAX: usize = 32;
const WORKERS_A_NODE: usize = 8;

const PAGE_ROWS_DEFAULT: i32 = 1000;
const RANGE_ROWS_DEFAULT: u64 = 1000;

/// A pass over all rows of a table, by ranges of tokens, several at once. Made by [`TaskContext::backfill`].
///
/// | setting | default |
/// |---|---|
/// | [`concurrency`](Backfill::concurrency) | 8 a node, at most 32 |
/// | [`rows_per_second`](Backfill::rows_per_second) | no limit |
/// | [`page_rows`](Backfill::page_rows) | 1000 |
/// | [`range_rows`](Backfill::range_rows) | 1000, where their number is known: to the servers, or as below 1000; otherwise 1024 ranges |
/// | [`consistency`](Backfill::consistency) | the runner's, which is `QUORUM` unless it says otherwise |
///
/// **Place.** After each range the task's checkpoint is saved: it names the tokens that are done, in a few words whatever
/// the order is in which the ranges end. Small ranges are saved together, after `range_rows` rows and at least every
/// second. Another instance that resumes the task, or a cluster with other nodes, works on the rest: of what was done, it
/// does again at most one range per worker and the small ones. A task with a backfill has no other checkpoint.
///
/// **Errors.** In an idempotent task, a range that fails since nodes do not answer or have too much to do is tried again,
/// 8 times in all, with growing pauses; meanwhile the backfill goes at half the rate, and half of that again, down to a
/// 64th, and comes back little by little. Any other error ends the backfill, and names the row or the range.
///
/// **Writes** go through [`TaskContext::execute`], so they have the write time of the version's claim: a range that is
/// done again writes the same cells, and nothing that the application has written meanwhile is overwritten.
///
/// What is inserted into the table while it runs may be seen or not: have the application write the new column before the
/// migration runs.
#[derive(Debug, Clone)]
#[must_use = "a backfill does nothing until it is said what it does: `for_each_row`, `rewrite`, `copy_into`"]
pub struct Backfill {
    cx: TaskContext,
    table: String,
    name: Option<String>,
    workers: Option<usize>,
    rows_per_second: Option<u32>,
    page_rows: i32,
    range_rows: u64,
    consistency: Option<Consistency>,
    shows_keys: bool,
    keeps_place: bool,
}

impl Backfill {
    pub(super) fn new(cx: TaskContext, table: &str) -> Self {
        Self {
            cx,
            table: table.to_owned(),
            name: None,
            workers: None,
            rows_per_second: None,
            page_rows: PAGE_ROWS_DEFAULT,
            range_rows: RANGE_ROWS_DEFAULT,
            consistency: None,
            shows_keys: false,
            keeps_place: true,
        }
    }

    /// How many ranges are worked on at once: from 1 to 64.
    pub fn concurrency(mut self, ranges: usize) -> Self {
        self.workers = Some(ranges);
        self
    }

    /// At most so many rows a second, over all ranges.
    pub fn rows_per_second(mut self, rows: u32) -> Self {
        self.rows_per_second = Some(rows);
        self
    }

    /// How many rows a page has, which is what a worker of [`Backfill::for_each_row`] keeps in memory.
    pub fn page_rows(mut self, rows: i32) -> Self {
        self.page_rows = rows;
        self
    }

    /// About how many partitions a range has: what is done again, at most, when a worker was killed.
    pub fn range_rows(mut self, rows: u64) -> Self {
        self.range_rows = rows;
        self
    }

    /// Of the reads, and of the writes by the context that the function is given.
    pub fn consistency(mut self, consistency: Consistency) -> Self {
        self.consistency = Some(consistency);
        self
    }

    /// What the task's checkpoint calls it: where one task has two backfills of a table.
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// The error of a row may show its partition key, which may be personal data, in logs and in the ledger. Otherwise
    /// it shows the key's token.
    pub fn show_keys(mut self) -> Self {
        self.shows_keys = true;
        self
    }

    /// Calls `work` for each range of tokens; it returns how many rows it has worked on.
    ///
    /// ```ignore
    /// cx.backfill("users").for_each_range(async |cx, range| {
    ///     let select = "SELECT id, name FROM ${keyspace}.users WHERE token(id) > ? AND token(id) <= ?";
    ///     let users: Vec<(i64, String)> = cx.rows(select, range.bounds()).await?;
    ///     for (id, name) in &users {
    ///         cx.execute("UPDATE ${keyspace}.users SET first_name = ? WHERE id = ?", (name.split(' ').next(), id)).await?;
    ///     }
    ///     Ok(users.len() as u64)
    /// })
    /// .await
    /// ```
    ///
    /// # Errors
    /// See [`BackfillError`].
    pub async fn for_each_range<F, Fut>(self, work: F) -> TaskResult
    where
        F: Fn(TaskContext, TokenRange) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<u64, TaskError>> + Send + 'static,
    {
        let table = self.begin().await?;
        let cx = self.context();
        self.work(cx, table, Pauses::AfterRanges).run(work).await.map(drop)
    }

    /// Calls `work` for each row, with these columns of it.
    ///
    /// ```ignore
    /// cx.backfill("users").for_each_row("id, name", async |cx, (id, name): (i64, Option<String>)| {
    ///     let first = name.as_deref().and_then(|name| name.split(' ').next());
    ///     cx.execute("UPDATE ${keyspace}.users SET first_name = ? WHERE id = ?", (first, id)).await
    /// })
    /// .await
    /// ```
    ///
    /// # Errors
    /// See [`BackfillError`].
    pub async fn for_each_row<T, F, Fut>(self, columns: &str, work: F) -> TaskResult
    where
        T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata> + Send + 'static,
        F: Fn(TaskContext, T) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = TaskResult> + Send + 'static,
    {
        let table = self.begin().await?;
        let row = move |cx, Tokened { row, .. }: Tokened<T>| {
            let work = work(cx, row);
            async move { work.await.map(|()| 1) }
        };
        self.each_row(table, columns, row).await.map(drop)
    }

    /// Fills columns from others of the same row: calls `work` with what is read, and writes what it returns; `None`
    /// leaves the row as it is.
    ///
    /// ```ignore
    /// cx.backfill("users")
    ///     .rewrite("first_name, last_name", "name", async |(name,): (Option<String>,)| {
    ///         let names = name.as_deref().and_then(|name| name.split_once(' '));
    ///         Ok(names.map(|(first, last)| (first.to_owned(), last.to_owned())))
    ///     })
    ///     .await
    /// ```
    ///
    /// The columns are named as in a statement; `from` is a part of a `SELECT`, so that it can have functions. All of it
    /// is looked at before the first row is read.
    ///
    /// - Values have the write time of the version's claim: what the application has written since then stays, and a
    ///   row that it has deleted does not come back. What it wrote *before* it is overwritten; so where an application
    ///   fills the column already, read the column too, and return `None` where it has a value.
    /// - A row whose cells expire gets values that expire with the last of them, so that nothing is left of it. For
    ///   that, the TTLs of all its columns are read, but for those of collections that are not frozen.
    /// - A row that is there for its static columns alone is left as it is, unless it is static columns that are filled.
    ///
    /// # A column of another type
    ///
    /// The type of a column cannot be altered, so there is a new one, under another name, in three releases:
    ///
    /// 1. a version that adds it (`ALTER TABLE … ADD`), and an application that writes both columns;
    /// 2. once nobody writes the old one alone any more: a version with this rewrite of the new one from the old one, and an
    ///    application that reads the new one;
    /// 3. once nobody reads the old one any more: a version that drops it.
    ///
    /// A column of the key is in its table for good: [copy](Backfill::copy_into) the rows into another one.
    ///
    /// # Errors
    /// See [`BackfillError`]; a column that is missing, in the primary key, or a list that is not frozen is one.
    pub async fn rewrite<T, V, F, Fut>(self, columns: &str, from: &str, work: F) -> TaskResult
    where
        T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata> + Send + 'static,
        V: SerializeRow + Send + 'static,
        F: Fn(T) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Option<V>, TaskError>> + Send + 'static,
    {
        let table = self.begin().await?;
        let cx = self.context();
        let rewrite = Arc::new(Rewrite::prepare::<T>(&cx, &table, columns, from, work).await?);
        let reads = rewrite.reads().to_owned();
        let row = move |cx, Tokened { row, .. }: Tokened<RawRow>| {
            let work = Arc::clone(&rewrite).row::<T, V, Fut>(cx, row);
            async move { work.await.map(|()| 1) }
        };
        self.each_row(table, &reads, row).await.map(drop)
    }

    /// Copies all rows into another table of the keyspace, which may have another primary key: see [`TableCopy`].
    pub fn copy_into(self, table: &str) -> TableCopy {
        TableCopy::new(self, table)
    }
}

impl Backfill {
    /// Checks the settings and looks at the table.
    async fn begin(&self) -> Result<Table, TaskError> {
        let workers = self.workers.map_or(1, |workers| i64::try_from(workers).unwrap_or(i64::MAX));
        check("concurrency", workers, WORKERS_MAX)?;
        check("rows_per_second", self.rows_per_second.map_or(1, i64::from), u32::MAX.into())?;
        check("page_rows", self.page_rows.into(), i32::MAX.into())?;
        check("range_rows", i64::try_from(self.range_rows).unwrap_or(i64::MAX), i64::MAX)?;
        if let Some(name) = self.name.as_ref().filter(|name| !is_name(name)) {
            return Err(BackfillError::Name { name: name.clone() }.into());
        }
        Table::read(&self.cx, &self.table).await
    }

    /// Calls `work` for each row, with its token and these columns; it yields how many rows that were, as `work` counts them.
    async fn each_row<T, F, Fut>(self, table: Table, columns: &str, work: F) -> Result<u64, TaskError>
    where
        T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata> + Send + 'static,
        F: Fn(TaskContext, Tokened<T>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<u64, TaskError>> + Send + 'static,
    {
        let cx = self.context();
        let select = table.select(columns);
        let select_keys = self.shows_keys.then(|| table.select_keys());
        let name = table.name.clone();
        let ranges = self.work(cx, table, Pauses::AfterRows);
        let rows = RowWork { table: name, select, select_keys, throttle: ranges.throttle(), function: work };
        let rows = Arc::new(rows);
        ranges.run(move |cx, range| Arc::clone(&rows).range(cx, range)).await
    }

    fn named_if_not(mut self, name: &str) -> Self {
        self.name.get_or_insert_with(|| name.to_owned());
        self
    }

    fn without_place(mut self) -> Self {
        self.keeps_place = false;
        self
    }

    fn context(&self) -> TaskContext {
        self.cx.with(self.consistency, Some(self.page_rows))
    }

    fn work(&self, cx: TaskContext, table: Table, pauses: Pauses) -> Work {
        let nodes = cx.parts().database.nodes().len().max(1);
        let workers = self.workers.unwrap_or((nodes * WORKERS_A_NODE).min(WORKERS_DEFAULT_MAX));
        Work {
            name: self.keeps_place.then(|| self.name.clone().unwrap_or_else(|| table.name.clone())),
            parts: table.parts(self.range_rows, workers),
            throttle: Arc::new(Throttle::new(cx.clone(), workers, self.rows_per_second)),
            cx,
            table,
            workers,
            pauses,
            range_rows: self.range_rows,
        }
    }
}

fn check(setting: &'static str, value: i64, max: i64) -> Result<(), BackfillError> {
    if (1..=max).contains(&value) {
        return Ok(());
    }
    Err(BackfillError::Setting { setting, value, max })
}
