//! Steps that meet something in the database, and what a version leaves.

use std::time::Duration;

use super::world::{Landing, STALLED, World, migration, run, run_with, settings};
use crate::engine::Shutdown;
use crate::error::Code;
use crate::ledger::StepState;
use crate::migration::Migration;
use crate::plan::{IntoPlan, Plan, cql};

fn guarded() -> Plan {
    // The words are in the order that these tests name objects by.
    cql("CREATE TABLE IF NOT EXISTS users (id int PRIMARY KEY)").into_plan()
}

fn allowed() -> Plan {
    cql("CREATE TABLE IF NOT EXISTS users (id int PRIMARY KEY)").allow("KL10").into_plan()
}

fn index() -> Plan {
    cql("CREATE INDEX by_name ON users (name)").wait_built().into_plan()
}

fn brief_index() -> Plan {
    cql("CREATE INDEX by_name ON users (name)").wait_built().timeout(Duration::from_secs(5)).into_plan()
}

fn not_built() -> Plan {
    cql("CREATE TABLE users (id int PRIMARY KEY)").wait_built().into_plan()
}

fn no_rule() -> Plan {
    cql("CREATE TABLE users (id int PRIMARY KEY)").allow("KL99").into_plan()
}

static GUARDED: Migration = migration(1, "users", "k1:01", guarded);
static ALLOWED: Migration = migration(1, "users", "k1:02", allowed);
static INDEX: Migration = migration(1, "index", "k1:03", index);
static BRIEF: Migration = migration(1, "index", "k1:04", brief_index);
static NOT_BUILT: Migration = migration(1, "users", "k1:05", not_built);
static NO_RULE: Migration = migration(1, "users", "k1:06", no_rule);

#[tokio::test(start_paused = true)]
async fn if_not_exists_over_another_shape_is_an_error_and_not_done() {
    let world = World::new();
    world.other_shapes.lock().unwrap().insert("users".to_owned());
    let error = run(&world, &[&GUARDED]).await.unwrap_err();
    assert_eq!(error.code(), Code::OtherShape, "{error}");
    assert!(error.to_string().contains("expected a int; found a text"), "{error}");
    assert!(world.sent().is_empty(), "nothing is sent");
    let ledger = world.ledger();
    assert_eq!((ledger.version(1), ledger.step_state(1, 0)), (None, StepState::Failed));

    let report = run(&world, &[&ALLOWED]).await.unwrap();
    assert_eq!(report.applied.len(), 1, "{report}");
    assert!(
        report.warnings.iter().any(|warning| warning.contains("does nothing, as it allows")),
        "{report:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_completed_version_has_the_schema_that_it_left() {
    let world = World::new();
    run(&world, &[&INDEX]).await.unwrap();
    let rows = world.store.rows();
    let cells =
        rows.iter().find_map(|(key, cells)| (key.version == 1 && key.n == 0).then_some(cells)).unwrap();
    assert_eq!(cells.text("schema_digest").as_deref(), Some("s1:1"));
    assert_eq!(cells.text("schema_text").as_deref(), Some("by_name"));
}

#[tokio::test(start_paused = true)]
async fn a_step_that_waits_for_its_build_is_done_when_it_is_built() {
    let world = World::new();
    *world.looks_until_built.lock().unwrap() = 10;
    let begun = tokio::time::Instant::now();
    run(&world, &[&INDEX]).await.unwrap();
    assert_eq!(*world.looks_until_built.lock().unwrap(), 0);
    assert!(begun.elapsed() > Duration::from_secs(4), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_build_that_does_not_end_pauses_the_version() {
    for (index, reason) in
        [(&INDEX, "came no further for 10 min"), (&BRIEF, "did not end within its timeout of 5 s")]
    {
        let world = World::new();
        *world.looks_until_built.lock().unwrap() = STALLED * 2;
        let error = run(&world, &[index]).await.unwrap_err();
        assert_eq!(error.code(), Code::Paused, "{error}");
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(world.ledger().step_state(1, 0), StepState::Intent, "it is begun, and not done");
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_run_waits_on_for_a_build_and_does_not_create_anew() {
    // The effect is there, the answer is lost, and the build goes on.
    let world = World::new();
    world.landings("by_name", [Landing::LandsAndLost]);
    *world.looks_until_built.lock().unwrap() = 10;
    run(&world, &[&INDEX]).await.unwrap();
    assert_eq!(world.sent(), ["by_name"]);
    assert_eq!(*world.looks_until_built.lock().unwrap(), 0);

    // The run that waits is stopped.
    let world = World::new();
    *world.looks_until_built.lock().unwrap() = 100;
    let (request, shutdown) = Shutdown::new();
    let stop = async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        request.send_replace(true);
    };
    let migrations = [&INDEX];
    let (stopped, ()) = tokio::join!(run_with(&world, &migrations, settings(), shutdown), stop);
    assert_eq!(stopped.unwrap_err().code(), Code::Shutdown);
    let ledger = world.ledger();
    assert_eq!((ledger.step_state(1, 0), ledger.head().unwrap().owner), (StepState::Intent, None));
    assert!(*world.looks_until_built.lock().unwrap() > 0);
    run(&world, &[&INDEX]).await.unwrap();
    assert_eq!(world.sent(), ["by_name"], "it is not created again");
    assert_eq!(*world.looks_until_built.lock().unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn marks_that_do_not_fit_are_refused_before_anything_is_sent() {
    for (migration, part) in [(&NOT_BUILT, ".wait_built() is for"), (&NO_RULE, "code KL99")] {
        let world = World::new();
        let error = run(&world, &[migration]).await.unwrap_err();
        assert_eq!(error.code(), Code::Config, "{error}");
        assert!(error.to_string().contains(part), "{error}");
        assert!(world.sent().is_empty());
    }
}
