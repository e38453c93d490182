//! The workers of a backfill.

use std::sync::Arc;
use std::time::Duration;

use scylla::deserialize::row::DeserializeRow;
use scylla::value::Row;
use tokio::task::{JoinError, JoinSet};

use super::error::BackfillError;
use super::finished::Finished;
use super::queue::Queue;
use super::range::TokenRange;
use super::row::Tokened;
use super::table::Table;
use super::throttle::Throttle;
use crate::clock::Clock as _;
use crate::task::context::is_passing;
use crate::task::{TaskContext, TaskError, TaskResult};

const RANGE_ATTEMPTS_MAX: u32 = 8;

/// The queue's rows, and so, with the ranges that are under way, the gaps that a checkpoint has to name.
const QUEUE_ROWS_MAX: usize = 16;

/// Ranges may be small, where their size was not known before, and a checkpoint costs as much as some dozen rows: what has
/// ended within this time is saved together.
const CHECKPOINT_SECS_MAX: Duration = Duration::from_secs(1);

const REPORT_SECS_MIN: Duration = Duration::from_secs(1);

/// When a backfill with a rate pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pauses {
    /// Whoever works on the rows is asked how many they were.
    AfterRanges,
    /// They are counted one by one.
    AfterRows,
}

/// One backfill, ready to begin.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) cx: TaskContext,
    pub(super) table: Table,
    /// In the checkpoint; what has none begins anew when the task is resumed.
    pub(super) name: Option<String>,
    /// Of the whole ring.
    pub(super) parts: u64,
    pub(super) workers: usize,
    pub(super) throttle: Arc<Throttle>,
    pub(super) pauses: Pauses,
    /// After so many rows a checkpoint is written.
    pub(super) range_rows: u64,
}

/// A range that is done, and its rows.
type Worked = (TokenRange, u64);

impl Work {
    pub(super) fn throttle(&self) -> Arc<Throttle> {
        Arc::clone(&self.throttle)
    }

    /// Works on all ranges that are not done, and yields how many rows that were.
    pub(super) async fn run<F, Fut>(self, function: F) -> Result<u64, TaskError>
    where
        F: Fn(TaskContext, TokenRange) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<u64, TaskError>> + Send + 'static,
    {
        let ranges = self.ranges().await?;
        let mut queue = Queue::new(&ranges, self.workers.min(QUEUE_ROWS_MAX));
        let mut tally = Tally::new(&self, ranges.len());
        let worker = Arc::new(Worker {
            cx: self.cx.clone(),
            table: self.table.name.clone(),
            throttle: Arc::clone(&self.throttle),
            pauses: self.pauses,
            function,
        });
        // Dropped with this future, and its workers with it.
        let mut workers = JoinSet::new();
        let mut unsaved = Unsaved { ranges: Vec::new(), rows: 0, saved_at: self.cx.parts().clock.now() };
        loop {
            while workers.len() < self.throttle.workers() {
                let Some(range) = queue.next() else { break };
                workers.spawn(Arc::clone(&worker).range(range));
            }
            let Some(first) = workers.join_next().await else { break };
            let mut done = vec![settled(first)?];
            while let Some(next) = workers.try_join_next() {
                done.push(settled(next)?);
            }
            tally.add(&done);
            unsaved.add(&done);
            let now = self.cx.parts().clock.now();
            if unsaved.is_due(now, self.range_rows) {
                self.save(unsaved.take(now)).await?;
                tally.note_checkpoint(now);
            }
        }
        self.save(unsaved.ranges).await?;
        tally.tell();
        Ok(tally.rows)
    }

    /// Those that are not done.
    async fn ranges(&self) -> Result<Vec<TokenRange>, TaskError> {
        let finished = match &self.name {
            Some(name) => self.cx.begin_backfill(name).await?,
            None => Finished::default(),
        };
        Ok(finished.rest().into_iter().flat_map(|rest| rest.cut(&self.table.ring, self.parts)).collect())
    }

    async fn save(&self, ranges: Vec<TokenRange>) -> TaskResult {
        match &self.name {
            Some(name) => self.cx.save_backfill(name, &ranges).await,
            None => Ok(()),
        }
    }
}

/// What has ended since the last checkpoint.
struct Unsaved {
    ranges: Vec<TokenRange>,
    rows: u64,
    saved_at: Duration,
}

impl Unsaved {
    fn add(&mut self, done: &[Worked]) {
        self.ranges.extend(done.iter().map(|(range, _)| *range));
        self.rows += done.iter().map(|(_, rows)| rows).sum::<u64>();
    }

    /// Nothing is lost by reading again what is empty.
    fn is_due(&self, now: Duration, range_rows: u64) -> bool {
        let is_old = now.saturating_sub(self.saved_at) >= CHECKPOINT_SECS_MAX;
        self.rows > 0 && (is_old || self.rows >= range_rows)
    }

    fn take(&mut self, now: Duration) -> Vec<TokenRange> {
        (self.rows, self.saved_at) = (0, now);
        std::mem::take(&mut self.ranges)
    }
}

/// A panic of the task's function is the task's own.
fn settled(joined: Result<Result<Worked, TaskError>, JoinError>) -> Result<Worked, TaskError> {
    match joined.map_err(JoinError::try_into_panic) {
        Ok(worked) => worked,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(cancelled)) => Err(cancelled.into()),
    }
}

#[derive(Debug)]
struct Worker<F> {
    cx: TaskContext,
    table: String,
    throttle: Arc<Throttle>,
    pauses: Pauses,
    function: F,
}

impl<F, Fut> Worker<F>
where
    F: Fn(TaskContext, TokenRange) -> Fut,
    Fut: Future<Output = Result<u64, TaskError>>,
{
    async fn range(self: Arc<Self>, range: TokenRange) -> Result<Worked, TaskError> {
        let mut attempt = 1;
        loop {
            match (self.function)(self.cx.clone(), range).await {
                Ok(rows) => {
                    self.throttle.recover();
                    if self.pauses == Pauses::AfterRanges {
                        self.throttle.spend(rows).await;
                    }
                    return Ok((range, rows));
                }
                Err(error) if self.may_retry(&error) && attempt < RANGE_ATTEMPTS_MAX => {
                    tracing::warn!(table = self.table, %range, attempt, %error, "a range is tried again");
                    self.throttle.slow_down(attempt).await;
                    attempt += 1;
                }
                Err(error) => return Err(BackfillError::range(&self.table, range, attempt, error)),
            }
        }
    }

    /// What a once task has done to a range before the error is not to be done again.
    fn may_retry(&self, error: &TaskError) -> bool {
        self.cx.parts().idempotent && is_passing(error)
    }
}

/// The work on each row of a range; it says how many it counts for.
#[derive(Debug)]
pub(super) struct RowWork<F> {
    pub(super) table: String,
    pub(super) select: String,
    pub(super) select_keys: Option<String>,
    pub(super) throttle: Arc<Throttle>,
    pub(super) function: F,
}

impl<F> RowWork<F> {
    pub(super) async fn range<T, Fut>(
        self: Arc<Self>,
        cx: TaskContext,
        range: TokenRange,
    ) -> Result<u64, TaskError>
    where
        T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
        F: Fn(TaskContext, Tokened<T>) -> Fut,
        Fut: Future<Output = Result<u64, TaskError>>,
    {
        let mut count = 0;
        let mut pages = cx.pages(&self.select, range.bounds()).await?;
        while let Some(rows) = pages.next::<Tokened<T>>().await? {
            for row in rows {
                let token = row.token;
                match (self.function)(cx.clone(), row).await {
                    Ok(rows) => count += rows,
                    Err(error) => return Err(self.failed(&cx, token, error).await),
                }
                self.throttle.spend(1).await;
            }
        }
        Ok(count)
    }

    async fn failed(&self, cx: &TaskContext, token: i64, error: TaskError) -> TaskError {
        let key = self.key(cx, token).await.unwrap_or_else(|| format!("the token {token}"));
        BackfillError::Row { table: self.table.clone(), key, source: error.into_inner() }.into()
    }

    /// The keys with a token, and there is hardly ever more than one.
    async fn key(&self, cx: &TaskContext, token: i64) -> Option<String> {
        let keys: Vec<Row> = cx.rows(self.select_keys.as_ref()?, (token,)).await.ok()?;
        let text = |row: &Row| {
            let values = row.columns.iter().flatten().map(ToString::to_string);
            values.collect::<Vec<_>>().join(", ")
        };
        Some(format!("the key {}", keys.iter().map(text).collect::<Vec<_>>().join(" or ")))
    }
}

/// How far it is, for people.
struct Tally<'a> {
    work: &'a Work,
    ranges: usize,
    ranges_done: usize,
    rows: u64,
    checkpoints: u64,
    checkpoints_took: Duration,
    begun: Duration,
    told: Duration,
}

impl<'a> Tally<'a> {
    fn new(work: &'a Work, ranges: usize) -> Self {
        let now = work.cx.parts().clock.now();
        let checkpoints_took = Duration::ZERO;
        Self {
            work,
            ranges,
            ranges_done: 0,
            rows: 0,
            checkpoints: 0,
            checkpoints_took,
            begun: now,
            told: now,
        }
    }

    fn note_checkpoint(&mut self, begun: Duration) {
        self.checkpoints += 1;
        self.checkpoints_took += self.work.cx.parts().clock.now().saturating_sub(begun);
    }

    fn add(&mut self, done: &[Worked]) {
        self.ranges_done += done.len();
        self.rows += done.iter().map(|(_, rows)| rows).sum::<u64>();
        let now = self.work.cx.parts().clock.now();
        if now.saturating_sub(self.told) >= REPORT_SECS_MIN {
            self.told = now;
            self.tell();
        }
    }

    fn tell(&self) {
        let took = self.work.cx.parts().clock.now().saturating_sub(self.begun);
        let (done, all) = (self.ranges_done as u64, self.ranges as u64);
        let rows_per_second = u128::from(self.rows) * 1000 / took.as_millis().max(1);
        let left_s = took.as_secs() * (all - done) / done.max(1);
        tracing::info!(
            table = self.work.table.name,
            rows = self.rows,
            ranges_done = done,
            ranges = all,
            rows_per_second,
            left_s,
            checkpoints = self.checkpoints,
            checkpoints_ms = u64::try_from(self.checkpoints_took.as_millis()).unwrap_or(u64::MAX),
            "backfill"
        );
        self.work.cx.progress(self.rows, (done > 0).then(|| self.rows * all / done));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_ranges_are_saved_together() {
        let ended = |rows| [(TokenRange::ALL, rows)];
        let mut unsaved = Unsaved { ranges: Vec::new(), rows: 0, saved_at: Duration::ZERO };
        let (soon, later) = (CHECKPOINT_SECS_MAX / 2, CHECKPOINT_SECS_MAX);
        unsaved.add(&ended(0));
        assert!(!unsaved.is_due(later, 100), "it is empty");
        unsaved.add(&ended(99));
        assert!(!unsaved.is_due(soon, 100));
        assert!(unsaved.is_due(later, 100));
        unsaved.add(&ended(1));
        assert!(unsaved.is_due(soon, 100));
        assert_eq!(unsaved.take(soon).len(), 3);
        assert!(!unsaved.is_due(soon + later, 100));
    }
}
