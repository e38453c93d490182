//! A command line to embed in the application's own binary, since migrations are compiled into it.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! kandra_migrate::registry!(pub static MIGRATIONS);
//!
//! # fn main() {
//! # async fn shop() -> ExitCode {
//! // async fn main() -> ExitCode, with #[tokio::main]
//! kandra_migrate::cli::main(&MIGRATIONS).await
//! # }
//! # }
//! ```
//!
//! Then `shop --help` shows the verbs, and `shop --url cassandra://10.0.0.1,10.0.0.2/shop status` where a keyspace
//! stands. An application with TLS, or with its own way to a session, hands that in: see [`Cli`].
//! For a directory of CQL files without a program around them, the same is the command [`kandra`].
//!
//! No verb changes anything by default. What a verb finds goes to stdout, as text or, with `--format json`, as one JSON
//! document with `schema_version`; everything else goes to stderr.
//!
//! In such a document, `command` is the verb, `ok` whether the exit code is 0, and `error`, if there is one, has `code`,
//! `message`, `version`, `retryable`, `next` and the `next_commands` of that text. Fields may be added; none is renamed or
//! removed without a new `schema_version`.
//!
//! # Exit codes
//! | code | meaning |
//! |---|---|
//! | 0 | it worked |
//! | 1 | a failure; of `lint`, that something was found |
//! | 2 | wrong usage |
//! | 3 | something is pending, and not just deferred: of `wait`, and of `status`, `plan` and `verify` with `--exit-code` |
//! | 4 | the binary's migrations and the applied ones differ; or, of `verify --drift`, the schema and what they left |
//! | 5 | another instance, or an operator's hold, is in the way; it passes |
//! | 6 | an operator is needed |
//! | 7 | the cluster, or enough of it, does not answer |
//! | 130, 143 | after SIGINT (Ctrl-C), SIGTERM |
//!
//! # Signals
//! At the first one, `run` begins no new step, lets the statement under way end, and gives the lease back. A second one
//! ends the process at once; the lease then lapses by itself. All other verbs end at the first.

mod answer;
mod args;
mod command;
mod connect;
mod exit;
mod json;
mod output;
mod paint;
mod progress;
mod prompt;
mod signals;
mod standalone;
mod table;
mod text;

use std::ffi::OsString;
use std::fmt;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use scylla::client::session::Session;

pub use connect::{Connection, Password};
pub use standalone::kandra;

use self::args::Asks;
use crate::registry::Registry;
use crate::runner::Runner;

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Opening<'r> = Pin<Box<dyn Future<Output = Result<Arc<Session>, BoxError>> + 'r>>;

/// The command line of these migrations, with what the operator's environment says: see the [module](self).
pub async fn main(registry: &Registry) -> ExitCode {
    Cli::new(registry).main().await
}

/// A command line of an application.
///
/// ```no_run
/// # use std::process::ExitCode;
/// # use std::time::Duration;
/// # kandra_migrate::registry!(pub static MIGRATIONS);
/// # async fn connect() -> Result<scylla::client::session::Session, std::io::Error> { unimplemented!() }
/// # async fn shop() -> ExitCode {
/// kandra_migrate::cli::Cli::new(&MIGRATIONS)
///     .keyspace("shop")
///     .runner(|runner| runner.application("shop 1.4.2").lease(Duration::from_secs(90)))
///     .session(connect)
///     .main()
///     .await
/// # }
/// ```
#[must_use = "a command line does nothing until `main` or `main_from` is awaited"]
pub struct Cli<'r> {
    registry: &'r Registry,
    keyspace: Option<String>,
    configure: Box<dyn Fn(Runner<'r>) -> Runner<'r> + 'r>,
    source: Source<'r>,
}

/// Where the session comes from.
enum Source<'r> {
    /// From the options of the command line.
    Options(Box<dyn FnOnce(Connection) -> Opening<'r> + 'r>),
    /// From the application; there are no options for it.
    Application(Box<dyn FnOnce() -> Opening<'r> + 'r>),
}

impl fmt::Debug for Cli<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cli").field("keyspace", &self.keyspace).finish_non_exhaustive()
    }
}

impl<'r> Cli<'r> {
    /// A command line that connects as `--url` or `KANDRA_URL` says, without TLS.
    pub fn new(registry: &'r Registry) -> Self {
        Self {
            registry,
            keyspace: None,
            configure: Box::new(|runner| runner),
            source: Source::Options(boxed(async |to: Connection| to.session_builder().build().await)),
        }
    }

    /// The keyspace to migrate, where the command line names none. Default: that of the URL, or of the session.
    pub fn keyspace(mut self, keyspace: impl Into<String>) -> Self {
        self.keyspace = Some(keyspace.into());
        self
    }

    /// Settings of each [`Runner`], for those that the command line has no option for: the same as in the application.
    ///
    /// The runner comes with a [`start_jitter`](Runner::start_jitter) of zero. Options of the command line count more.
    pub fn runner(mut self, configure: impl Fn(Runner<'r>) -> Runner<'r> + 'r) -> Self {
        self.configure = Box::new(configure);
        self
    }

    /// Makes the session from what the command line says, as with TLS:
    ///
    /// ```no_run
    /// # use kandra_migrate::cli::{Cli, Connection};
    /// # async fn shop(cli: Cli<'_>) {
    /// # #[cfg(any())]
    /// let cli = cli.connect(async |to: Connection| {
    ///     to.session_builder().tls_context(Some(tls_context()?)).build().await
    /// });
    /// # }
    /// ```
    pub fn connect<F, Fut, S, E>(mut self, connect: F) -> Self
    where
        F: FnOnce(Connection) -> Fut + 'r,
        Fut: Future<Output = Result<S, E>> + 'r,
        S: Into<Arc<Session>>,
        E: Into<BoxError>,
    {
        self.source = Source::Options(boxed(connect));
        self
    }

    /// Takes the session from the application, with its own settings: `--url`, `--user` and `--password-file` are then
    /// no options. It is asked for one only where a verb needs it.
    ///
    /// Built with `auto_await_schema_agreement(false)` it makes a run with many schema statements faster, and with
    /// `keepalive_interval` and `keepalive_timeout` of 5 s a stopped node does not hold it up for minutes.
    pub fn session<F, Fut, S, E>(mut self, session: F) -> Self
    where
        F: FnOnce() -> Fut + 'r,
        Fut: Future<Output = Result<S, E>> + 'r,
        S: Into<Arc<Session>>,
        E: Into<BoxError>,
    {
        self.source = Source::Application(Box::new(|| opening(session())));
        self
    }

    /// Does what the process's arguments say, and returns its exit code.
    pub async fn main(self) -> ExitCode {
        self.main_from(std::env::args_os()).await
    }

    /// The same with other arguments. The first is the command's name, as in `["shop migrate", "status"]` for an
    /// application that has this as its subcommand `migrate`.
    ///
    /// A second signal ends the whole process.
    pub async fn main_from<T: Into<OsString>>(self, arguments: impl IntoIterator<Item = T>) -> ExitCode {
        let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        let asks = match self.source {
            Source::Options(_) => Asks::Url,
            Source::Application(_) => Asks::Nothing,
        };
        match args::parse(arguments, asks) {
            Ok(line) => command::carry_out(self, line).await,
            Err(error) => {
                // A help text that nobody reads to its end is no error.
                let _ = error.print();
                exit::of_clap(&error)
            }
        }
    }
}

fn boxed<'r, F, Fut, S, E>(connect: F) -> Box<dyn FnOnce(Connection) -> Opening<'r> + 'r>
where
    F: FnOnce(Connection) -> Fut + 'r,
    Fut: Future<Output = Result<S, E>> + 'r,
    S: Into<Arc<Session>>,
    E: Into<BoxError>,
{
    Box::new(|connection| opening(connect(connection)))
}

fn opening<'r, Fut, S, E>(session: Fut) -> Opening<'r>
where
    Fut: Future<Output = Result<S, E>> + 'r,
    S: Into<Arc<Session>>,
    E: Into<BoxError>,
{
    Box::pin(async { session.await.map(Into::into).map_err(Into::into) })
}
