//! How long it takes until another instance goes on: after the holder was killed, and after it was asked to stop.

use std::process::Stdio;
use std::time::{Duration, Instant};

use kandra_migrate::{Outcome, Runner};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::Error;
use crate::arguments::Arguments;
use crate::catalogue;
use crate::figure::Figure;
use crate::holder::{self, LEASE};
use crate::server::{Keyspace, Server};
use crate::spread::Spread;

/// How long a data statement of a dead process may still land: 20 s by default, counted by the fastest clock allowed.
const DRAIN: Duration = Duration::from_secs(30);
const TAKEOVER_BEYOND_GOAL: Duration = Duration::from_secs(4);
const HANDOVER_GOAL: Duration = Duration::from_secs(2);
const TAKEOVERS: u16 = 5;
const HANDOVERS: u16 = 15;

/// The successor waits so long before the holder ends: by then it looks as seldom as it ever does.
const WATCHED: Duration = Duration::from_secs(6);

#[derive(Debug, Clone, Copy)]
enum End {
    /// `kill -9`
    Killed,
    /// What an application does on SIGTERM.
    Stopped,
}

/// From the kill to the first step of an instance that was waiting.
pub(crate) async fn takeover(server: &Server, arguments: &Arguments) -> Result<Figure, Error> {
    let goal = LEASE + TAKEOVER_BEYOND_GOAL + DRAIN;
    let spread = repeat(server, arguments.repetitions(TAKEOVERS), End::Killed).await?;
    let note = format!("killed in a code task: lease {LEASE:?} and drain {DRAIN:?} apply");
    Ok(Figure::seconds("takeover", spread, goal.as_secs_f64()).with_note(note))
}

/// From the request to stop to the first step of an instance that was waiting.
pub(crate) async fn handover(server: &Server, arguments: &Arguments) -> Result<Figure, Error> {
    let spread = repeat(server, arguments.repetitions(HANDOVERS), End::Stopped).await?;
    Ok(Figure::seconds("handover", spread, HANDOVER_GOAL.as_secs_f64()))
}

async fn repeat(server: &Server, repetitions: u16, end: End) -> Result<Spread, Error> {
    let mut seconds = Vec::new();
    for _ in 0..repetitions {
        let took = once(server, end).await?.as_secs_f64();
        println!("{end:?} holder: another goes on after {took:.2} s");
        seconds.push(took);
    }
    Ok(Spread::of(seconds))
}

async fn once(server: &Server, end: End) -> Result<Duration, Error> {
    let session = server.session().await?;
    let keyspace = Keyspace::create(&session, "bench_holder").await?;
    let mut holder = start_holder(server, &keyspace.name).await?;
    let registry = catalogue::held();
    let runner = holder::with_short_lease(Runner::new(session.clone(), &registry).keyspace(&keyspace.name));
    let mut ended_at = None;
    let end_holder = async {
        tokio::time::sleep(WATCHED).await;
        ended_at = Some(Instant::now());
        match end {
            End::Killed => holder.kill().await?,
            End::Stopped => drop(holder.stdin.take()),
        }
        holder.wait().await?;
        Ok::<_, Error>(())
    };
    let (report, ended) = tokio::join!(runner.run(), end_holder);
    ended?;
    assert_eq!(report?.outcome, Outcome::Migrated, "the successor does the holder's step");
    let succeeded_at = holder::succeeded_at().ok_or("the successor has not run the step")?;
    keyspace.drop().await?;
    Ok(succeeded_at - ended_at.ok_or("the holder was not ended")?)
}

/// Another process that has begun its step.
async fn start_holder(server: &Server, keyspace: &str) -> Result<Child, Error> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--hold").arg(keyspace);
    for host in server.hosts() {
        command.arg("--hosts").arg(host);
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let stdout = child.stdout.take().ok_or("a process without its output")?;
    let mut lines = BufReader::new(stdout).lines();
    match lines.next_line().await? {
        Some(line) if line == holder::BEGUN => Ok(child),
        _ => Err("the holder ended before its step".into()),
    }
}
