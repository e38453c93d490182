//! Instances that are killed, stopped, or made to drop their run, at each of their requests.

use std::fmt;
use std::sync::Arc;

use super::{Extent, Tally};
use crate::dice::Dice;
use crate::plans::Image;
use crate::process::Process;
use crate::relay::{Fate, Gate, Opcode, Pattern, Rule, Verdict};
use crate::scene::{Scene, Start};
use crate::times::REACH_SECS_MAX;
use crate::trouble::{Result, within};
use crate::world::World;

/// Requests that are struck in the short set.
const SHORT: usize = 3;

/// What is done to an instance.
#[derive(Clone, Copy, Debug)]
enum Stroke {
    Kill,
    Stop,
    DropRun,
}

/// What becomes of the request that it is struck at.
#[derive(Clone, Copy, Debug)]
enum Arrival {
    /// It never arrives.
    Never,
    /// It arrives; the answer comes after the stroke.
    Struck,
    /// It was answered before the stroke.
    Answered,
    /// It arrives when the successor has finished.
    Late,
}

const ARRIVALS: [Arrival; 4] = [Arrival::Never, Arrival::Struck, Arrival::Answered, Arrival::Late];

impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "before it arrives",
            Self::Struck => "before its answer",
            Self::Answered => "after its answer",
            Self::Late => "and it arrives late",
        })
    }
}

pub(super) async fn kill(world: Arc<World>, extent: Extent) -> Result<Tally> {
    strike_all(world, extent, Stroke::Kill, 1).await
}

pub(super) async fn stop(world: Arc<World>, extent: Extent) -> Result<Tally> {
    strike_all(world, extent, Stroke::Stop, 2).await
}

pub(super) async fn dropped(world: Arc<World>, extent: Extent) -> Result<Tally> {
    const EVERY: usize = 4;
    let requests = requests(&world).await?;
    let mut dice = Dice::new(world.seed, 13);
    let first = dice.below(EVERY);
    let at: Vec<_> = (first..requests).step_by(EVERY).collect();
    let at = if extent == Extent::Short { dice.some(&at, 1) } else { at };
    Tally::of_all(
        &world,
        at.into_iter().map(|at| {
            let arrival = ARRIVALS[dice.below(ARRIVALS.len())];
            (format!("request {at}"), strike(Arc::clone(&world), at, Stroke::DropRun, arrival))
        }),
    )
    .await
}

/// Strikes at each request, with an arrival that the seed and the number say.
async fn strike_all(world: Arc<World>, extent: Extent, stroke: Stroke, number: u64) -> Result<Tally> {
    let requests = requests(&world).await?;
    let mut dice = Dice::new(world.seed, number);
    let all: Vec<_> = (0..requests).map(|at| (at, ARRIVALS[dice.below(ARRIVALS.len())])).collect();
    let chosen = if extent == Extent::Short { dice.some(&all, SHORT) } else { all };
    Tally::of_all(
        &world,
        chosen.into_iter().map(|(at, arrival)| {
            (format!("request {at} {arrival}"), strike(Arc::clone(&world), at, stroke, arrival))
        }),
    )
    .await
}

/// How many requests a run makes.
async fn requests(world: &Arc<World>) -> Result<usize> {
    let scene = Scene::new(world, "count").await?;
    let lane = scene.lane().await?;
    let counter = lane.count(Pattern::of_keyspace(&scene.keyspace));
    let process = scene.start_in(&lane, "a", Image::Base)?;
    scene.ended(process).await?;
    scene.end().await;
    Ok(counter.get())
}

async fn strike(world: Arc<World>, at: usize, stroke: Stroke, arrival: Arrival) -> Result<Tally> {
    let scene = Scene::new(&world, "strike").await?;
    let lane = scene.lane().await?;
    let gate = Gate::default();
    let fate = match arrival {
        Arrival::Answered => Fate::AnswerHeld(gate.clone()),
        _ => Fate::Held(gate.clone()),
    };
    lane.add(Rule::new(Pattern::of_keyspace(&scene.keyspace), fate).after(at));
    let drop_on_line = matches!(stroke, Stroke::DropRun);
    let start = Start { lane: Some(&lane), drop_on_line, ..Start::default() };
    let mut process = scene.start("struck", Image::Base, start)?;

    let reached = tokio::select! {
        request = gate.reached() => Some(request),
        // Runs differ by a few requests.
        () = process.gone() => None,
    };
    let Some(request) = reached else {
        scene.ended(process).await?;
        return Ok(Tally::of("ended before that request", scene.close(&Image::Base.spec()).await?));
    };
    // An operator who decides on a step in doubt has waited until nothing of it can land any more.
    let is_once = request.opcode == Opcode::Execute && request.text.contains("'notify'");
    let arrival = if is_once && matches!(arrival, Arrival::Late) { Arrival::Struck } else { arrival };
    strike_now(stroke, &mut process).await?;
    match arrival {
        Arrival::Never => gate.open(Verdict::Drop),
        Arrival::Answered => gate.open(Verdict::Pass),
        Arrival::Struck => pass(&gate).await?,
        Arrival::Late => {}
    }
    let mut wrong = scene.finish(Image::Base).await?;
    if matches!(arrival, Arrival::Late) {
        pass(&gate).await?;
    }
    process.resume()?;
    scene.ended(process).await?;
    wrong.extend(scene.close(&Image::Base.spec()).await?);
    let excerpt: String = request.text.chars().filter(|char| !char.is_control()).take(60).collect();
    let wrong = wrong.into_iter().map(|line| format!("at request {at} {excerpt}: {line}"));
    Ok(Tally::of(arrival.to_string(), wrong.collect()))
}

async fn strike_now(stroke: Stroke, process: &mut Process) -> Result<()> {
    match stroke {
        Stroke::Kill => process.kill(),
        Stroke::Stop => process.stop(),
        Stroke::DropRun => process.drop_run().await,
    }
}

/// Lets a request arrive, and waits until the node has answered it.
async fn pass(gate: &Gate) -> Result<()> {
    gate.open(Verdict::Pass);
    within(REACH_SECS_MAX, "the answer to a request that was held", gate.answered()).await
}
