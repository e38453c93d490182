//! The other versions of Cassandra: the shapes of batches and answers, and the texts, are the same there.

use std::sync::Arc;
use std::time::Duration;

use cassandra::{Cluster, Settings};
use kandra_migrate::Code;

use super::{Extent, Tally};
use crate::plans::Image;
use crate::relay::{Fate, Gate, Pattern, Verdict};
use crate::scene::{Scene, Start};
use crate::times::REACH_SECS_MAX;
use crate::trouble::{Result, within};
use crate::world::World;

const VERSIONS: [&str; 3] = ["4.0.19", "4.1.10", "6.0-alpha2"];

pub(super) async fn all(world: Arc<World>, _: Extent) -> Result<Tally> {
    let mut tally = Tally::default();
    for version in VERSIONS {
        let settings = Settings { version: version.parse()?, ..Settings::nodes(1) };
        let cluster = tokio::task::spawn_blocking(move || Cluster::start(settings)).await??;
        let its_world = Arc::new(world.beside(cluster).await?);
        let mut wrong = run(&its_world).await?;
        wrong.extend(takeover(&its_world).await?);
        wrong.extend(failure(&its_world).await?);
        wrong.extend(verbs(&its_world).await?);
        tally.add(Tally::of(version, wrong));
    }
    Ok(tally)
}

async fn run(world: &Arc<World>) -> Result<Vec<String>> {
    let scene = Scene::new(world, "run").await?;
    let mut wrong = scene.finish(Image::Base).await?;
    wrong.extend(scene.close(&Image::Base.spec()).await?);
    Ok(wrong)
}

async fn takeover(world: &Arc<World>) -> Result<Vec<String>> {
    let scene = Scene::new(world, "takeover").await?;
    let lane = scene.lane().await?;
    let gate = Gate::default();
    lane.rule(Pattern::write("done 2/1"), Fate::AnswerHeld(gate.clone()));
    let struck = scene.start_in(&lane, "struck", Image::Base)?;
    within(REACH_SECS_MAX, "a step that is done", gate.reached()).await?;
    struck.kill()?;
    gate.open(Verdict::Drop);
    let mut wrong = scene.finish(Image::Base).await?;
    if !scene.record().await?.events.iter().any(|event| event.text.contains("taken over")) {
        wrong.push("nobody took over".to_owned());
    }
    wrong.extend(scene.close(&Image::Base.spec()).await?);
    Ok(wrong)
}

async fn failure(world: &Arc<World>) -> Result<Vec<String>> {
    let scene = Scene::new(world, "failure").await?;
    let mut wrong = Vec::new();
    let process = scene.start("failing", Image::Failing, Start::default())?;
    for ended in scene.ended(process).await? {
        if ended.code.as_deref() != Some(Code::StepFailed.as_str()) {
            wrong.push(format!("the failing run was told {}", ended.text));
        }
    }
    wrong.extend(scene.close(&Image::Failing.spec()).await?);
    Ok(wrong)
}

/// Each verb once, on one history.
async fn verbs(world: &Arc<World>) -> Result<Vec<String>> {
    let scene = Scene::new(world, "verbs").await?;
    let registry = Image::Base.registry();
    let control = || scene.runner(&registry, "operator").control();
    control().baseline(1, "made by hand").await?;
    let made_by_hand = ["items (id int PRIMARY KEY, name text)", "tags (tag text PRIMARY KEY, item int)"];
    for table in made_by_hand {
        world.schema(&format!("CREATE TABLE {}.{table}", scene.keyspace)).await?;
    }
    control().pause(2, "an incident").await?;
    let mut wrong = told(&scene, Code::Paused).await?;
    control().resume("it is over").await?;
    control().hold(Duration::from_secs(3600), "not today").await?;
    wrong.extend(refused(&scene).await?);
    control().resume("today after all").await?;
    wrong.extend(scene.finish(Image::Base).await?);
    // It has that checksum already.
    match control().restamp(1, "reformatted").await {
        Err(error) if error.code() == Code::VerbRefused => {}
        other => wrong.push(format!("a restamp without an edit: {other:?}")),
    }
    let status = scene.runner(&registry, "operator").status().await?;
    if let Some(open) = status.migrations.iter().find(|migration| !migration.is_completed()) {
        wrong.push(format!("version {} is {}", open.version, open.state));
    }
    let events = control().events(100).await?;
    for verb in ["baselined 1", "pause asked for 2", "resume asked for", "hold until"] {
        let is_there = |line: &String| line.starts_with(verb);
        if !events.iter().any(|event| event.transitions.iter().any(is_there)) {
            wrong.push(format!("no event says `{verb}`"));
        }
    }
    // What was baselined has no steps to be held against the plan's.
    scene.end().await;
    Ok(wrong)
}

async fn told(scene: &Scene, code: Code) -> Result<Vec<String>> {
    let process = scene.start("waits", Image::Base, Start::default())?;
    let ended = scene.ended(process).await?;
    let wrong = ended.iter().filter(|ended| ended.code.as_deref() != Some(code.as_str()));
    Ok(wrong.map(|ended| format!("an instance was told {}, not {code}", ended.text)).collect())
}

/// With a wait that is shorter than the hold, the run is told at once.
async fn refused(scene: &Scene) -> Result<Vec<String>> {
    let registry = Image::Base.registry();
    match scene.runner(&registry, "waits").wait(kandra_migrate::Wait::Fail).run().await {
        Err(error) if error.code() == Code::OnHold => Ok(Vec::new()),
        other => Ok(vec![format!("during a hold an instance was told {other:?}")]),
    }
}
