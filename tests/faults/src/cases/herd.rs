//! Many instances at once, and instances that do not live long.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use kandra_migrate::Code;

use super::{Extent, Tally};
use crate::plans::Image;
use crate::process::Process;
use crate::record;
use crate::relay::{Counter, Fate, Gate, Lane, Pattern, Rule, Verdict};
use crate::scene::{Scene, Start};
use crate::times::{HEARTBEAT, LEASE, REACH_SECS_MAX};
use crate::trouble::{Result, within};
use crate::world::World;

/// Processes that the instances of a herd are in.
const PROCESSES: usize = 5;
const JITTER_MS: u64 = 1000;

/// A herd: how many, and how many attempts at the lease may be lost.
const HERDS: [(usize, usize); 2] = [(100, 10), (500, 25)];

pub(super) async fn starts(world: Arc<World>, extent: Extent) -> Result<Tally> {
    let herds = if extent == Extent::Short { &HERDS[..1] } else { &HERDS[..] };
    let mut tally = Tally::default();
    for (count, lost_max) in herds {
        // One after the other: a herd has the machine to itself.
        // How many lose depends on how long a conditional write takes: the short set runs on busy machines.
        let lost_max = if extent == Extent::Short { *count } else { *lost_max };
        tally.add(start_herd(&world, *count, lost_max).await?);
    }
    Ok(tally)
}

fn herd(scene: &Scene, lane: &Lane, count: usize, image: Image) -> Result<Vec<Process>> {
    let start = Start { lane: Some(lane), runs: count / PROCESSES, jitter_ms: JITTER_MS, ..Start::default() };
    (0..PROCESSES).map(|n| scene.start(&format!("herd{n}"), image, start)).collect()
}

fn attempts(lane: &Lane) -> (Counter, Counter) {
    (lane.count(Pattern::write("'acquired")), lane.count(Pattern::write("'taken over from")))
}

async fn start_herd(world: &Arc<World>, count: usize, lost_max: usize) -> Result<Tally> {
    let scene = Scene::new(world, "herd").await?;
    let lane = scene.lane().await?;
    let (free, lapsed) = attempts(&lane);
    let mut wrong = Vec::new();
    let herd_now = herd(&scene, &lane, count, Image::Base)?;
    let mut ids = BTreeSet::new();
    tokio::select! {
        ended = all_end(&scene, herd_now) => wrong.extend(ended?),
        never = watch_ids(&scene, &mut ids) => match never {},
    }
    if ids.len() != 1 {
        wrong.push(format!("the ledger's table had these ids: {ids:?}"));
    }
    let epochs = scene.record().await?.head.map_or(0, |head| head.epoch);
    let attempts = free.get() + lapsed.get();
    let lost = attempts.saturating_sub(usize::try_from(epochs).unwrap_or_default());
    if lost > lost_max {
        wrong.push(format!("{attempts} attempts at the lease, {lost} of them lost: more than {lost_max}"));
    }
    let mut tally = Tally::of(format!("{count} starts on an empty ledger ({lost} attempts lost)"), wrong);

    let herd_again = herd(&scene, &lane, count, Image::Base)?;
    let mut wrong = all_end(&scene, herd_again).await?;
    let more = free.get() + lapsed.get() - attempts;
    if more > 0 {
        wrong.push(format!("{more} attempts at the lease with nothing to do"));
    }
    wrong.extend(scene.close(&Image::Base.spec()).await?);
    tally.add(Tally::of(format!("{count} starts on a full one"), wrong));
    Ok(tally)
}

async fn all_end(scene: &Scene, herd: Vec<Process>) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for process in herd {
        let ended = scene.ended(process).await?;
        wrong.extend(
            ended.iter().filter(|ended| !ended.is_ok()).map(|ended| format!("{} {}", ended.run, ended.text)),
        );
    }
    Ok(wrong)
}

/// Whatever ids the ledger's table has on any node until all of the herd has ended.
async fn watch_ids(scene: &Scene, ids: &mut BTreeSet<uuid::Uuid>) -> Infallible {
    loop {
        // A node that has too much to do is asked again.
        if let Ok(found) =
            record::table_ids(&scene.world, &scene.keyspace, kandra_migrate::LEDGER_TABLE).await
        {
            ids.extend(found);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The step fails on whoever runs it: the others are told, the claim is gone, the events stay.
pub(super) async fn failing(world: Arc<World>, _: Extent) -> Result<Tally> {
    const COUNT: usize = 100;
    const FAILURES_MAX: usize = 5;
    let scene = Scene::new(&world, "failing").await?;
    let lane = scene.lane().await?;
    let (free, lapsed) = attempts(&lane);
    let mut wrong = Vec::new();
    let codes = [Code::StepFailed, Code::FailedElsewhere, Code::BackingOff].map(Code::as_str);
    for process in herd(&scene, &lane, COUNT, Image::Failing)? {
        for ended in scene.ended(process).await? {
            if !ended.code.as_deref().is_some_and(|code| codes.contains(&code)) {
                wrong.push(format!("{} was told {:?}: {}", ended.run, ended.code, ended.text));
            }
        }
    }
    let record = scene.record().await?;
    if record.versions.contains_key(&2) {
        wrong.push("the claim of the failed version is still there".to_owned());
    }
    let failures = record.events.iter().filter(|event| event.text.contains("failed 2/2")).count();
    let attempts = free.get() + lapsed.get();
    if !(1..=FAILURES_MAX).contains(&failures) {
        wrong.push(format!("{COUNT} instances made the step fail {failures} times"));
    }
    wrong.extend(scene.close(&Image::Failing.spec()).await?);
    Ok(Tally::of(format!("{COUNT} instances ({failures} failures, {attempts} attempts at the lease)"), wrong))
}

/// Old and new images start together; then the old one starts after the new one.
pub(super) async fn mixed(world: Arc<World>, _: Extent) -> Result<Tally> {
    let scene = Scene::new(&world, "mixed").await?;
    let images = [Image::Older, Image::Base, Image::Older, Image::Base];
    let start = Start { runs: 3, jitter_ms: JITTER_MS, ..Start::default() };
    let processes = (0..).zip(images).map(|(n, image)| scene.start(&format!("{image:?}{n}"), image, start));
    let processes: Vec<_> = processes.collect::<Result<_>>()?;
    let mut wrong = all_end(&scene, processes).await?;
    let rolled_back = scene.start("rolled-back", Image::Older, Start::default())?;
    wrong.extend(all_end(&scene, vec![rolled_back]).await?);
    wrong.extend(scene.close(&Image::Base.spec()).await?);
    Ok(Tally::of("12 instances of two images", wrong))
}

/// Two groups of instances, one of them behind slow coordinators.
pub(super) async fn skewed(world: Arc<World>, extent: Extent) -> Result<Tally> {
    let delays: &[u64] = if extent == Extent::Short { &[300] } else { &[100, 300, 700] };
    let scenes =
        delays.iter().map(|ms| (format!("{ms} ms"), skew(Arc::clone(&world), Duration::from_millis(*ms))));
    Tally::of_all(&world, scenes).await
}

async fn skew(world: Arc<World>, delay: Duration) -> Result<Tally> {
    let scene = Scene::new(&world, "skew").await?;
    let (slow, fast) = (scene.lane().await?, scene.lane().await?);
    slow.delay(delay);
    let start = |lane| Start { lane: Some(lane), runs: 4, jitter_ms: JITTER_MS, ..Start::default() };
    let processes = vec![
        scene.start("slow", Image::Base, start(&slow))?,
        scene.start("fast", Image::Base, start(&fast))?,
    ];
    let mut wrong = Vec::new();
    for process in processes {
        // A slow one may give up; what counts is that nobody is told what is not so.
        scene.ended(process).await?;
    }
    slow.delay(Duration::ZERO);
    wrong.extend(scene.finish(Image::Base).await?);
    wrong.extend(scene.close(&Image::Base.spec()).await?);
    Ok(Tally::of(format!("{} ms a way", delay.as_millis()), wrong))
}

/// No instance lives for a whole lease, and one takes over all the same.
pub(super) async fn restarts(world: Arc<World>, _: Extent) -> Result<Tally> {
    let scene = Scene::new(&world, "restarts").await?;
    let lane = scene.lane().await?;
    let gate = Gate::default();
    lane.rule(Pattern::write("done 1/1"), Fate::Held(gate.clone()));
    let first = scene.start_in(&lane, "first", Image::Base)?;
    within(REACH_SECS_MAX, "the first step", gate.reached()).await?;
    first.kill()?;
    gate.open(Verdict::Drop);
    // Long enough to start and to see three heartbeats missing.
    let life = LEASE.saturating_sub(HEARTBEAT / 4);
    let lives_max = 40;
    let mut lives = 0;
    let mut wrong = Vec::new();
    loop {
        let process = scene.start(&format!("life{lives}"), Image::Base, Start::default())?;
        tokio::time::sleep(life).await;
        if scene.record().await?.head.is_some_and(|head| head.epoch > 1) {
            scene.ended(process).await?;
            break;
        }
        process.kill()?;
        scene.ended(process).await?;
        lives += 1;
        if lives == lives_max {
            wrong.push(format!("{lives} instances in a row, none of which took over"));
            break;
        }
    }
    wrong.extend(scene.finish(Image::Base).await?);
    wrong.extend(scene.close(&Image::Base.spec()).await?);
    Ok(Tally::of(format!("{lives} instances of {life:?}, then a takeover"), wrong))
}

/// A step kills its process three times; then it is PAUSED, and an edited image goes on by itself.
pub(super) async fn poison(world: Arc<World>, _: Extent) -> Result<Tally> {
    const ATTEMPTS: usize = 3;
    let scene = Scene::new(&world, "poison").await?;
    let mut wrong = Vec::new();
    for n in 0..ATTEMPTS {
        let victim = scene.start(&format!("victim{n}"), Image::Poisoned, Start::default())?;
        if !scene.ended(victim).await?.is_empty() {
            wrong.push(format!("victim {n} did not die"));
        }
    }
    let start = Start { runs: 3, ..Start::default() };
    let watchers =
        [scene.start("watchers", Image::Poisoned, start)?, scene.start("more", Image::Poisoned, start)?];
    for process in watchers {
        for ended in scene.ended(process).await? {
            if ended.code.as_deref() != Some(Code::Paused.as_str()) {
                wrong.push(format!("{} was told {:?}: {}", ended.run, ended.code, ended.text));
            }
        }
    }
    let executed = scene.record().await?.executions.get("poison").map_or(0, BTreeSet::len);
    if executed != ATTEMPTS {
        wrong.push(format!("the step was executed {executed} times before it was left alone"));
    }
    wrong.extend(scene.finish(Image::Repaired).await?);
    wrong.extend(scene.close(&Image::Repaired.spec()).await?);
    Ok(Tally::of("poison, PAUSED, repaired", wrong))
}

/// A holder that renews is waited for, however long its step hangs, and ends it by itself.
pub(super) async fn hanging(world: Arc<World>, _: Extent) -> Result<Tally> {
    let scene = Scene::new(&world, "hanging").await?;
    let lane = scene.lane().await?;
    let renewals = lane.count(Pattern::renewal());
    let gate = Gate::default();
    lane.add(Rule::new(Pattern::statement("'hangs'"), Fate::AnswerHeld(gate.clone())));
    let holder = scene.start_in(&lane, "holder", Image::Hanging)?;
    within(REACH_SECS_MAX, "the hanging step", gate.reached()).await?;
    gate.open(Verdict::Pass);
    let watcher = scene.start("watcher", Image::Hanging, Start { runs: 3, ..Start::default() })?;
    let mut wrong = Vec::new();
    for process in [holder, watcher] {
        for ended in scene.ended(process).await? {
            if ended.code.as_deref() != Some(Code::Paused.as_str()) {
                wrong.push(format!("{} was told {:?}: {}", ended.run, ended.code, ended.text));
            }
        }
    }
    let record = scene.record().await?;
    if record.events.iter().any(|event| event.text.contains("taken over")) {
        wrong.push("a holder that renewed its lease was overridden".to_owned());
    }
    let renewals = renewals.get();
    wrong.extend(scene.close(&Image::Hanging.spec()).await?);
    Ok(Tally::of(format!("hung for {renewals} renewals, PAUSED by itself"), wrong))
}
