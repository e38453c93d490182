//! One node of a cluster, and what can be done to it.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;

use crate::cluster::Cluster;
use crate::cql::{Answer, Consistency, Rows};
use crate::error::{Doing as _, Error};
use crate::home::Home;
use crate::process;
use crate::readiness;
use crate::reserve;
use crate::wait::poll_until;

const KILL_SECS_MAX: u64 = 10;
const STOP_SECS_MAX: u64 = 60;
const PAUSE_SECS_MAX: u64 = 5;

/// What a node is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has no process.
    Down,
    /// Its process is stopped by [`Node::pause`].
    Paused,
    /// It runs and answers no statements (yet).
    Starting,
    /// It answers statements.
    Serving,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Down => "down",
            Self::Paused => "paused",
            Self::Starting => "starting",
            Self::Serving => "serving",
        })
    }
}

/// One node of a [`Cluster`].
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    cluster: &'a Cluster,
    number: u8,
}

impl<'a> Node<'a> {
    pub(crate) fn new(cluster: &'a Cluster, number: u8) -> Self {
        Self { cluster, number }
    }

    fn home(&self) -> &'a Home {
        &self.cluster.home
    }

    /// Its number, from 1.
    #[must_use]
    pub fn number(&self) -> u8 {
        self.number
    }

    /// Where it serves.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        readiness::cql_address(self.home(), self.number)
    }

    /// Its process; `None` if it does not run.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.home().running(self.number)
    }

    /// Its log file. What its Java writes itself is in `stdout.log` beside it.
    #[must_use]
    pub fn log_path(&self) -> PathBuf {
        self.home().log(self.number)
    }

    /// What it is doing. Asks it, if it runs.
    #[must_use]
    pub fn state(&self) -> State {
        match self.pid() {
            None => State::Down,
            Some(pid) if process::is_stopped(pid) => State::Paused,
            Some(_) if readiness::connect(self.home(), self.number).is_ok() => State::Serving,
            Some(_) => State::Starting,
        }
    }

    /// Ends it at once (`kill -9`) and waits until it is gone. What it had written is still there after a start.
    pub fn kill(&self) -> Result<(), Error> {
        self.signal(Signal::KILL)?;
        self.await_end(KILL_SECS_MAX)
    }

    /// Ends it in good order (SIGTERM: it drains and says goodbye to its peers) and waits until it is gone.
    pub fn stop(&self) -> Result<(), Error> {
        // A paused process would see the request once it is resumed.
        self.signal(Signal::CONT)?;
        self.signal(Signal::TERM)?;
        self.await_end(STOP_SECS_MAX)
    }

    /// Stops its process in its tracks (SIGSTOP): connections stay open and are accepted, nothing is answered.
    pub fn pause(&self) -> Result<(), Error> {
        let pid = self.signal(Signal::STOP)?;
        if poll_until(Duration::from_secs(PAUSE_SECS_MAX), || process::is_stopped(pid)) {
            return Ok(());
        }
        Err(self.timed_out("pause", PAUSE_SECS_MAX))
    }

    /// Lets a paused process go on (SIGCONT). Its peers may take seconds to notice:
    /// [`Cluster::await_serving`] waits for that.
    pub fn resume(&self) -> Result<(), Error> {
        self.signal(Signal::CONT).map(drop)
    }

    /// Starts it on its data unless it runs; resumes it if it is paused. Waits until it serves and until it and
    /// the other nodes that run and are not paused get answers of each other.
    pub fn start(&self) -> Result<(), Error> {
        if self.pid().is_some() {
            self.resume()?;
        } else {
            reserve::await_free(self.number, self.home().ports)?;
            self.cluster.keeper.ask(&format!("start {}", self.number))?;
            self.cluster.keeper.sync()?;
            self.home().expect_running(self.number)?;
        }
        self.cluster.await_serving()
    }

    /// Runs a statement at consistency ONE, with user `cassandra` if a login is needed; after a schema change,
    /// waits as [`Cluster::await_serving`] does. For a look at a node, not for speed.
    pub fn cql(&self, statement: &str) -> Result<Rows, Error> {
        let answer = readiness::connect(self.home(), self.number)?.query(statement, Consistency::One)?;
        if answer == Answer::SchemaChange {
            self.cluster.await_serving()?;
        }
        Ok(answer.into_rows())
    }

    fn signal(&self, signal: Signal) -> Result<u32, Error> {
        let pid = self.home().expect_running(self.number)?;
        process::signal(pid, signal).doing(|| format!("signal node {}, process {pid}", self.number))?;
        Ok(pid)
    }

    fn await_end(&self, secs_max: u64) -> Result<(), Error> {
        if self.home().ended(self.number, Duration::from_secs(secs_max)) {
            return Ok(());
        }
        Err(self.timed_out("end", secs_max))
    }

    fn timed_out(&self, what: &str, waited_secs: u64) -> Error {
        let what = format!("the {what} of node {}", self.number);
        Error::TimedOut { what, waited_secs, advice: "look at its log, or kill it" }
    }
}
