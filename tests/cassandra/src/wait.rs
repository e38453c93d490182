//! Bounded waiting, and the locks between processes.

use std::fs::{self, File};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use crate::error::{Doing as _, Error};

const POLL_MS: u64 = 50;

/// Asks until there is an answer; `None` once `timeout` has passed.
pub(crate) fn poll<T>(timeout: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + timeout;
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(Duration::from_millis(POLL_MS));
    }
}

/// Waits for `done`; `false` once `timeout` has passed.
pub(crate) fn poll_until(timeout: Duration, mut done: impl FnMut() -> bool) -> bool {
    poll(timeout, || done().then_some(())).is_some()
}

/// An exclusive lock between processes; free when dropped, and when its process ends in any way.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    pub(crate) fn acquire(path: &Path, timeout: Duration) -> Result<Self, Error> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).doing(|| format!("create {}", parent.display()))?;
        }
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .doing(|| format!("open {}", path.display()))?;
        let locked = poll_until(timeout, || flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok());
        if locked {
            return Ok(Self { _file: file });
        }
        Err(Error::TimedOut {
            what: format!("getting the lock {}", path.display()),
            waited_secs: timeout.as_secs(),
            advice: "another process holds it: `lsof` with that path names it",
        })
    }
}
