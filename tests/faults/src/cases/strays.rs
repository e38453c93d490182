//! Writes of a plan that land after the application has written the same cells.

use std::sync::Arc;

use super::{Extent, Tally};
use crate::plans::Image;
use crate::relay::{Fate, Gate, Pattern, Verdict};
use crate::scene::Scene;
use crate::times::REACH_SECS_MAX;
use crate::trouble::{Result, within};
use crate::world::World;

/// When the application writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// After the first attempt was sent and before the second one is.
    BeforeTheRerun,
    /// After the version was completed.
    AfterTheEnd,
}

pub(super) async fn all(world: Arc<World>, extent: Extent) -> Result<Tally> {
    let repeats = if extent == Extent::Short { 1 } else { 3 };
    let scenes = [When::BeforeTheRerun, When::AfterTheEnd].into_iter().flat_map(|when| {
        let world = Arc::clone(&world);
        (0..repeats).map(move |_| (format!("{when:?}"), play(Arc::clone(&world), when)))
    });
    Tally::of_all(&world, scenes).await
}

async fn play(world: Arc<World>, when: When) -> Result<Tally> {
    let scene = Scene::new(&world, "stray").await?;
    let lane = scene.lane().await?;
    let gate = Gate::default();
    lane.rule(Pattern::statement(".items (id, name) VALUES"), Fate::Held(gate.clone()));
    let struck = scene.start_in(&lane, "struck", Image::Base)?;
    within(REACH_SECS_MAX, "the INSERT", gate.reached()).await?;
    struck.kill()?;
    if when == When::BeforeTheRerun {
        scene.write_item(1, "the application's").await?;
    }
    let mut wrong = scene.finish(Image::Base).await?;
    if when == When::AfterTheEnd {
        scene.write_item(1, "the application's").await?;
    }
    gate.open(Verdict::Pass);
    within(REACH_SECS_MAX, "the answer to the late INSERT", gate.answered()).await?;
    scene.ended(struck).await?;
    wrong.extend(scene.close(&Image::Base.spec()).await?);
    let what = match when {
        When::BeforeTheRerun => "written before the rerun",
        When::AfterTheEnd => "written after the end",
    };
    Ok(Tally::of(what, wrong))
}
