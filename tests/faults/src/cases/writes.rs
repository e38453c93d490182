//! Each kind of conditional write, and what can become of it and of its answer.

use std::sync::Arc;

use super::{Extent, Tally};
use crate::dice::Dice;
use crate::plans::Image;
use crate::relay::{Fate, Gate, Lane, Pattern, Refusal, Rule, Verdict};
use crate::scene::{Scene, Start};
use crate::times::REACH_SECS_MAX;
use crate::trouble::{Result, within};
use crate::world::World;

const SHORT: usize = 5;

/// A kind of conditional write: its name, what it says, and a set of migrations that has it.
const KINDS: [(&str, &str, Image); 8] = [
    ("ACQUIRE", "acquired", Image::Base),
    ("INTENT", "claimed 1 ", Image::Base),
    ("DONE", "done 1/1", Image::Base),
    ("DONE of a data step", "done 2/1", Image::Base),
    ("COMPLETE", "completed 2", Image::Base),
    ("RELEASE", "released", Image::Base),
    ("FAIL", "failed 2/2", Image::Failing),
    ("RENEW", "", Image::Slow),
];

/// What becomes of it.
#[derive(Clone, Debug)]
enum Case {
    Once(&'static str, Fate),
    /// It arrives when another run has taken over.
    Late,
}

fn cases() -> Vec<Case> {
    let once = |name, fate| Case::Once(name, fate);
    vec![
        once("applied, its answer lost", Fate::AnswerLost),
        once("lost", Fate::Lost),
        once("doubled", Fate::Twice),
        once("applied, the connection cut", Fate::Cut),
        once("applied, answered with a timeout", Fate::ArrivesBut(Refusal::CasWriteTimeout)),
        once("not applied, answered with a timeout", Fate::Refused(Refusal::CasWriteTimeout)),
        once("applied, answered with a read timeout", Fate::ArrivesBut(Refusal::ReadTimeout)),
        once("applied, answered with Unavailable", Fate::ArrivesBut(Refusal::Unavailable)),
        once("not applied, answered with Unavailable", Fate::Refused(Refusal::Unavailable)),
        once("not applied, answered with Overloaded", Fate::Refused(Refusal::Overloaded)),
        Case::Late,
    ]
}

pub(super) async fn all(world: Arc<World>, extent: Extent) -> Result<Tally> {
    let mut dice = Dice::new(world.seed, 3);
    let all: Vec<_> =
        KINDS.iter().flat_map(|kind| cases().into_iter().map(move |case| (*kind, case))).collect();
    let chosen = if extent == Extent::Short { dice.some(&all, SHORT) } else { all };
    Tally::of_all(
        &world,
        chosen.into_iter().map(|(kind, case)| {
            let name = format!("{} {case:?}", kind.0);
            (name, play(Arc::clone(&world), kind, case))
        }),
    )
    .await
}

async fn play(
    world: Arc<World>,
    (kind, text, image): (&'static str, &'static str, Image),
    case: Case,
) -> Result<Tally> {
    let scene = Scene::new(&world, "write").await?;
    let lane = scene.lane().await?;
    let pattern = if text.is_empty() { Pattern::renewal() } else { Pattern::write(text) };
    let (name, mut wrong) = match case {
        Case::Once(name, fate) => {
            lane.rule(pattern, fate);
            (name, once(&scene, &lane, image).await?)
        }
        Case::Late => ("applied late", late(&scene, &lane, image, pattern).await?),
    };
    wrong.extend(scene.close(&image.spec()).await?);
    let wrong = wrong.into_iter().map(|line| format!("{kind}: {line}")).collect();
    Ok(Tally::of(name, wrong))
}

/// One instance meets it, another one waits beside it.
async fn once(scene: &Scene, lane: &Lane, image: Image) -> Result<Vec<String>> {
    let struck = scene.start_in(lane, "struck", image)?;
    let other = scene.start("other", image, Start::default())?;
    scene.ended(struck).await?;
    scene.ended(other).await?;
    if image == Image::Failing { Ok(Vec::new()) } else { scene.finish(image).await }
}

/// The write is on its way until another instance has taken over and ended; so are all that its sender re-issues.
async fn late(scene: &Scene, lane: &Lane, image: Image, pattern: Pattern) -> Result<Vec<String>> {
    let gate = Gate::default();
    lane.rule(pattern, Fate::Held(gate.clone()));
    let struck = scene.start_in(lane, "struck", image)?;
    within(REACH_SECS_MAX, "a conditional write", gate.reached()).await?;
    lane.add(Rule::new(Pattern::write(""), Fate::Lost).always());
    let wrong = if image == Image::Failing {
        let other = scene.start("other", image, Start::default())?;
        scene.ended(other).await?;
        Vec::new()
    } else {
        scene.finish(image).await?
    };
    gate.open(Verdict::Pass);
    within(REACH_SECS_MAX, "the answer to the late write", gate.answered()).await?;
    lane.clear();
    scene.ended(struck).await?;
    Ok(wrong)
}
