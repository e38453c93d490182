//! Nodes that stand still or die.

use std::sync::Arc;
use std::time::Duration;

use super::{Extent, Tally};
use crate::plans::Image;
use crate::relay::{Fate, Gate, Pattern, Verdict};
use crate::scene::{Scene, Start};
use crate::times::REACH_SECS_MAX;
use crate::trouble::{Result, within};
use crate::world::World;

const NODES: [u8; 3] = [1, 2, 3];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    Pause,
    Kill,
}

/// Two of three nodes are lost while a conditional write is on its way to the third one.
pub(super) async fn quorum(world: Arc<World>, _: Extent) -> Result<Tally> {
    let mut tally = Tally::default();
    for (kind, text) in [("ACQUIRE", "acquired"), ("DONE", "done 1/1")] {
        for loss in [Loss::Pause, Loss::Kill] {
            tally.add(lose_quorum(&world, kind, text, loss).await?);
        }
    }
    Ok(tally)
}

async fn lose_quorum(world: &Arc<World>, kind: &str, text: &'static str, loss: Loss) -> Result<Tally> {
    let scene = Scene::new(world, "quorum").await?;
    let lane = scene.lane().await?;
    let gate = Gate::default();
    lane.rule(Pattern::write(text), Fate::Held(gate.clone()));
    let struck = scene.start_in(&lane, "struck", Image::Base)?;
    let request = within(REACH_SECS_MAX, "a conditional write", gate.reached()).await?;
    let others = || NODES.into_iter().filter(|node| *node != request.node);
    for node in others() {
        match loss {
            Loss::Pause => world.node(node, |node| node.pause())?,
            Loss::Kill => world.node(node, |node| node.kill())?,
        }
    }
    gate.open(Verdict::Pass);
    let answered = within(REACH_SECS_MAX, "an answer without a quorum", gate.answered()).await;
    for node in others() {
        match loss {
            Loss::Pause => world.node(node, |node| node.resume())?,
            // Waits for those that run, and they for it.
            Loss::Kill => world.node(node, |node| node.start())?,
        }
    }
    world.await_serving()?;
    answered?;
    scene.ended(struck).await?;
    let mut wrong = scene.finish(Image::Base).await?;
    wrong.extend(scene.close(&Image::Base.spec()).await?);
    Ok(Tally::of(format!("{kind}, {loss:?}"), wrong))
}

/// A node that was down when the keyspace was dropped brings nothing of the old one back.
pub(super) async fn recreated(world: Arc<World>, _: Extent) -> Result<Tally> {
    const DOWN: u8 = 3;
    let old = Scene::new(&world, "again").await?;
    let mut wrong = old.finish(Image::Base).await?;
    old.write_item(7, "of the old keyspace").await?;
    let ids_before = old.record().await?.tables;
    world.node(DOWN, |node| node.kill())?;
    old.forget_executions().await?;
    let keyspace = old.keyspace.clone();
    world.schema(&format!("DROP KEYSPACE IF EXISTS {keyspace}")).await?;
    let new = Scene::in_keyspace(&world, keyspace).await?;
    wrong.extend(new.finish(Image::Base).await?);
    new.write_item(8, "of the new keyspace").await?;
    world.node(DOWN, |node| node.start())?;
    world.await_serving()?;
    let record = new.record().await?;
    if record.items.contains_key(&7) {
        wrong.push("a row of the old keyspace is back".to_owned());
    }
    let ledger = kandra_migrate::LEDGER_TABLE;
    if record.tables.get(ledger) == ids_before.get(ledger) {
        wrong.push("the ledger of the new keyspace has the id of the old one's".to_owned());
    }
    wrong.extend(new.finish(Image::Base).await?);
    wrong.extend(new.close(&Image::Base.spec()).await?);
    Ok(Tally::of("dropped and made anew", wrong))
}

/// What becomes of the run whose statement is in the coordinator that stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    Lives,
    Killed,
}

pub(super) async fn stopped_coordinator(world: Arc<World>, _: Extent) -> Result<Tally> {
    let mut tally = Tally::default();
    for sender in [Sender::Killed, Sender::Lives] {
        tally.add(stop_coordinator(&world, sender).await?);
    }
    Ok(tally)
}

async fn stop_coordinator(world: &Arc<World>, sender: Sender) -> Result<Tally> {
    const ROWS: std::ops::Range<i32> = 100..120;
    /// Session, takeover, drain and agreement, each with a node that says nothing.
    const SUCCESSOR_SECS_MAX: u64 = 240;
    let scene = Scene::new(world, "stopped").await?;
    let lane = scene.lane().await?;
    let gate = Gate::default();
    lane.rule(Pattern::statement("CREATE TABLE"), Fate::Held(gate.clone()));
    let struck = scene.start_in(&lane, "struck", Image::Base)?;
    let request = within(REACH_SECS_MAX, "CREATE TABLE", gate.reached()).await?;
    world.node(request.node, |node| node.pause())?;
    gate.open(Verdict::Pass);
    if sender == Sender::Killed {
        struck.kill()?;
    }
    // Whoever comes first: the successor, or the sender itself, which no longer waits for its coordinator.
    let successor = scene.start("successor", Image::Base, Start::default())?;
    let ended = scene.ended_within(successor, SUCCESSOR_SECS_MAX).await;
    let written = match &ended {
        Ok(ended) if ended.first().is_some_and(crate::check::Ended::is_ok) => {
            let mut written = Ok(());
            for id in ROWS {
                written = written.and(scene.write_item(id, "the application's").await);
            }
            written
        }
        _ => Ok(()),
    };
    world.node(request.node, |node| node.resume())?;
    world.await_serving()?;
    // The statement that was stuck lands before the node answers a fresh connection; its peers hear of it a little later.
    within(REACH_SECS_MAX, "the answer of the coordinator", gate.answered()).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    world.await_serving()?;
    written?;
    let mut wrong = Vec::new();
    for ended in ended?.iter().filter(|ended| !ended.is_ok()) {
        wrong.push(format!("while the coordinator stood still, the successor ended with {}", ended.text));
    }
    scene.ended(struck).await?;
    wrong.extend(scene.finish(Image::Base).await?);
    wrong.extend(scene.close(&Image::Base.spec()).await?);
    Ok(Tally::of(format!("the sender {sender:?}"), wrong))
}
