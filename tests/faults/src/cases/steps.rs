//! Each kind of statement of a plan, and what can become of it and of its answer.

use std::sync::Arc;

use super::{Extent, Tally};
use crate::dice::Dice;
use crate::plans::Image;
use crate::relay::{Fate, Gate, Lane, Pattern, Refusal, Rule, Verdict};
use crate::scene::Scene;
use crate::times::REACH_SECS_MAX;
use crate::trouble::{Result, within};
use crate::world::World;

const SHORT: usize = 5;

/// A kind of statement, and the text that it has and no other one.
const KINDS: [(&str, &str); 5] = [
    ("CREATE TABLE", "CREATE TABLE"),
    ("ALTER TABLE", "ALTER TABLE"),
    ("CREATE INDEX", "CREATE INDEX"),
    ("INSERT", ".items (id, name) VALUES"),
    ("a statement of a code task", "'price items'"),
];

/// What becomes of it.
#[derive(Clone, Debug)]
enum Case {
    Once(&'static str, Fate),
    /// It arrives when another run has finished.
    Late,
}

fn cases() -> Vec<Case> {
    let once = |name, fate| Case::Once(name, fate);
    vec![
        once("landed, its answer lost", Fate::AnswerLost),
        once("lost", Fate::Lost),
        once("doubled", Fate::Twice),
        once("landed, the connection cut", Fate::Cut),
        once("landed, answered with Overloaded", Fate::ArrivesBut(Refusal::Overloaded)),
        once("landed, answered with a timeout", Fate::ArrivesBut(Refusal::CasWriteTimeout)),
        once("landed, answered with a concurrent modification", Fate::ArrivesBut(Refusal::GroupZero)),
        once("not landed, answered with a concurrent modification", Fate::Refused(Refusal::GroupZero)),
        once("not landed, answered with Unavailable", Fate::Refused(Refusal::Unavailable)),
        once("landed, answered with AlreadyExists", Fate::ArrivesBut(Refusal::AlreadyExists)),
        Case::Late,
    ]
}

pub(super) async fn all(world: Arc<World>, extent: Extent) -> Result<Tally> {
    let mut dice = Dice::new(world.seed, 4);
    let all: Vec<_> = KINDS
        .iter()
        .flat_map(|kind| cases().into_iter().map(move |case| (*kind, case)))
        .filter(|(kind, case)| is_possible(kind.0, case))
        .collect();
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

/// Only tables are said to exist already.
fn is_possible(kind: &str, case: &Case) -> bool {
    let exists = matches!(case, Case::Once(_, Fate::ArrivesBut(Refusal::AlreadyExists)));
    !exists || kind == "CREATE TABLE"
}

async fn play(world: Arc<World>, (kind, text): (&'static str, &'static str), case: Case) -> Result<Tally> {
    let scene = Scene::new(&world, "step").await?;
    let lane = scene.lane().await?;
    let statement = Pattern::statement(text);
    let (name, mut wrong) = match case {
        Case::Once(name, fate) => {
            lane.rule(statement, fate);
            let struck = scene.start_in(&lane, "struck", Image::Base)?;
            scene.ended(struck).await?;
            (name, scene.finish(Image::Base).await?)
        }
        Case::Late => ("landed late", late(&scene, &lane, statement).await?),
    };
    wrong.extend(scene.close(&Image::Base.spec()).await?);
    let wrong = wrong.into_iter().map(|line| format!("{kind}: {line}")).collect();
    Ok(Tally::of(name, wrong))
}

/// The statement is on its way, and its sender gone, until another instance has finished.
async fn late(scene: &Scene, lane: &Lane, statement: Pattern) -> Result<Vec<String>> {
    let gate = Gate::default();
    lane.rule(statement, Fate::Held(gate.clone()));
    let struck = scene.start_in(lane, "struck", Image::Base)?;
    within(REACH_SECS_MAX, "a statement", gate.reached()).await?;
    lane.add(Rule::new(Pattern::write(""), Fate::Lost).always());
    let wrong = scene.finish(Image::Base).await?;
    gate.open(Verdict::Pass);
    within(REACH_SECS_MAX, "the answer to the late statement", gate.answered()).await?;
    lane.clear();
    scene.ended(struck).await?;
    Ok(wrong)
}
