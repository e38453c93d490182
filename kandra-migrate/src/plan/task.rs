//! One task of a plan: a CQL statement or a piece of code.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::boxed::BoxFuture;
use crate::cql::Statement;
use crate::files::{Fault, Mark, Marked, Script};
use crate::task::{TaskContext, TaskResult};

pub(crate) type TaskFuture = BoxFuture<'static, TaskResult>;

/// A code task's function, with its future boxed.
#[derive(Clone)]
pub(crate) struct TaskFn(Arc<dyn Fn(TaskContext) -> TaskFuture + Send + Sync>);

impl TaskFn {
    pub(crate) fn start(&self, context: TaskContext) -> TaskFuture {
        (self.0)(context)
    }
}

impl fmt::Debug for TaskFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskFn")
    }
}

/// What becomes of a version when one of its tasks has failed, after its retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnFailure {
    /// The claim is released and the error is the caller's; a later run tries again, after 5 s that double with each
    /// failure, up to 5 min.
    #[default]
    RetryNextRun,
    /// The version is PAUSED until an operator, or an edited migration, gets it going again.
    Pause,
}

/// One task of a migration's plan. Made by [`cql`] and [`code`].
#[derive(Debug, Clone)]
#[must_use = "a task does nothing unless `up` returns it"]
pub struct Task {
    pub(crate) name: Option<String>,
    pub(crate) body: Body,
    pub(crate) repeat: Option<super::Repeat>,
    pub(crate) undo: Option<String>,
    pub(crate) point_of_no_return: bool,
    pub(crate) retries: u32,
    pub(crate) on_failure: OnFailure,
    pub(crate) timeout: Option<Duration>,
    pub(crate) stall_timeout: Option<Duration>,
    /// Codes of rules of the lint that do not count for it.
    pub(crate) allowed: Vec<String>,
    pub(crate) wait_built: bool,
    pub(crate) unclassified: bool,
    /// `file:line`.
    pub(crate) location: String,
}

#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// A text, which is to be one statement.
    Cql(String),
    /// A statement of a file.
    Statement(Statement),
    /// A file of `cql_file!`, each of whose statements is a step.
    File {
        path: &'static str,
        script: Result<Script, Fault>,
    },
    Code(TaskFn),
}

/// A task of one CQL statement. `${keyspace}` stands for the keyspace that is migrated.
///
/// A schema statement whose outcome is unknown is probed for: the runner looks in `system_schema` whether its effect
/// is there. Any other statement is sent again only if it is idempotent by nature (a plain `INSERT`, `UPDATE` or
/// `DELETE` of plain values) or said to be by [`Task::idempotent`]; else it counts as [`Task::once`].
///
/// The statement is parsed when the plan is checked, before anything is sent.
#[track_caller]
pub fn cql(statement: impl Into<String>) -> Task {
    Task::new(None, Body::Cql(statement.into()), place(Location::caller()))
}

/// What [`cql_file!`](crate::cql_file) is: the path is for messages, and to know the file by in the checksum.
#[doc(hidden)]
#[track_caller]
pub fn cql_file(path: &'static str, text: &str) -> Task {
    Task::new(None, Body::File { path, script: Script::parse(path, text) }, place(Location::caller()))
}

/// A task for each statement of the file at `path`; `like` says what the statements do not say themselves.
pub(crate) fn tasks_of(path: &str, script: &Script, like: Option<&Task>) -> Vec<Task> {
    let task = |(n, marked): (usize, &Marked)| {
        let location = format!("{path}:{}", marked.statement.origin().line);
        let body = Body::Statement(marked.statement.clone());
        let task = match like {
            Some(like) => Task { body, location, ..like.clone() },
            None => Task::new(None, body, location),
        };
        // Several steps of one name could not be told apart.
        let name = task.name.as_ref().map(|name| format!("{name} {}", n + 1));
        let undo = marked.undo.as_ref().map(|undo| undo.text().to_owned());
        let task = Task { name, undo: undo.or_else(|| task.undo.clone()), ..task };
        marked.marks.iter().fold(task, Task::marked)
    };
    script.statements.iter().enumerate().map(task).collect()
}

fn place(location: &Location<'_>) -> String {
    format!("{}:{}", location.file(), location.line())
}

/// A task of code. What a crash in the middle of it means has to be said: [`CodeNeedsIdempotentOrOnce::idempotent`] or
/// [`CodeNeedsIdempotentOrOnce::once`] make it a [`Task`].
///
/// `name` names the task in the journal, in messages and in progress.
#[track_caller]
pub fn code<F, Fut>(name: impl Into<String>, function: F) -> CodeNeedsIdempotentOrOnce
where
    F: Fn(TaskContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = TaskResult> + Send + 'static,
{
    let function = TaskFn(Arc::new(move |context| Box::pin(function(context))));
    CodeNeedsIdempotentOrOnce(Task::new(Some(name.into()), Body::Code(function), place(Location::caller())))
}

/// A code task of which it is not said yet whether it may run twice.
#[derive(Debug)]
#[must_use = "say `.idempotent()` or `.once()` to make it a task"]
pub struct CodeNeedsIdempotentOrOnce(Task);

impl CodeNeedsIdempotentOrOnce {
    /// Running it again, from its start or its last checkpoint, has the same effect as running it once: after a crash
    /// it is run again.
    pub fn idempotent(self) -> Task {
        self.0.idempotent()
    }

    /// It must not run twice: after a crash in the middle of it the version is PAUSED until an operator says whether
    /// it took effect.
    pub fn once(self) -> Task {
        self.0.once()
    }
}

impl Task {
    fn new(name: Option<String>, body: Body, location: String) -> Self {
        Self {
            name,
            body,
            repeat: None,
            undo: None,
            point_of_no_return: false,
            retries: 0,
            on_failure: OnFailure::default(),
            timeout: None,
            stall_timeout: None,
            unclassified: false,
            allowed: Vec::new(),
            wait_built: false,
            location,
        }
    }

    /// With what a file says of its statement.
    fn marked(self, mark: &Mark) -> Self {
        match mark {
            Mark::Idempotent => self.idempotent(),
            Mark::Once => self.once(),
            Mark::PointOfNoReturn => self.point_of_no_return(),
            Mark::Timeout(timeout) => self.timeout(*timeout),
            Mark::Unclassified => self.unclassified(),
            Mark::WaitBuilt => self.wait_built(),
            Mark::Allow(code) => self.allow(code),
        }
    }

    /// Sending or running it again has the same effect as doing so once.
    pub fn idempotent(mut self) -> Self {
        self.repeat = Some(super::Repeat::Idempotent);
        self
    }

    /// It must not take effect twice: an outcome that stays unknown pauses the version.
    pub fn once(mut self) -> Self {
        self.repeat = Some(super::Repeat::Once);
        self
    }

    /// Names the task in the journal and in messages. Default: the statement's first words, or the code task's name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The CQL that takes the task's effect back. It is in the journal before the task runs; this version of the crate
    /// has no verb that runs it.
    pub fn undo(mut self, statement: impl Into<String>) -> Self {
        self.undo = Some(statement.into());
        self
    }

    /// Sends a statement of which it cannot be told what it does: one that a newer server or a fork has, and this crate
    /// does not know yet ([`KM0045`](crate::Code::CqlUnclassified), or [`KM0044`](crate::Code::CqlMalformed) where it
    /// begins like one that is known). `USE` stays refused.
    ///
    /// Nothing is looked for where its outcome is unknown, and names in it are not checked for their keyspace. It counts
    /// as [`Task::once`], unless it is marked [`Task::idempotent`].
    pub fn unclassified(mut self) -> Self {
        self.unclassified = true;
        self
    }

    /// Says that the task removes what no undo brings back: from here on a version only goes forward.
    pub fn point_of_no_return(mut self) -> Self {
        self.point_of_no_return = true;
        self
    }

    /// How often the run tries again, with growing pauses, after a definite failure. Default 0, at most 10.
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// What becomes of the version when the task has failed. Default: [`OnFailure::RetryNextRun`].
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// How long the task may take in all. Default: 30 s for a statement, no limit for code. A task that takes longer
    /// is not run again by itself: its version is PAUSED.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How long a code task may go without a sign of progress (a checkpoint, `progress`, a statement that ended), or a
    /// build with [`Task::wait_built`] without coming further, before its version is PAUSED. Default 10 min.
    pub fn stall_timeout(mut self, timeout: Duration) -> Self {
        self.stall_timeout = Some(timeout);
        self
    }

    /// Lets a rule of the lint not count for this task: `.allow("KL04")`. What each means is in
    /// [`lint_codes`](crate::lint_codes).
    pub fn allow(mut self, code: impl Into<String>) -> Self {
        self.allowed.push(code.into());
        self
    }

    /// Of a `CREATE INDEX` or `CREATE MATERIALIZED VIEW`: is done only once each node that is up has built it. Without,
    /// it is done once the nodes agree that it exists; a view then still misses rows, and an index refuses reads.
    ///
    /// Cassandra calls a view built although rows that one node has built for another are still on their way, and where
    /// such a message was lost, until the view is repaired: seen on 5.0.9, on nodes with too much to do.
    ///
    /// The wait ends the version as PAUSED after [`Task::timeout`] in all, if there is one, or after
    /// [`Task::stall_timeout`] (default 10 min) in which no node has come further.
    pub fn wait_built(mut self) -> Self {
        self.wait_built = true;
        self
    }
}
