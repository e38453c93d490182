//! A hundred instances that start at once, against one.

use std::sync::Arc;
use std::time::Instant;

use kandra_migrate::{Outcome, Runner};
use scylla::client::session::Session;
use tokio::task::JoinSet;

use crate::Error;
use crate::arguments::Arguments;
use crate::catalogue;
use crate::figure::Figure;
use crate::relay::Relays;
use crate::server::{Keyspace, Server};
use crate::spread::Spread;

const GOAL: f64 = 1.3;
const LOST_GOAL: u64 = 10;
const REPETITIONS: u16 = 7;
const INSTANCES: usize = 100;
const INSTANCES_QUICK: usize = 20;
const VERSIONS: usize = 10;

pub(crate) async fn measure(server: &Server, arguments: &Arguments) -> Result<Figure, Error> {
    let admin = server.session().await?;
    let relays = Relays::start(&admin).await?;
    let instances = if arguments.quick { INSTANCES_QUICK } else { INSTANCES };
    let mut sessions = Vec::new();
    for _ in 0..instances {
        sessions.push(relays.session().await?);
    }
    let (mut ratios, mut lost, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..arguments.repetitions(REPETITIONS) {
        let one = time(&admin, &sessions[..1]).await?;
        let before = relays.counts();
        let all = time(&admin, &sessions).await?;
        let counts = relays.counts().since(before);
        println!(
            "{VERSIONS} versions: one instance {one:.2} s, {instances} at once {all:.2} s, {} conditional writes lost, \
             {} without an answer",
            counts.lost, counts.unknown
        );
        ratios.push(all / one);
        lost.push(counts.lost);
        unknown.push(counts.unknown);
    }
    let most = |counts: Vec<u64>| counts.into_iter().max().unwrap_or_default();
    let note = format!(
        "at most {} conditional writes lost a start (goal {LOST_GOAL}), {} without an answer",
        most(lost),
        most(unknown)
    );
    Ok(Figure::ratio("fleet100", Spread::of(ratios), GOAL).with_note(note))
}

/// How long it takes until the last of them may serve, in seconds.
async fn time(admin: &Session, sessions: &[Arc<Session>]) -> Result<f64, Error> {
    let keyspace = Keyspace::create(admin, "bench_fleet").await?;
    let start = Instant::now();
    let mut runs = JoinSet::new();
    for session in sessions {
        let (session, keyspace) = (session.clone(), keyspace.name.clone());
        runs.spawn(async move {
            Runner::new(session, &catalogue::versions(VERSIONS)).keyspace(keyspace).run().await
        });
    }
    let mut applied = 0;
    for report in runs.join_all().await {
        let report = report?;
        assert_ne!(report.outcome, Outcome::Pending, "each waits for the end");
        applied += report.applied.len();
    }
    let took = start.elapsed();
    assert_eq!(applied, VERSIONS, "each version is applied once");
    keyspace.drop().await?;
    Ok(took.as_secs_f64())
}
