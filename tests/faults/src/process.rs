//! Instances, seen from the test.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::task::JoinHandle;

use crate::check::Ended;
use crate::trouble::{Result, Trouble, within};

/// A process that runs an instance. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
    ended: JoinHandle<Vec<Ended>>,
}

impl Process {
    /// Starts one.
    pub fn start(name: &str, mut command: Command) -> Result<Self> {
        let failed = |source| Trouble::Io { what: format!("start {name}"), source };
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let output = child.stdout.take();
        let ended = tokio::spawn(async move {
            let mut ended = Vec::new();
            let Some(output) = output else { return ended };
            let mut lines = BufReader::new(output).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                ended.extend(serde_json::from_str::<Ended>(&line).ok());
            }
            ended
        });
        Ok(Self { name: name.to_owned(), input: child.stdin.take(), child, ended })
    }

    /// `kill -9`.
    pub fn kill(&self) -> Result<()> {
        self.signal(Signal::KILL)
    }

    /// SIGSTOP: it stands still, wherever it is.
    pub fn stop(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    /// SIGCONT: it goes on and does not know that time has passed.
    pub fn resume(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    /// SIGTERM: it is asked to stop.
    pub fn terminate(&self) -> Result<()> {
        self.signal(Signal::TERM)
    }

    /// Makes it drop its run and begin another.
    pub async fn drop_run(&mut self) -> Result<()> {
        let Some(input) = &mut self.input else { return Ok(()) };
        let sent = input.write_all(b"\n").await;
        sent.map_err(|source| Trouble::Io { what: format!("tell {} to drop its run", self.name), source })
    }

    /// Ends when it has ended by itself.
    pub async fn gone(&mut self) {
        // A wait that fails is one for a process that is not there.
        let _ = self.child.wait().await;
    }

    /// Waits until it has ended: how its runs did. One that was killed before has none.
    pub async fn ended(mut self, secs: u64) -> Result<Vec<Ended>> {
        let what = format!("the end of {}", self.name);
        let status = within(secs, &what, self.child.wait()).await?;
        status.map_err(|source| Trouble::Io { what, source })?;
        Ok(self.ended.await?)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let failed = |source| Trouble::Io { what: format!("signal {}", self.name), source };
        // One that has ended already is not there to be signalled.
        let Some(pid) = self.child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw)
        else {
            return Ok(());
        };
        kill_process(pid, signal).map_err(|error| failed(error.into()))
    }
}
