//! A keyspace of a test's own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use scylla::client::session::Session;
use scylla::deserialize::row::DeserializeRow;
use scylla::serialize::row::SerializeRow;

use super::staged::{Stage, Staged};
use super::{Setup, name, stale};
use crate::cql::{self, Kind, quote};
use crate::engine::{Executor, Shutdown};
use crate::error::Error;
use crate::migration::Migration;
use crate::plan::{Step, Steps};
use crate::registry::Registry;
use crate::report::{MigrationStatus, Report};
use crate::runner::{Deferred, Runner};
use crate::schema::shape::KeyspaceSchema;

/// Without a pending version nothing would be tested.
const NOTHING_PENDING: &str =
    "no version is pending: say `up_to = …` in the attribute, for the version before";
const AGREEMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// A keyspace of a test's own, migrated as its [`Setup`] says.
///
/// In CQL, `${keyspace}` stands for it. Cheap to clone. Where something fails, all methods panic with what does.
#[derive(Clone, Debug)]
pub struct TestKeyspace {
    session: Arc<Session>,
    name: String,
    setup: Arc<Setup>,
}

/// A migration that is not completed.
pub(super) struct Pending {
    pub(super) migration: &'static Migration,
    pub(super) steps: Steps,
}

impl fmt::Display for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.migration.version(), self.migration.name())
    }
}

impl TestKeyspace {
    pub(super) async fn create(session: Arc<Session>, setup: Arc<Setup>) -> Self {
        stale::drop_stale(&session).await;
        let db = Self { session, name: name::fresh(&setup.test, name::hours_now()), setup };
        let (name, replication) = (quote(&db.name), &db.setup.replication);
        db.execute(&format!("CREATE KEYSPACE {name} WITH replication = {replication}")).await;
        db
    }

    /// Another one, as empty as this one was.
    pub(super) async fn twin(&self) -> Self {
        Self::create(Arc::clone(&self.session), Arc::clone(&self.setup)).await
    }

    pub(super) async fn remove(&self) {
        if let Err(error) = stale::drop_keyspace(&self.session, &self.name).await {
            // The test has passed all the same; a later one drops it.
            eprintln!("keyspace {} could not be dropped: {error}", self.name);
        }
    }

    pub(super) fn kept(&self) -> String {
        format!("{} failed: its keyspace is kept as {}", self.setup.test, self.name)
    }

    pub(super) fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The keyspace's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A runner of the registry's migrations in this keyspace, with the settings of [`Setup::runner`].
    pub fn runner(&self) -> Runner<'static> {
        self.runner_of(self.setup.registry)
    }

    pub(super) fn runner_of<'r>(&self, registry: &'r Registry) -> Runner<'r> {
        let runner = Runner::new(Arc::clone(&self.session), registry).start_jitter(Duration::ZERO);
        (self.setup.settings)(runner).keyspace(&self.name)
    }

    /// Sends one statement without values; after one that changes the schema, waits until the nodes agree.
    pub async fn execute(&self, cql: &str) {
        self.execute_with(cql, ()).await;
    }

    /// Sends one statement with values for its `?`.
    ///
    /// # Panics
    /// Where it fails.
    pub async fn execute_with(&self, cql: &str, values: impl SerializeRow) {
        let (text, changes_schema) = self.text(cql);
        self.session.query_unpaged(text, values).await.unwrap_or_else(|error| panic!("{error}, in `{cql}`"));
        if changes_schema {
            self.agree(cql).await;
        }
    }

    /// All rows of a `SELECT`.
    ///
    /// ```ignore
    /// let names = db.rows::<(String,)>("SELECT name FROM ${keyspace}.users WHERE id = ?", (1_i64,)).await;
    /// ```
    ///
    /// # Panics
    /// Where it fails, or the rows are of other types.
    pub async fn rows<T>(&self, cql: &str, values: impl SerializeRow) -> Vec<T>
    where
        T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
    {
        let result = self.session.query_unpaged(self.text(cql).0, values).await;
        let result = result.unwrap_or_else(|error| panic!("{error}, in `{cql}`"));
        let result = result.into_rows_result().unwrap_or_else(|error| panic!("{error}, in `{cql}`"));
        let rows = result.rows::<T>().unwrap_or_else(|error| panic!("{error}, in `{cql}`"));
        rows.map(|row| row.unwrap_or_else(|error| panic!("{error}, in `{cql}`"))).collect()
    }

    /// Migrates up to and including this version, what is deferred too. 0 does nothing.
    pub async fn up_to(&self, version: i64) {
        if version != 0 {
            ok(self.runner().run_up_to(Some(version), Deferred::Applied).await);
        }
    }

    /// Migrates up to the newest version, as [`Runner::run_deferred`].
    pub async fn run(&self) {
        ok(self.runner().run_deferred().await);
    }

    /// Runs the task of this name, which is one of the next pending version.
    ///
    /// It is a run as any other, with lease and journal, that is stopped once the task has ended: the steps before it are
    /// run as well, unless they have been, and the next run goes on behind it. So rows can be inserted before, as the
    /// version below has them, and be looked at after. A name is what was passed to [`code`](crate::code) or
    /// [`Task::named`](crate::Task::named). What [`Task::wait_built`](crate::Task::wait_built) waits for is left to the
    /// next run.
    ///
    /// # Panics
    /// Where the task fails, is done already, or is no task of the next version.
    pub async fn run_task(&self, task: &str) {
        let pending = self.pending().await;
        let next = pending.first().unwrap_or_else(|| panic!("{NOTHING_PENDING}"));
        let step = next.steps.iter().find(|step| step.task == task).unwrap_or_else(|| {
            let tasks: Vec<_> = next.steps.iter().map(|step| format!("`{}`", step.task)).collect();
            panic!("version {next}, which is next, has no task `{task}`: its tasks are {}", tasks.join(", "))
        });
        let version = next.migration.version().get();
        assert!(!self.is_done(version, step).await, "task `{task}` of version {next} is done already");
        let (request, shutdown) = Shutdown::new();
        let stage = Stage::stop_after(step, request);
        match self.run_staged(Some(version), shutdown, stage).await {
            // It was the version's last step.
            Ok(_) => {}
            Err(error) if error.is_shutdown() => {}
            Err(error) => panic!("{}", error.explain()),
        }
        self.agree(task).await;
    }

    pub(super) async fn run_staged(
        &self,
        up_to: Option<i64>,
        shutdown: Shutdown,
        stage: Stage,
    ) -> Result<Report, Error> {
        // The stage loses answers only of what has ended: nothing can land later.
        let runner = self.runner().drain(Duration::ZERO);
        runner.run_over(up_to, shutdown, |executor| Staged::new(executor, stage)).await
    }

    /// Whether the journal has this step of a pending version as done.
    async fn is_done(&self, version: i64, step: &Step) -> bool {
        let status = ok(self.runner().status().await);
        let of_version = status.migrations.iter().filter(|migration| migration.version == version);
        of_version
            .flat_map(|migration| &migration.steps)
            .any(|row| row.number == step.number() && row.state == "DONE")
    }

    /// What is pending, of which nothing may be begun: for what looks at whole versions.
    pub(super) async fn not_begun(&self) -> Vec<Pending> {
        let pending = self.pending().await;
        assert!(!pending.is_empty(), "{NOTHING_PENDING}");
        let status = ok(self.runner().status().await);
        let begun =
            status.migrations.iter().find(|migration| !["QUEUED", "COMPLETED"].contains(&migration.state));
        if let Some(MigrationStatus { version, name, .. }) = begun {
            panic!("version {version} {name} is begun: this is for versions of which nothing is done yet");
        }
        pending
    }

    async fn pending(&self) -> Vec<Pending> {
        let runner = self.runner();
        let mut parts = ok(runner.parts());
        let ledger = ok(runner.ledger(&parts).await);
        ok(parts.catalog.compile(&ledger, &parts.destination).map_err(Error::from));
        let pending = parts.catalog.pending(&ledger);
        pending.map(|entry| Pending { migration: entry.migration, steps: entry.steps().clone() }).collect()
    }

    pub(super) async fn schema(&self) -> KeyspaceSchema {
        let parts = ok(self.runner().parts());
        let read = parts.executor.schema_of(&self.name).await;
        let schema =
            read.unwrap_or_else(|error| panic!("the schema of {} cannot be read: {error}", self.name));
        schema.unwrap_or_else(|| panic!("keyspace {} is gone", self.name))
    }

    /// The statement as it is sent, and whether it changes the schema.
    fn text(&self, cql: &str) -> (String, bool) {
        let parts = ok(self.runner().parts());
        let statement = cql::one(cql).and_then(|statement| parts.destination.render(statement));
        let statement = statement.unwrap_or_else(|error| panic!("{}", error.explain()));
        let kind = statement.classify().kind;
        (statement.text().to_owned(), matches!(kind, Kind::Schema | Kind::Role | Kind::Forbidden))
    }

    pub(super) async fn agree(&self, after: &str) {
        let parts = ok(self.runner().parts());
        let agreed = parts.executor.agree(None, AGREEMENT_TIMEOUT).await;
        agreed.unwrap_or_else(|error| panic!("{error}, after `{after}`"));
    }
}

/// What there is, or a panic with the long form of the error.
pub(super) fn ok<T>(result: Result<T, Error>) -> T {
    result.unwrap_or_else(|error| panic!("{}", error.explain()))
}
