//! What a test's keyspace is made of.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{ExitCode, Termination};
use std::sync::Arc;

use scylla::client::session::Session;

use super::TestKeyspace;
use super::connect;
use crate::boxed::BoxFuture;
use crate::registry::Registry;
use crate::runner::Runner;

const REPLICATION: &str = "{'class': 'NetworkTopologyStrategy', 'replication_factor': 1}";
/// Tests of one process run side by side, each with a runtime of its own.
const WORKER_THREADS: usize = 2;

type Connecting = BoxFuture<'static, Arc<Session>>;

/// What a test's keyspace is made of: what the [attribute](macro@crate::test) says, for tests without it.
///
/// ```no_run
/// # use kandra_migrate::testing::Setup;
/// # kandra_migrate::registry!(pub static MIGRATIONS);
/// // in a #[test]
/// Setup::new(&MIGRATIONS, "users_have_names", env!("CARGO_MANIFEST_DIR")).up_to(1).run(async |db| {
///     db.execute("INSERT INTO ${keyspace}.users (id, name) VALUES (1, 'Ada')").await;
/// });
/// ```
#[must_use = "nothing is tested before `run`"]
pub struct Setup {
    pub(super) registry: &'static Registry,
    pub(super) test: String,
    pub(super) package: String,
    pub(super) replication: String,
    pub(super) settings: for<'r> fn(Runner<'r>) -> Runner<'r>,
    up_to: Option<i64>,
    connect: Box<dyn Fn() -> Connecting + Send + Sync>,
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup").field("test", &self.test).field("up_to", &self.up_to).finish_non_exhaustive()
    }
}

impl Setup {
    /// For the test of this name, in the package whose directory this is.
    pub fn new(registry: &'static Registry, test: impl Into<String>, package: impl Into<String>) -> Self {
        Self {
            registry,
            test: test.into(),
            package: package.into(),
            replication: REPLICATION.to_owned(),
            settings: |runner| runner,
            up_to: None,
            connect: Box::new(|| Box::pin(connect::from_environment())),
        }
    }

    /// How to connect. Default: to the database of `KANDRA_TEST_HOSTS`.
    pub fn session<F, Fut>(mut self, connect: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output: Into<Arc<Session>>> + Send + 'static,
    {
        self.connect = Box::new(move || {
            let connecting = connect();
            Box::pin(async move { connecting.await.into() })
        });
        self
    }

    /// Up to which version the keyspace is migrated before the test; 0 leaves it empty. Default: all.
    pub fn up_to(mut self, version: i64) -> Self {
        self.up_to = Some(version);
        self
    }

    /// The keyspace's replication. Default: `NetworkTopologyStrategy` with one replica.
    pub fn replication(mut self, replication: impl Into<String>) -> Self {
        self.replication = replication.into();
        self
    }

    /// Settings of each run: [variables](Runner::variable), for one. Default: those of [`Runner`], without a start jitter.
    pub fn runner(mut self, settings: for<'r> fn(Runner<'r>) -> Runner<'r>) -> Self {
        self.settings = settings;
        self
    }

    /// Makes the keyspace, migrates it, runs the test, and drops the keyspace if that has passed.
    ///
    /// # Panics
    /// Where the test does, or returns an error, and where there is no such keyspace.
    pub fn run<F, Fut>(self, test: F)
    where
        F: FnOnce(TestKeyspace) -> Fut,
        Fut: Future<Output: Termination>,
    {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(WORKER_THREADS).enable_all().build();
        let runtime = runtime.unwrap_or_else(|error| panic!("no runtime for the test: {error}"));
        let up_to = self.up_to;
        let db = runtime.block_on(async {
            let session = (self.connect)().await;
            TestKeyspace::create(session, Arc::new(self)).await
        });
        let of_test = db.clone();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            runtime.block_on(async {
                match up_to {
                    Some(version) => of_test.up_to(version).await,
                    None => of_test.run().await,
                }
                test(of_test).await.report()
            })
        }));
        match ended {
            Ok(code) if code == ExitCode::SUCCESS => runtime.block_on(db.remove()),
            Ok(_) => panic!("the test returned an error; {}", db.kept()),
            Err(panic) => {
                eprintln!("{}", db.kept());
                resume_unwind(panic)
            }
        }
    }
}
