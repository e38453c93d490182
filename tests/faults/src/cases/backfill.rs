//! A backfill, while an application writes to the same rows.

use std::sync::Arc;
use std::time::Duration;

use super::{Extent, Tally};
use crate::dice::Dice;
use crate::people::People;
use crate::plans::Image;
use crate::relay::Pattern;
use crate::scene::{Scene, Start};
use crate::times::STATEMENT_TIMEOUT;
use crate::trouble::Result;
use crate::world::World;

/// Ranges that the image's backfill works on at once.
const WORKERS: usize = 4;

/// Killed again and again, at moments that the seed says.
pub(super) async fn killed(world: Arc<World>, _: Extent) -> Result<Tally> {
    const KILLS: usize = 10;
    const ROWS: i32 = 30_000;
    const WORKS_MS_MAX: usize = 2500;
    let mut dice = Dice::new(world.seed, 23);
    let scene = Arc::new(Scene::new(&world, "killed").await?);
    let people = People::create(&scene, ROWS).await?;
    let application = people.application();
    let mut wrong = Vec::new();
    let mut epoch = 0;
    for kill in 0..KILLS {
        let process = scene.start(&format!("killed{kill}"), Image::Backfill, Start::default())?;
        epoch = people.held_after(epoch).await?;
        // Three attempts in a row that come to nothing would rightly be the last.
        if kill % 2 == 1 {
            people.getting_on().await?;
        }
        tokio::time::sleep(Duration::from_millis(dice.below(WORKS_MS_MAX) as u64)).await;
        if people.is_filled().await {
            wrong.push(format!("the backfill was over before kill {}", kill + 1));
        }
        process.kill()?;
        scene.ended(process).await?;
    }
    wrong.extend(scene.finish(Image::Backfill).await?);
    wrong.extend(people.judge(application).await?);
    drop(people);
    wrong.extend(close(scene).await?);
    Ok(Tally::of(format!("{KILLS} kills of its instance"), wrong))
}

/// What happens to a node meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// It is killed, and started again once the backfill has got on without it.
    Killed,
    /// It stands still for 5 s.
    Paused,
}

/// With three nodes, a backfill gets on without one.
pub(super) async fn nodes(world: Arc<World>, _: Extent) -> Result<Tally> {
    let mut tally = Tally::default();
    for loss in [Loss::Killed, Loss::Paused] {
        tally.add(lose_node(&world, loss).await?);
    }
    Ok(tally)
}

async fn lose_node(world: &Arc<World>, loss: Loss) -> Result<Tally> {
    const NODE: u8 = 2;
    const ROWS: i32 = 20_000;
    const PAUSE: Duration = Duration::from_secs(5);
    let scene = Arc::new(Scene::new(world, "node").await?);
    let people = People::create(&scene, ROWS).await?;
    let application = people.application();
    let process = scene.start("filler", Image::Backfill, Start::default())?;
    people.held_after(0).await?;
    people.getting_on().await?;
    match loss {
        Loss::Killed => {
            world.node(NODE, |node| node.kill())?;
            let got_on = people.getting_on().await;
            world.node(NODE, |node| node.start())?;
            got_on?;
        }
        Loss::Paused => {
            world.node(NODE, |node| node.pause())?;
            tokio::time::sleep(PAUSE).await;
            world.node(NODE, |node| node.resume())?;
        }
    }
    let mut wrong = Vec::new();
    if people.is_filled().await {
        wrong.push("the backfill was over before the node was back".to_owned());
    }
    let ended = scene.ended(process).await?;
    wrong.extend(ended.iter().filter(|ended| !ended.is_ok()).map(|ended| ended.text.clone()));
    world.await_serving()?;
    wrong.extend(people.judge(application).await?);
    drop(people);
    wrong.extend(close(scene).await?);
    Ok(Tally::of(format!("a node {loss:?}"), wrong))
}

/// The holder stands still for longer than its lease, another one takes over, and the first goes on.
pub(super) async fn lease_lost(world: Arc<World>, _: Extent) -> Result<Tally> {
    const ROWS: i32 = 20_000;
    let scene = Arc::new(Scene::new(&world, "lost").await?);
    let people = People::create(&scene, ROWS).await?;
    let application = people.application();
    let lane = scene.lane().await?;
    let updates = lane.count(Pattern::statement("people SET first_name"));
    let first = scene.start("first", Image::Backfill, Start { lane: Some(&lane), ..Start::default() })?;
    let epoch = people.held_after(0).await?;
    people.getting_on().await?;
    first.stop()?;
    let second = scene.start("second", Image::Backfill, Start::default())?;
    people.held_after(epoch).await?;
    people.getting_on().await?;
    let before = updates.get();
    first.resume()?;
    tokio::time::sleep(STATEMENT_TIMEOUT).await;
    let after = updates.get();
    let mut wrong = Vec::new();
    if people.is_filled().await {
        wrong.push("the backfill was over before the first instance could go on with it".to_owned());
    }
    // What it was about to send when it was stopped is all that it may send.
    if after > before + WORKERS {
        wrong.push(format!("without its lease the first instance sent {} updates", after - before));
    }
    for process in [second, first] {
        let ended = scene.ended(process).await?;
        wrong.extend(ended.iter().filter(|ended| !ended.is_ok()).map(|ended| ended.text.clone()));
    }
    if updates.get() != after {
        wrong.push(format!("later it sent {} updates more", updates.get() - after));
    }
    wrong.extend(people.judge(application).await?);
    drop(people);
    wrong.extend(close(scene).await?);
    Ok(Tally::of("stopped, taken over, resumed", wrong))
}

async fn close(scene: Arc<Scene>) -> Result<Vec<String>> {
    let wrong = scene.judge(&Image::Backfill.spec()).await?;
    if let (true, Some(scene)) = (wrong.is_empty(), Arc::into_inner(scene)) {
        scene.end().await;
    }
    Ok(wrong)
}
