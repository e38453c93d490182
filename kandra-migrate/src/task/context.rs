//! What a code task works with.

use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use scylla::client::session::Session;
use scylla::deserialize::row::DeserializeRow;
use scylla::errors::ExecutionError;
use scylla::frame::response::result::{CollectionType, ColumnSpec, ColumnType};
use scylla::policies::retry::DefaultRetryPolicy;
use scylla::response::PagingState;
use scylla::serialize::row::SerializeRow;
use scylla::statement::Consistency;
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::unprepared::Statement;
use thiserror::Error;

use super::backfill::{Backfill, Finished, Place, TokenRange};
use super::guard::Permit;
use super::statement::{Checked, Column, Manner, StatementError};
use super::{Far, Guard, TaskError};
use crate::boxed::boxed;
use crate::clock::SystemClock;
use crate::cql::{QualifiedName, Variables, literal};
use crate::driver::{Database, Grid, Outcome, Request};

/// Statements that a task keeps prepared. A task that has more puts values into their text.
const PREPARED_MAX: usize = 256;

/// The driver prepares on all nodes and waits for a stopped one until it finds that its connection is dead: with the
/// default keepalive, twice a statement timeout.
const PREPARE_ATTEMPTS_MAX: u32 = 3;

/// Longest text of a checkpoint, in bytes: it is written again and again.
const CHECKPOINT_BYTES_MAX: usize = 4096;

/// What a code task works with: the keyspace's data, and the run that the task is part of.
///
/// Cheap to clone, so that parts of a task can run side by side.
///
/// `${keyspace}` in a statement stands for the keyspace that is migrated, other variables for what
/// [`Runner::variable`](crate::Runner::variable) says. Statements wait until the lease lasts for
/// them; they are sent once, at `QUORUM` unless the runner says otherwise, and time out after the runner's statement
/// timeout (default 30 s).
#[derive(Clone)]
pub struct TaskContext(Arc<Inner>);

struct Inner {
    parts: ContextParts,
    page_rows: Option<i32>,
    prepared: Mutex<HashMap<String, Arc<Prepared>>>,
    progress: Arc<Position>,
}

/// How far the task is, for all contexts of it.
struct Position {
    checkpoint: Mutex<Option<String>>,
    /// Locked while a checkpoint is saved: one that knows less must not come after it.
    backfills: tokio::sync::Mutex<Place>,
    has_backfills: AtomicBool,
}

/// What a context is made of.
#[derive(Clone)]
pub(crate) struct ContextParts {
    pub(crate) database: Arc<Database>,
    pub(crate) clock: Arc<SystemClock>,
    pub(crate) guard: Arc<Guard>,
    pub(crate) keyspace: String,
    pub(crate) variables: Variables,
    pub(crate) consistency: Consistency,
    pub(crate) statement_timeout: Duration,
    pub(crate) timestamp_us: Option<i64>,
    pub(crate) idempotent: bool,
    pub(crate) attempt: i64,
    pub(crate) checkpoint: Option<String>,
}

struct Prepared {
    statement: PreparedStatement,
    manner: Manner,
}

/// A statement of a task that failed, with its text.
#[derive(Debug, Error)]
#[error("{source}, in `{text}`")]
struct StatementFailed<E: std::error::Error + 'static> {
    text: String,
    source: E,
}

#[derive(Debug, Error)]
#[error("no node answered to PREPARE within {}, {PREPARE_ATTEMPTS_MAX} times", crate::human::human(*.0))]
struct PrepareTimeout(Duration);

impl TaskContext {
    pub(crate) fn new(mut parts: ContextParts) -> Self {
        let progress = Position {
            checkpoint: Mutex::new(parts.checkpoint.take()),
            backfills: tokio::sync::Mutex::default(),
            has_backfills: AtomicBool::new(false),
        };
        Self::of(parts, None, Arc::new(progress))
    }

    fn of(parts: ContextParts, page_rows: Option<i32>, progress: Arc<Position>) -> Self {
        Self(Arc::new(Inner { parts, page_rows, prepared: Mutex::default(), progress }))
    }

    /// The same task, with other settings for its statements.
    pub(super) fn with(&self, consistency: Option<Consistency>, page_rows: Option<i32>) -> Self {
        let mut parts = self.0.parts.clone();
        parts.consistency = consistency.unwrap_or(parts.consistency);
        Self::of(parts, page_rows.or(self.0.page_rows), Arc::clone(&self.0.progress))
    }

    pub(super) fn parts(&self) -> &ContextParts {
        &self.0.parts
    }

    /// All rows of a `SELECT`, page by page.
    ///
    /// ```ignore
    /// let users: Vec<(i64, String)> = cx.rows("SELECT id, name FROM ${keyspace}.users WHERE id = ?", (7_i64,)).await?;
    /// ```
    pub async fn rows<T>(
        &self,
        cql: &str,
        values: impl SerializeRow + Send + Sync,
    ) -> Result<Vec<T>, TaskError>
    where
        T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
    {
        let mut pages = self.pages(cql, values).await?;
        let mut rows = Vec::new();
        while let Some(page) = pages.next().await? {
            rows.extend(page);
        }
        Ok(rows)
    }

    /// A `SELECT`, to be read page by page.
    pub(super) async fn pages<V: SerializeRow + Sync>(
        &self,
        cql: &str,
        values: V,
    ) -> Result<Pages<V>, TaskError> {
        let prepared = self.prepared(cql).await?;
        if !prepared.manner.is_read {
            return Err(failed(cql, StatementError::NotRead));
        }
        Ok(Pages {
            cx: self.clone(),
            cql: cql.to_owned(),
            prepared,
            values,
            next: Some(PagingState::start()),
        })
    }

    /// Sends an `INSERT`, `UPDATE`, `DELETE`, `TRUNCATE` or a batch of them, once.
    ///
    /// Where sending it again writes the same cells, its write time is that of the version's claim: the same on every
    /// attempt, and older than what the application writes meanwhile, so that a rerun never overwrites newer values.
    /// A later write of the same cell within the task has the same write time too, and the larger value wins.
    ///
    /// # Errors
    /// The driver's error, and the statement may still have had its effect. Before anything is sent: a statement that
    /// changes the schema, which has to be a `cql` task; in an idempotent task also a condition, a counter or a list
    /// that is not frozen, which would take effect twice.
    pub async fn execute(&self, cql: &str, values: impl SerializeRow + Send + Sync) -> Result<(), TaskError> {
        let prepared = self.prepared(cql).await?;
        if prepared.manner.is_read {
            return Err(failed(cql, StatementError::Read));
        }
        let permit = self.admit().await?;
        let request = if prepared.manner.is_conditional { Request::Conditional } else { Request::Write };
        match boxed(self.session().execute_unpaged(&prepared.statement, &values)).await {
            Ok(_) => {
                permit.ended();
                Ok(())
            }
            Err(error) => {
                if Outcome::of(&error, request) != Outcome::Unknown {
                    permit.ended();
                }
                Err(failed(cql, error))
            }
        }
    }

    /// Prepares a statement as [`TaskContext::rows`] and [`TaskContext::execute`] do: with the pinned write time, the
    /// run's consistency and timeout, and without retries of a write. For the driver's own methods on
    /// [`TaskContext::session`].
    pub async fn prepare(&self, cql: &str) -> Result<PreparedStatement, TaskError> {
        self.prepared(cql).await.map(|prepared| prepared.statement.clone())
    }

    /// The session, unguarded.
    ///
    /// What is sent by it does not wait for the lease, has no pinned write time, and the run does not learn of an
    /// outcome that stayed unknown: after a stall of this process, such a statement may land while another instance is
    /// already resuming the task. So read by it, or write what is right at any time and in any order.
    #[must_use]
    pub fn session(&self) -> &Session {
        self.0.parts.database.session()
    }

    /// The name of the keyspace that is migrated, without quotes.
    #[must_use]
    pub fn keyspace(&self) -> &str {
        &self.0.parts.keyspace
    }

    /// Which attempt of this task it is, from 1. An attempt that saved a checkpoint makes the next one the first again.
    #[must_use]
    pub fn attempt(&self) -> i64 {
        self.0.parts.attempt
    }

    /// Tells how far the task is: so many of so many, of which the total may be unknown. The unit is the task's own, as
    /// rows or ranges are.
    ///
    /// It is a sign of progress for the [stall timeout](crate::Task::stall_timeout), a line of the log, and on a
    /// terminal the command line's bar, with the rate since the first call. It is not stored: what a later attempt needs
    /// goes into a [checkpoint](TaskContext::save_checkpoint), after which `done` may go on from there.
    pub fn progress(&self, done: u64, total: Option<u64>) {
        self.0.parts.guard.note_far(Far { done, total });
        tracing::info!(done, total, "task progress");
    }

    /// The last checkpoint, of this attempt or of an earlier one.
    ///
    /// # Errors
    /// Where the stored text is no `T`.
    pub fn checkpoint<T: FromStr>(&self) -> Result<Option<T>, TaskError> {
        let text = lock(&self.0.progress.checkpoint).clone();
        let parse = |text: String| {
            let no_such =
                |_| TaskError::msg(format!("the checkpoint `{text}` is no {}", std::any::type_name::<T>()));
            text.parse().map_err(no_such)
        };
        text.map(parse).transpose()
    }

    /// Stores how far the task is, in the ledger: an attempt that resumes it gets it from [`TaskContext::checkpoint`].
    /// Costs a conditional write; a few a minute are plenty. At most 4 KiB of text.
    pub async fn save_checkpoint(&self, position: &impl fmt::Display) -> Result<(), TaskError> {
        let text = position.to_string();
        if self.0.progress.has_backfills.load(SeqCst) {
            return Err(TaskError::msg(
                "a backfill of this task keeps its place in the checkpoint: move one of the two to a task of its own",
            ));
        }
        self.save(text).await
    }

    /// All rows of a table, by ranges of tokens, several at once, resumed where it was: see [`Backfill`]. The table's
    /// name is as in a statement, without a keyspace.
    pub fn backfill(&self, table: &str) -> Backfill {
        Backfill::new(self.clone(), table)
    }

    /// What is done already of a backfill.
    pub(super) async fn begin_backfill(&self, name: &str) -> Result<Finished, TaskError> {
        let progress = &self.0.progress;
        let mut place = progress.backfills.lock().await;
        let checkpoint = lock(&progress.checkpoint).clone();
        let finished = place.begin(name, checkpoint.as_deref())?;
        progress.has_backfills.store(true, SeqCst);
        Ok(finished)
    }

    /// Saves that these ranges of a backfill are done.
    pub(super) async fn save_backfill(&self, name: &str, ranges: &[TokenRange]) -> Result<(), TaskError> {
        let mut place = self.0.progress.backfills.lock().await;
        let text = place.finish(name, ranges);
        self.save(text).await
    }

    async fn save(&self, text: String) -> Result<(), TaskError> {
        if text.len() > CHECKPOINT_BYTES_MAX {
            let bytes = text.len();
            return Err(TaskError::msg(format!(
                "a checkpoint of {bytes} bytes; at most {CHECKPOINT_BYTES_MAX} are kept"
            )));
        }
        self.0.parts.guard.save(text.clone()).await?;
        *lock(&self.0.progress.checkpoint) = Some(text);
        self.0.parts.guard.note_progress();
        Ok(())
    }

    async fn admit(&self) -> Result<Permit<'_>, TaskError> {
        let ContextParts { guard, clock, statement_timeout, .. } = &self.0.parts;
        Ok(guard.admit(clock.as_ref(), *statement_timeout).await?)
    }

    async fn prepared(&self, cql: &str) -> Result<Arc<Prepared>, TaskError> {
        if let Some(prepared) = lock(&self.0.prepared).get(cql) {
            return Ok(prepared.clone());
        }
        let prepared = Arc::new(self.prepare_anew(cql).await?);
        let mut cache = lock(&self.0.prepared);
        if cache.len() < PREPARED_MAX {
            cache.insert(cql.to_owned(), prepared.clone());
        }
        Ok(prepared)
    }

    async fn prepare_anew(&self, cql: &str) -> Result<Prepared, TaskError> {
        let parts = &self.0.parts;
        let session_keyspace = self.session().get_keyspace();
        let session_keyspace = session_keyspace.as_ref().map(|keyspace| keyspace.as_str());
        let checked = Checked::of(cql, &parts.variables, &parts.keyspace, session_keyspace)
            .map_err(|error| failed(cql, error))?;
        let text = checked.text.as_str();
        let mut statement = parts.database.statement(text, parts.consistency, parts.statement_timeout);
        if checked.is_read() {
            statement.set_is_idempotent(true);
            statement.set_retry_policy(Some(Arc::new(DefaultRetryPolicy::new())));
            if let Some(rows) = self.0.page_rows {
                statement.set_page_size(rows);
            }
        }
        let mut statement = self.ask_to_prepare(cql, statement).await?;

        let bound = statement.get_variable_col_specs();
        let binds_list = bound.iter().any(|spec| is_list(spec.typ()));
        let mut columns = Vec::new();
        for table in checked.ambiguous_tables(binds_list) {
            columns.extend(self.columns(table).await.map_err(|error| failed(cql, error))?);
        }
        let names: Vec<_> = bound.iter().map(ColumnSpec::name).collect();
        let manner =
            checked.manner(parts.idempotent, &columns, &names).map_err(|error| failed(cql, error))?;
        if manner.takes_timestamp {
            statement.set_timestamp(parts.timestamp_us);
        }
        Ok(Prepared { statement, manner })
    }

    async fn ask_to_prepare(&self, cql: &str, statement: Statement) -> Result<PreparedStatement, TaskError> {
        let timeout = self.0.parts.statement_timeout;
        for _ in 0..PREPARE_ATTEMPTS_MAX {
            let preparing = boxed(self.session().prepare(statement.clone()));
            if let Ok(prepared) = tokio::time::timeout(timeout, preparing).await {
                return prepared.map_err(|error| failed(cql, error));
            }
        }
        Err(failed(cql, PrepareTimeout(timeout)))
    }

    async fn columns(&self, table: &QualifiedName) -> Result<Vec<Column>, ExecutionError> {
        let parts = &self.0.parts;
        let keyspace = literal(table.keyspace.as_ref().unwrap_or(&parts.keyspace));
        let table = literal(&table.name);
        let text = format!(
            "SELECT column_name, type FROM system_schema.columns WHERE keyspace_name = {keyspace} AND table_name = {table}"
        );
        let statement = parts.database.statement(text, Consistency::One, parts.statement_timeout);
        let grid = Grid::from_result(parts.database.send(statement).await?).ok();
        let column = |row: crate::driver::Record<'_>| {
            Some(Column { name: row.text("column_name")?.to_owned(), cql_type: row.text("type")?.to_owned() })
        };
        Ok(grid.iter().flat_map(Grid::rows).filter_map(column).collect())
    }
}

/// The pages of a `SELECT` that are not read yet.
pub(super) struct Pages<V> {
    cx: TaskContext,
    cql: String,
    prepared: Arc<Prepared>,
    values: V,
    next: Option<PagingState>,
}

impl<V: SerializeRow + Sync> Pages<V> {
    /// The rows of the next page; `None` after the last one.
    pub(super) async fn next<T>(&mut self) -> Result<Option<Vec<T>>, TaskError>
    where
        T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
    {
        let Some(state) = self.next.take() else { return Ok(None) };
        let Self { cx, cql, prepared, values, .. } = self;
        // A read has no effect that could be in doubt: it is let through, and not watched.
        cx.admit().await?.ended();
        let answer = boxed(cx.session().execute_single_page(&prepared.statement, &*values, state)).await;
        let (result, next) = answer.map_err(|error| failed(cql, error))?;
        let result = result.into_rows_result().map_err(|error| failed(cql, error))?;
        let rows = result.rows::<T>().map_err(|error| failed(cql, error))?;
        let rows = rows.collect::<Result<_, _>>().map_err(|error| failed(cql, error))?;
        cx.0.parts.guard.note_progress();
        if let ControlFlow::Continue(next) = next.into_paging_control_flow() {
            self.next = Some(next);
        }
        Ok(Some(rows))
    }
}

/// Whether the same may work later: nodes that do not answer, or have too much to do.
pub(super) fn is_passing(error: &TaskError) -> bool {
    let mut next = Some(error.as_dyn());
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<ExecutionError>() {
            return Outcome::of(error, Request::Read) == Outcome::Passing;
        }
        if error.is::<PrepareTimeout>() {
            return true;
        }
        next = error.source();
    }
    false
}

fn is_list(column_type: &ColumnType<'_>) -> bool {
    matches!(column_type, ColumnType::Collection { typ: CollectionType::List(_), .. })
}

fn failed(cql: &str, source: impl std::error::Error + Send + Sync + 'static) -> TaskError {
    StatementFailed { text: cql.to_owned(), source }.into()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for TaskContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ContextParts { keyspace, attempt, .. } = &self.0.parts;
        let mut out = f.debug_struct("TaskContext");
        out.field("keyspace", keyspace).field("attempt", attempt).finish_non_exhaustive()
    }
}
