//! Runs that are to stop while the outcome of a statement is unknown.

use std::sync::Arc;
use std::time::Duration;

use kandra_migrate::Code;

use super::{Extent, Playing, Tally};
use crate::plans::Image;
use crate::process::Process;
use crate::relay::{Fate, Gate, Pattern, Verdict};
use crate::scene::{Scene, Start};
use crate::times::REACH_SECS_MAX;
use crate::trouble::{Result, within};
use crate::world::World;

/// A statement in flight lands so long after it was sent: after the statement's timeout, within the drain.
const FLIGHT: Duration = Duration::from_secs(12);

/// The statements of version 2, each by text that no other one has, and what tells a run whose answer is lost.
const STATEMENTS: [(&str, &str, Tells); 3] = [
    ("an INSERT", ".items (id, name) VALUES", Tells::Stop),
    ("an ALTER", "ALTER TABLE", Tells::Stop),
    ("a code task", "'price items'", Tells::Failure),
];

/// What a run ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tells {
    /// That it was stopped.
    Stop,
    /// The error of its task, which is told that its statement timed out.
    Failure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Pause,
    Terminate,
}

pub(super) async fn all(world: Arc<World>, extent: Extent) -> Result<Tally> {
    let statements = if extent == Extent::Short { &STATEMENTS[..1] } else { &STATEMENTS[..] };
    let mut scenes: Vec<(String, Playing)> = Vec::new();
    for stop in [Stop::Pause, Stop::Terminate] {
        for statement in statements {
            let scene = answer_lost(Arc::clone(&world), *statement, stop);
            scenes.push((format!("{stop:?} during {}", statement.0), Box::pin(scene)));
        }
        let scene = in_flight(Arc::clone(&world), stop);
        scenes.push((format!("{stop:?} with an INSERT in flight"), Box::pin(scene)));
    }
    scenes.push(("a failure with a write in flight".to_owned(), Box::pin(failed(Arc::clone(&world)))));
    Tally::of_all(&world, scenes).await
}

async fn ask(scene: &Scene, process: &Process, stop: Stop) -> Result<()> {
    match stop {
        Stop::Terminate => process.terminate(),
        Stop::Pause => {
            let registry = Image::Base.registry();
            let control = scene.runner(&registry, "operator").control();
            Ok(control.pause(2, "an incident").await?)
        }
    }
}

/// How the instance must have ended, and what goes on from there.
async fn go_on(scene: &Scene, process: Process, stop: Stop, tells: Tells) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let ended = scene.ended(process).await?;
    let expected = match (tells, stop) {
        (Tells::Failure, _) => Code::StepFailed,
        (Tells::Stop, Stop::Pause) => Code::Paused,
        (Tells::Stop, Stop::Terminate) => Code::Shutdown,
    };
    let code = ended.first().and_then(|ended| ended.code.clone());
    if code.as_deref() != Some(expected.as_str()) {
        wrong.push(format!("it ended with {code:?}, not {expected}"));
    }
    if stop == Stop::Pause {
        let other = scene.start("other", Image::Base, Start::default())?;
        let told = scene.ended(other).await?.first().and_then(|ended| ended.code.clone());
        if told.as_deref() != Some(Code::Paused.as_str()) {
            wrong.push(format!("another instance was told {told:?} of the pause"));
        }
        let registry = Image::Base.registry();
        scene.runner(&registry, "operator").control().resume("the incident is over").await?;
    }
    wrong.extend(scene.finish(Image::Base).await?);
    Ok(wrong)
}

async fn answer_lost(
    world: Arc<World>,
    (name, text, tells): (&'static str, &'static str, Tells),
    stop: Stop,
) -> Result<Tally> {
    let scene = Scene::new(&world, "doubt").await?;
    let lane = scene.lane().await?;
    let gate = Gate::default();
    lane.rule(Pattern::statement(text), Fate::AnswerHeld(gate.clone()));
    let process = scene.start_in(&lane, "struck", Image::Base)?;
    within(REACH_SECS_MAX, "the answer to a statement", gate.reached()).await?;
    ask(&scene, &process, stop).await?;
    gate.open(Verdict::Drop);
    let mut wrong = go_on(&scene, process, stop, tells).await?;
    wrong.extend(scene.close(&Image::Base.spec()).await?);
    Ok(Tally::of(format!("{stop:?} during {name}"), wrong))
}

/// The lease must not be given back before the statement can no longer land.
async fn in_flight(world: Arc<World>, stop: Stop) -> Result<Tally> {
    let scene = Scene::new(&world, "flight").await?;
    let lane = scene.lane().await?;
    let gate = Gate::default();
    lane.rule(Pattern::statement(".items (id, name) VALUES"), Fate::Held(gate.clone()));
    let process = scene.start_in(&lane, "struck", Image::Base)?;
    within(REACH_SECS_MAX, "the INSERT", gate.reached()).await?;
    ask(&scene, &process, stop).await?;
    tokio::time::sleep(FLIGHT).await;
    let mut wrong = given_back(&scene).await?;
    gate.open(Verdict::Pass);
    within(REACH_SECS_MAX, "the answer to the INSERT", gate.answered()).await?;
    wrong.extend(go_on(&scene, process, stop, Tells::Stop).await?);
    wrong.extend(scene.close(&Image::Base.spec()).await?);
    Ok(Tally::of(format!("{stop:?} with an INSERT in flight"), wrong))
}

/// So must a failure's.
async fn failed(world: Arc<World>) -> Result<Tally> {
    let scene = Scene::new(&world, "failed").await?;
    let lane = scene.lane().await?;
    let gate = Gate::default();
    lane.rule(Pattern::statement("'always fails'"), Fate::Held(gate.clone()));
    let process = scene.start_in(&lane, "struck", Image::Failing)?;
    within(REACH_SECS_MAX, "the task's write", gate.reached()).await?;
    tokio::time::sleep(FLIGHT).await;
    let mut wrong = given_back(&scene).await?;
    gate.open(Verdict::Pass);
    within(REACH_SECS_MAX, "the answer to the task's write", gate.answered()).await?;
    let code = scene.ended(process).await?.first().and_then(|ended| ended.code.clone());
    if code.as_deref() != Some(Code::StepFailed.as_str()) {
        wrong.push(format!("the run with the failing step ended with {code:?}"));
    }
    wrong.extend(scene.close(&Image::Failing.spec()).await?);
    Ok(Tally::of("failure with a write in flight", wrong))
}

async fn given_back(scene: &Scene) -> Result<Vec<String>> {
    let record = scene.record().await?;
    let owner = record.head.and_then(|head| head.owner);
    let wrong = "the lease was given back while a statement of unknown outcome could still land";
    Ok(if owner.is_none() { vec![wrong.to_owned()] } else { Vec::new() })
}
