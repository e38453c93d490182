//! Instances that run at the same time, each a process of its own, and what they say.

use std::collections::BTreeMap;
use std::env;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::timeout_at;

use crate::Failure;

/// The first argument of a process that is an instance.
pub(crate) const INSTANCE: &str = "instance";

/// The longest that a fleet takes. A takeover alone takes half a minute, and a busy machine multiplies that.
const FLEET_SECS_MAX: u64 = 300;

/// Where instances find their data.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) keyspace: String,
    pub(crate) hosts: Vec<String>,
}

/// A line that an instance printed.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) instance: String,
    pub(crate) text: String,
}

/// Instances that were started together. They end with this value at the latest.
#[derive(Debug)]
pub(crate) struct Fleet {
    instances: BTreeMap<String, Child>,
    lines: mpsc::Receiver<Line>,
    started: Instant,
}

impl Fleet {
    pub(crate) fn start(names: &[&str], release: &str, site: &Site) -> Result<Self, Failure> {
        let started = Instant::now();
        let (sender, lines) = mpsc::channel(100);
        let mut instances = BTreeMap::new();
        for name in names {
            let mut instance = Command::new(env::current_exe()?)
                .args([INSTANCE, name, release, &site.keyspace, &site.hosts.join(",")])
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .kill_on_drop(true)
                .spawn()?;
            let stdout = instance.stdout.take().ok_or("an instance without its output")?;
            tokio::spawn(forward((*name).to_owned(), stdout, sender.clone()));
            instances.insert((*name).to_owned(), instance);
        }
        Ok(Self { instances, lines, started })
    }

    /// The next line that an instance printed, printed here too; `None` once all have closed their output.
    pub(crate) async fn line(&mut self) -> Result<Option<Line>, Failure> {
        let deadline = self.started + Duration::from_secs(FLEET_SECS_MAX);
        let line = timeout_at(deadline.into(), self.lines.recv()).await;
        let line = line.map_err(|_| format!("the instances are not done after {FLEET_SECS_MAX} s"))?;
        if let Some(Line { instance, text }) = &line {
            println!("  {:5.1} s  {instance}  {text}", self.started.elapsed().as_secs_f64());
        }
        Ok(line)
    }

    /// Kills an instance as `kill -9` does, and returns once it is dead.
    pub(crate) async fn kill(&mut self, name: &str) -> Result<(), Failure> {
        let mut instance = self.instances.remove(name).ok_or("no such instance")?;
        let id = instance.id().ok_or("it has ended before it could be killed")?;
        instance.kill().await?;
        println!("  {:5.1} s  {name}  *** kill -9 {id} ***", self.started.elapsed().as_secs_f64());
        Ok(())
    }

    /// What the remaining instances still say; an error unless each of them ends well.
    pub(crate) async fn finish(mut self) -> Result<Vec<Line>, Failure> {
        let mut lines = Vec::new();
        while let Some(line) = self.line().await? {
            lines.push(line);
        }
        for (name, mut instance) in self.instances {
            let status = instance.wait().await?;
            if !status.success() {
                return Err(format!("{name}: {status}").into());
            }
        }
        Ok(lines)
    }
}

async fn forward(instance: String, stdout: ChildStdout, sender: mpsc::Sender<Line>) {
    let mut lines = BufReader::new(stdout).lines();
    while let Ok(Some(text)) = lines.next_line().await {
        let line = Line { instance: instance.clone(), text };
        if sender.send(line).await.is_err() {
            return;
        }
    }
}
