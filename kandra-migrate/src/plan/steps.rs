//! A plan, compiled: one step after the other, each with what is going to be sent. Pure.

use std::time::Duration;

use sha2::{Digest, Sha256};

use super::{Body, Destination, OnFailure, Task, TaskFn, tasks_of};
use crate::cql::{
    self, Classification, CqlError, CqlErrorKind, Kind, Refusal, Rule, SchemaChange, Statement,
};
use crate::error::{At, Problem};
use crate::migration::Migration;

/// Longest statement that is sent, in bytes. Servers take more; what is longer is data, and belongs into a code task.
pub(crate) const STATEMENT_BYTES_MAX: usize = 256 * 1024;

/// Most in-process retries of a task.
const RETRIES_MAX: u32 = 10;

/// What an unknown outcome of a step means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// Its effect is looked for in `system_schema`.
    Probe,
    /// It may be run again.
    Idempotent,
    /// It must not be run again.
    Once,
}

impl Repeat {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::Idempotent => "idempotent",
            Self::Once => "once",
        }
    }
}

/// What a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepKind {
    /// A schema or role statement.
    Schema,
    /// Any other statement.
    Data,
    /// A code task.
    Code,
}

impl StepKind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Data => "data",
            Self::Code => "code",
        }
    }
}

/// What a step does.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    Cql { statement: Statement, found: Box<Classification> },
    Code(TaskFn),
}

/// One step.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// Its ordinal in the plan, from 0.
    pub(crate) n: i64,
    pub(crate) task: String,
    pub(crate) kind: StepKind,
    pub(crate) repeat: Repeat,
    /// What its author said of that.
    pub(crate) marked: Option<Repeat>,
    pub(crate) work: Work,
    pub(crate) digest: String,
    pub(crate) undo: Option<String>,
    /// Nothing before it can be undone once it is done.
    pub(crate) point_of_no_return: bool,
    pub(crate) retries: u32,
    pub(crate) on_failure: OnFailure,
    pub(crate) timeout: Option<Duration>,
    pub(crate) stall_timeout: Option<Duration>,
    /// Rules of the lint that do not count for it.
    pub(crate) allowed: Vec<Rule>,
    /// Done only once each node has built the index or view.
    pub(crate) wait_built: bool,
    /// It stands in a file, whose comments say what is to be known of it.
    pub(crate) in_file: bool,
    /// `file:line`.
    pub(crate) location: String,
}

impl Step {
    /// What the journal keeps of its marks.
    pub(crate) fn flags(&self) -> String {
        let mark = if self.point_of_no_return { " point-of-no-return" } else { "" };
        format!("{}{mark}", self.repeat.name())
    }

    /// Its number as people count, from 1.
    pub(crate) fn number(&self) -> i64 {
        self.n + 1
    }

    /// What it sends.
    pub(crate) fn cql(&self) -> Option<&str> {
        match &self.work {
            Work::Cql { statement, .. } => Some(statement.text()),
            Work::Code(_) => None,
        }
    }

    /// What it changes in the schema.
    pub(crate) fn change(&self) -> Option<&SchemaChange> {
        match &self.work {
            Work::Cql { found, .. } => found.change.as_ref(),
            Work::Code(_) => None,
        }
    }

    /// Whether sending it again is harmless whatever is there.
    pub(crate) fn is_repeatable(&self) -> bool {
        match &self.work {
            Work::Cql { found, .. } => found.idempotent(),
            Work::Code(_) => self.repeat == Repeat::Idempotent,
        }
    }

    /// Whether the server passes over it in silence where something of that name is there already.
    pub(crate) fn passes_over(&self) -> bool {
        self.is_repeatable() && self.change().is_some_and(SchemaChange::creates)
    }

    /// Whether its cells can be given a write time.
    pub(crate) fn takes_timestamp(&self) -> bool {
        matches!(&self.work, Work::Cql { found, .. } if found.kind == Kind::Data && found.idempotent())
    }
}

/// The steps of a plan.
#[derive(Debug, Clone)]
pub(crate) struct Steps(Vec<Step>);

impl Steps {
    /// Compiles the plan of a migration; nothing is sent.
    pub(crate) fn compile(migration: &Migration, destination: &Destination) -> Result<Self, Problem> {
        let plan = migration.plan();
        if plan.tasks.is_empty() {
            return Err(Problem::PlanEmpty {
                version: migration.version(),
                name: migration.name().to_owned(),
                location: migration.location(),
            });
        }
        let tasks = one_step_each(migration, plan.tasks)?;
        let steps = tasks.len();
        let compiler = Compiler { migration, destination, steps };
        tasks
            .into_iter()
            .enumerate()
            .map(|(n, task)| compiler.step(n, task))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Step> {
        self.0.iter()
    }

    pub(crate) fn find(&self, n: i64) -> Option<&Step> {
        usize::try_from(n).ok().and_then(|n| self.0.get(n))
    }

    /// The step with this ordinal.
    ///
    /// # Panics
    /// Where there is none: a bug of the engine.
    pub(crate) fn get(&self, n: i64) -> &Step {
        self.find(n).expect("decide names steps of the plan")
    }

    /// The digest over what all steps do. The checksum detects an edit; this one detects other behaviour of the same
    /// text.
    pub(crate) fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for step in self.iter() {
            for part in [step.kind.name(), &step.flags(), &step.task, &step.digest] {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part);
            }
        }
        format!("p1:{}", hex::encode(hash.finalize()))
    }
}

/// The tasks, with those of files cut into one for each statement.
fn one_step_each(migration: &Migration, tasks: Vec<Task>) -> Result<Vec<Task>, Problem> {
    let mut steps = Vec::with_capacity(tasks.len());
    for task in tasks {
        let Body::File { path, script } = &task.body else {
            steps.push(task);
            continue;
        };
        let fault = |why: &str| Problem::FileUse {
            path: (*path).to_owned(),
            location: task.location.clone(),
            why: why.to_owned(),
        };
        if !migration.has_file(path) {
            return Err(fault(
                "the migration does not name it, so that it is no part of the checksum: write cql_file!(\"…\") in the module itself, or say reaches_outside",
            ));
        }
        let script = script.as_ref().map_err(|fault| Problem::File(fault.clone()))?;
        if !script.settings.is_empty() {
            return Err(fault(
                "what is said of a whole migration stands in #[migration(…)], not in a file of it",
            ));
        }
        if task.undo.is_some() && script.statements.len() > 1 {
            return Err(fault(
                "one undo for several statements: write `-- kandra: undo` behind each of them in the file",
            ));
        }
        steps.extend(tasks_of(path, script, Some(&task)));
    }
    Ok(steps)
}

struct Compiler<'a> {
    migration: &'a Migration,
    destination: &'a Destination,
    steps: usize,
}

impl Compiler<'_> {
    fn step(&self, n: usize, task: Task) -> Result<Step, Problem> {
        let location = task.location.clone();
        let at = |name: &str| At {
            version: self.migration.version(),
            name: self.migration.name().to_owned(),
            step: ordinal(n) + 1,
            steps: self.steps,
            task: name.to_owned(),
            location: location.clone(),
        };
        if task.retries > RETRIES_MAX {
            let at = at(task.name.as_deref().unwrap_or("retries"));
            return Err(Problem::Config(format!(
                "{at}: {} retries, and at most {RETRIES_MAX} are made",
                task.retries
            )));
        }
        let allowed = allowed(&task, &at)?;
        let in_file = matches!(task.body, Body::Statement(_));
        let (name, kind, repeat, work, digest) = match task.body {
            Body::Cql(source) => {
                let statement = read(&source, &at(task.name.as_deref().unwrap_or("cql")))?;
                self.statement(statement, task.name, task.repeat, task.unclassified, &at)?
            }
            Body::Statement(statement) => {
                self.statement(statement, task.name, task.repeat, task.unclassified, &at)?
            }
            Body::File { .. } => unreachable!("files are cut into statements before"),
            Body::Code(function) => {
                let name = task.name.unwrap_or_else(|| "code".to_owned());
                let repeat = task.repeat.expect("a code task is made by .idempotent() or .once()");
                let digest = format!("code:{name}");
                (name, StepKind::Code, repeat, Work::Code(function), digest)
            }
        };
        if task.wait_built && !is_built(&work) {
            let at = at(&name);
            let said = if in_file { "`-- kandra: wait-built`" } else { ".wait_built()" };
            return Err(Problem::Config(format!(
                "{at}: {said} is for CREATE INDEX and CREATE MATERIALIZED VIEW"
            )));
        }
        let undo =
            task.undo.map(|undo| self.undo(&undo, &at(&name)).map(|statement| statement.text().to_owned()));
        Ok(Step {
            n: ordinal(n),
            kind,
            repeat,
            marked: task.repeat,
            work,
            digest,
            undo: undo.transpose()?,
            point_of_no_return: task.point_of_no_return,
            retries: task.retries,
            on_failure: task.on_failure,
            timeout: task.timeout,
            stall_timeout: task.stall_timeout,
            allowed,
            wait_built: task.wait_built,
            in_file,
            location: location.clone(),
            task: name,
        })
    }

    fn statement(
        &self,
        statement: Statement,
        name: Option<String>,
        repeat: Option<Repeat>,
        unclassified: bool,
        at: &impl Fn(&str) -> At,
    ) -> Result<(String, StepKind, Repeat, Work, String), Problem> {
        let statement = self.render(statement, &at(name.as_deref().unwrap_or("cql")))?;
        let name = name.unwrap_or_else(|| title(&cql::mask(statement.text())));
        let at = at(&name);
        let found = statement.classify();
        match &found.refused {
            Some(Refusal::Unknown(_) | Refusal::Syntax(_)) if unclassified => {}
            Some(refusal) => return Err(refused(at, refusal, &statement)),
            None => self.check_names(&found, at)?,
        }
        // What cannot be told may change the schema: the nodes have to agree before anything follows.
        let schema = matches!(found.kind, Kind::Schema | Kind::Role) || found.refused.is_some();
        let kind = if schema { StepKind::Schema } else { StepKind::Data };
        let by_nature = if found.idempotent() { Repeat::Idempotent } else { Repeat::Once };
        let can_be_looked_for = schema && found.refused.is_none();
        let repeat = repeat.unwrap_or(if can_be_looked_for { Repeat::Probe } else { by_nature });
        let digest = statement.digest();
        Ok((name, kind, repeat, Work::Cql { statement, found: Box::new(found) }, digest))
    }

    fn undo(&self, source: &str, at: &At) -> Result<Statement, Problem> {
        read(source, at).and_then(|statement| self.render(statement, at))
    }

    fn render(&self, statement: Statement, at: &At) -> Result<Statement, Problem> {
        check_length(statement.text(), at)?;
        self.destination.render(statement).map_err(|error| malformed(at, &error))
    }

    /// The driver has no keyspace per request, and the session is the caller's: names without a keyspace would be of
    /// whatever keyspace that session is in.
    fn check_names(&self, found: &Classification, at: At) -> Result<(), Problem> {
        let Destination { keyspace, session_keyspace, .. } = self.destination;
        if found.unqualified.is_empty() || self.destination.is_session_keyspace() {
            return Ok(());
        }
        Err(Problem::Unqualified {
            at,
            objects: found.unqualified.join(", "),
            session: session_keyspace.clone().unwrap_or_else(|| "none".to_owned()),
            keyspace: keyspace.clone(),
        })
    }
}

fn allowed(task: &Task, at: &impl Fn(&str) -> At) -> Result<Vec<Rule>, Problem> {
    let rule = |code: &String| {
        Rule::from_code(code).ok_or_else(|| {
            let at = at(task.name.as_deref().unwrap_or("allow"));
            Problem::Config(format!("{at}: no rule of the lint has the code {code}"))
        })
    };
    task.allowed.iter().map(rule).collect()
}

/// Whether nodes build what the step makes.
fn is_built(work: &Work) -> bool {
    let Work::Cql { found, .. } = work else { return false };
    matches!(found.change, Some(SchemaChange::CreateIndex(_) | SchemaChange::CreateView(_)))
}

fn ordinal(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn read(source: &str, at: &At) -> Result<Statement, Problem> {
    check_length(source, at)?;
    cql::one(source).map_err(|error| malformed(at, &error))
}

fn check_length(source: &str, at: &At) -> Result<(), Problem> {
    match source.len() {
        bytes if bytes > STATEMENT_BYTES_MAX => {
            Err(Problem::CqlTooLong { at: at.clone(), bytes, bytes_max: STATEMENT_BYTES_MAX })
        }
        _ => Ok(()),
    }
}

fn malformed(at: &At, error: &CqlError) -> Problem {
    let at = at.clone();
    match error.kind() {
        CqlErrorKind::Empty => Problem::CqlEmpty { at },
        CqlErrorKind::SecondStatement => Problem::CqlTwo { at, excerpt: error.explain() },
        CqlErrorKind::UnknownVariable(name) => {
            Problem::VariableMissing { at, name: name.clone(), excerpt: error.explain() }
        }
        _ => Problem::CqlMalformed { at, message: error.to_string(), excerpt: error.explain() },
    }
}

fn refused(at: At, refusal: &Refusal, statement: &Statement) -> Problem {
    match refusal {
        Refusal::Use => Problem::CqlUse { at },
        Refusal::Syntax(error) => {
            Problem::CqlMalformed { at, message: error.to_string(), excerpt: error.explain() }
        }
        other => {
            Problem::CqlUnclassified { at, message: other.to_string(), excerpt: cql::mask(statement.text()) }
        }
    }
}

/// The first words of a statement, as its task's name.
fn title(text: &str) -> String {
    const WORDS: usize = 3;
    const CHARACTERS_MAX: usize = 60;
    let words: Vec<_> = text.split_whitespace().take(WORDS).collect();
    words.join(" ").chars().take(CHARACTERS_MAX).collect()
}
