//! The keeper: a small shell process that starts the nodes and ends them with their last user.
//!
//! Its standard input is a named pipe. A user is whoever holds that pipe open for writing; the system closes it
//! when the user ends, `kill -9` included. So no node outlives its users, and no user has to tidy up.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_setfl};

use crate::error::{Doing as _, Error};
use crate::wait::poll_until;

const SCRIPT: &str = include_str!("keeper.sh");

/// How long a keeper may take for one answer: it may be starting nine nodes on a busy machine.
const ANSWER_SECS_MAX: u64 = 30;

/// The user's end of a keeper's pipe. The keeper ends its nodes once all of these are closed.
#[derive(Debug)]
pub(crate) struct Keeper {
    home: PathBuf,
    pipe: File,
}

impl Keeper {
    /// Starts the keeper of a new cluster.
    pub(crate) fn spawn(home: &Path, java: &Path) -> Result<Self, Error> {
        let path = home.join("users");
        let made = Command::new("mkfifo").arg(&path).status().doing(|| "run `mkfifo`".to_owned())?;
        if !made.success() {
            return Err(Error::Program { program: "mkfifo".to_owned(), reason: made.to_string() });
        }
        // The reading end first: a writing end opens only where there is a reading one.
        let input = open(&path, true).doing(|| format!("open {}", path.display()))?;
        let pipe = open(&path, false).doing(|| format!("open {}", path.display()))?;
        fcntl_setfl(&input, OFlags::empty()).doing(|| format!("set up {}", path.display()))?;
        let log = home.join("keeper.log");
        let log = File::create(&log).doing(|| format!("write {}", log.display()))?;
        let errors = log.try_clone().doing(|| "share the keeper's log".to_owned())?;
        let mut command = Command::new("sh");
        // Variables meant for cargo, the test, or another Java are not for the nodes.
        command.env_clear();
        for name in ["PATH", "HOME", "LANG"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        let mut child = command
            .args(["-c", SCRIPT, "keeper"])
            .args([home, java])
            .stdin(input)
            .stdout(log)
            .stderr(errors)
            // A Ctrl-C for the user is none for the keeper.
            .process_group(0)
            .spawn()
            .doing(|| "run `sh`".to_owned())?;
        thread::spawn(move || child.wait());
        Ok(Self { home: home.to_owned(), pipe })
    }

    /// Whether a keeper reads the pipe of this cluster.
    pub(crate) fn is_alive(home: &Path) -> bool {
        open(&home.join("users"), false).is_ok()
    }

    /// Becomes a user of a cluster; `None` if its keeper is gone, or ends just now.
    ///
    /// Only an answer shows that the keeper will stay: it may have seen the end of its last user already.
    pub(crate) fn join(home: &Path) -> Result<Option<Self>, Error> {
        let deadline = Instant::now() + Duration::from_secs(ANSWER_SECS_MAX);
        while Instant::now() < deadline {
            let Ok(pipe) = open(&home.join("users"), false) else { return Ok(None) };
            let keeper = Self { home: home.to_owned(), pipe };
            match keeper.sync() {
                Ok(()) => return Ok(Some(keeper)),
                // A keeper that ended while it was asked.
                Err(Error::Io { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Sends a request. They are served in order.
    pub(crate) fn ask(&self, request: &str) -> Result<(), Error> {
        let line = format!("{request}\n");
        (&self.pipe)
            .write_all(line.as_bytes())
            .doing(|| format!("reach the keeper of {}", self.home.display()))
    }

    /// Waits until all requests so far are served.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let token = format!("{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let ack = self.home.join("acks").join(&token);
        self.ask(&format!("hello {token}"))?;
        let timeout = Duration::from_secs(ANSWER_SECS_MAX);
        let answered = poll_until(timeout, || ack.exists() || !self.home.exists());
        if !answered {
            return Err(Error::TimedOut {
                what: format!("an answer of the keeper of {}", self.home.display()),
                waited_secs: ANSWER_SECS_MAX,
                advice: "see keeper.log there, or end its `sh -c` process",
            });
        }
        fs::remove_file(&ack).doing(|| format!("reach the keeper of {}", self.home.display()))
    }

    /// Waits until the keeper has ended its nodes and removed their folder; `false` if it did not.
    pub(crate) fn end(&self) -> bool {
        // If the keeper is gone already, there is no pipe to write to.
        self.ask("end").is_ok() && poll_until(Duration::from_secs(ANSWER_SECS_MAX), || !self.home.exists())
    }
}

/// Opens one end of a pipe without waiting for the other one.
fn open(path: &Path, read: bool) -> io::Result<File> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
    File::options().read(read).write(!read).custom_flags(flags).open(path)
}
