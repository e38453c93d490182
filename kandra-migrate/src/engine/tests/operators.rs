//! What operators can do in each state, and that what is refused changes nothing.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use super::world::{Landing, World, operate, run, run_with, settings};
use super::{ALL, CHARGE, ORDERS, USERS};
use crate::engine::{Settings, Shutdown, Verb, Wait};
use crate::error::{Code, Error};
use crate::ledger::{StepState, VersionState};
use crate::migration::Migration;
use crate::report::Outcome;

const WITH_CHARGE: &[&Migration] = &[&USERS, &ORDERS, &CHARGE];

/// A state of version 2 or 3, and the version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Queued,
    Failed,
    RunningLive,
    RunningDead,
    /// Of a schema step whose outcome stayed unknown.
    Paused,
    /// Of a `once` step.
    PausedOnce,
    Completed,
}

const STATES: [State; 7] = [
    State::Queued,
    State::Failed,
    State::RunningLive,
    State::RunningDead,
    State::Paused,
    State::PausedOnce,
    State::Completed,
];

impl State {
    const fn version(self) -> i64 {
        if matches!(self, Self::PausedOnce) { 3 } else { 2 }
    }

    const fn migrations(self) -> &'static [&'static Migration] {
        if matches!(self, Self::PausedOnce) { WITH_CHARGE } else { ALL }
    }

    async fn reach(self) -> Arc<World> {
        let world = World::new();
        match self {
            Self::Queued => drop(run(&world, &[&USERS]).await.unwrap()),
            Self::Failed => {
                world.landings("items", [Landing::Refused]);
                run(&world, ALL).await.unwrap_err();
            }
            Self::RunningLive | Self::RunningDead => {
                world.landings("orders", [Landing::Hangs]);
                let dead = tokio::time::timeout(Duration::from_secs(1), run(&world, ALL)).await;
                assert!(dead.is_err());
                if self == Self::RunningDead {
                    tokio::time::sleep(Duration::from_secs(200)).await;
                }
            }
            Self::Paused => {
                world.landings("orders", [Landing::Vanishes; 3]);
                run(&world, ALL).await.unwrap_err();
            }
            Self::PausedOnce => {
                world.landings("charge", [Landing::Refused]);
                run(&world, WITH_CHARGE).await.unwrap_err();
            }
            Self::Completed => drop(run(&world, ALL).await.unwrap()),
        }
        world
    }
}

/// Whether a verb works in a state: the table in the docs of `Control`.
fn works(verb: &Verb, state: State) -> bool {
    use State::{Completed, Failed, Paused, PausedOnce, Queued, RunningDead, RunningLive};
    match verb {
        Verb::Pause(_) => matches!(state, Queued | Failed | RunningLive | RunningDead),
        Verb::Resume => state == Paused,
        Verb::Hold { .. } => true,
        Verb::MarkDone(_) | Verb::Rerun(_) | Verb::Abandon(_) => {
            matches!(state, Failed | RunningDead | Paused | PausedOnce)
        }
        Verb::Restamp(_) => false,
        Verb::Baseline(_) => state == Queued,
    }
    .then_some(())
    .is_some_and(|()| state != Completed || matches!(verb, Verb::Hold { .. }))
}

#[tokio::test(start_paused = true)]
async fn each_verb_in_each_state_works_or_is_refused_and_changes_nothing() {
    for state in STATES {
        let version = state.version();
        let verbs = [
            Verb::Pause(version),
            Verb::Resume,
            Verb::Hold { ms: 60_000 },
            Verb::MarkDone(version),
            Verb::Rerun(version),
            Verb::Abandon(version),
            Verb::Restamp(version),
            Verb::Baseline(version),
        ];
        for verb in verbs {
            let world = state.reach().await;
            let before = world.store.rows();
            let result = operate(&world, state.migrations(), verb.clone()).await.map_err(Error::from);
            if works(&verb, state) {
                assert!(result.is_ok(), "{verb:?} in {state:?}: {}", result.unwrap_err());
                continue;
            }
            let error = result.expect_err(&format!("{verb:?} in {state:?}"));
            assert!(matches!(error.code(), Code::VerbRefused | Code::Held), "{verb:?} in {state:?}: {error}");
            assert_eq!(world.store.rows(), before, "{verb:?} in {state:?} changed something: {error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn from_each_state_an_operator_gets_everything_applied() {
    let ways = [
        (State::Failed, Verb::Rerun(2)),
        (State::Failed, Verb::MarkDone(2)),
        (State::Failed, Verb::Abandon(2)),
        (State::RunningDead, Verb::Rerun(2)),
        (State::RunningDead, Verb::MarkDone(2)),
        (State::Paused, Verb::Resume),
        (State::Paused, Verb::Rerun(2)),
        (State::Paused, Verb::MarkDone(2)),
        (State::Paused, Verb::Abandon(2)),
        (State::PausedOnce, Verb::MarkDone(3)),
        (State::PausedOnce, Verb::Rerun(3)),
    ];
    for (state, verb) in ways {
        let world = state.reach().await;
        operate(&world, state.migrations(), verb.clone()).await.unwrap();
        let (_keep, shutdown) = Shutdown::new();
        let at_once = Settings { wait: Wait::Fail, ..settings() };
        let report = run_with(&world, state.migrations(), at_once, shutdown).await;
        assert!(report.is_ok(), "{verb:?} in {state:?}: {}", report.unwrap_err().explain());
        assert!(
            world.ledger().versions().all(|row| row.state == VersionState::Completed),
            "{verb:?} in {state:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_marked_done_is_not_run_and_what_is_to_be_rerun_is() {
    for (verb, charges) in [(Verb::MarkDone(3), 1), (Verb::Rerun(3), 2)] {
        let world = State::PausedOnce.reach().await;
        operate(&world, WITH_CHARGE, verb).await.unwrap();
        run(&world, WITH_CHARGE).await.unwrap();
        assert_eq!(world.sent().iter().filter(|sent| *sent == "charge").count(), charges);
    }
}

#[tokio::test(start_paused = true)]
async fn a_live_holder_stops_before_its_next_step_and_goes_on_after_resume() {
    let world = World::new();
    let holder = {
        let world = Arc::clone(&world);
        tokio::spawn(async move { run(&world, ALL).await })
    };
    while world.ledger().step_state(2, 0) != StepState::Intent {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    operate(&world, ALL, Verb::Pause(2)).await.unwrap();
    let error = holder.await.unwrap().unwrap_err();
    assert!(error.is_paused() && error.to_string().contains("by operator: a test"), "{error}");
    let ledger = world.ledger();
    assert_eq!((ledger.step_state(2, 0), ledger.step_state(2, 1)), (StepState::Done, StepState::Queued));
    assert_eq!(world.sent(), ["users", "orders"]);
    assert!(run(&world, ALL).await.unwrap_err().is_paused(), "it stays paused");

    operate(&world, ALL, Verb::Resume).await.unwrap();
    run(&world, ALL).await.unwrap();
    assert_eq!(world.sent(), ["users", "orders", "items", "fill"]);
}

#[tokio::test(start_paused = true)]
async fn an_edit_of_a_schema_step_drains_its_node_first() {
    for verb in [Verb::MarkDone(2), Verb::Rerun(2), Verb::Abandon(2)] {
        let world = State::Paused.reach().await;
        let before = world.drains.load(SeqCst);
        operate(&world, ALL, verb.clone()).await.unwrap();
        assert_eq!(world.drains.load(SeqCst) - before, 1, "{verb:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_edit_over_a_dead_holder_waits_for_what_that_one_may_have_sent() {
    let world = World::new();
    world.landings("fill", [Landing::Hangs]);
    let dead = tokio::time::timeout(Duration::from_secs(1), run(&world, ALL)).await;
    assert!(dead.is_err());
    tokio::time::sleep(Duration::from_secs(100)).await;
    let asked = tokio::time::Instant::now();
    operate(&world, ALL, Verb::Rerun(3)).await.unwrap();
    let Settings { lease, .. } = settings();
    assert!(asked.elapsed() >= lease + settings().data_lands_within(), "{:?}", asked.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_edit_is_refused_while_a_holder_lives_however_far_servers_clocks_are_apart() {
    let world = World::new();
    world.skew(Duration::from_secs(3600));
    world.landings("orders", [Landing::Hangs; 3]);
    let holder = {
        let world = Arc::clone(&world);
        tokio::spawn(async move { run(&world, ALL).await })
    };
    tokio::time::sleep(Duration::from_secs(1)).await;
    let asked = tokio::time::Instant::now();
    let error = Error::from(operate(&world, ALL, Verb::Abandon(2)).await.unwrap_err());
    assert_eq!(error.code(), Code::Held, "{error}");
    assert!(asked.elapsed() <= settings().lease, "{:?}", asked.elapsed());
    holder.abort();
}

#[tokio::test(start_paused = true)]
async fn a_pause_of_what_is_not_begun_concerns_only_who_needs_it() {
    let world = State::Queued.reach().await;
    operate(&world, ALL, Verb::Pause(2)).await.unwrap();
    assert!(run(&world, ALL).await.unwrap_err().is_paused());
    assert_eq!(run(&world, &[&USERS]).await.unwrap().outcome, Outcome::AlreadyCurrent);
    operate(&world, ALL, Verb::Resume).await.unwrap();
    run(&world, ALL).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_hold_is_waited_for_and_can_be_taken_back() {
    let world = State::Queued.reach().await;
    operate(&world, ALL, Verb::Hold { ms: 3_600_000 }).await.unwrap();
    let (_keep, shutdown) = Shutdown::new();
    let error =
        run_with(&world, ALL, Settings { wait: Wait::Fail, ..settings() }, shutdown).await.unwrap_err();
    assert_eq!(error.code(), Code::OnHold);
    operate(&world, ALL, Verb::Resume).await.unwrap();
    run(&world, ALL).await.unwrap();
    operate(&world, ALL, Verb::Hold { ms: 60_000 }).await.unwrap();
    assert_eq!(run(&world, ALL).await.unwrap().outcome, Outcome::AlreadyCurrent, "who needs nothing starts");
}

#[tokio::test(start_paused = true)]
async fn a_baseline_is_not_run_and_what_follows_is() {
    let world = World::new();
    operate(&world, ALL, Verb::Baseline(2)).await.unwrap();
    run(&world, ALL).await.unwrap();
    assert_eq!(world.sent(), ["fill"]);
}

#[tokio::test(start_paused = true)]
async fn a_restamp_makes_an_edit_the_applied_text() {
    let world = World::new();
    run(&world, &[&USERS]).await.unwrap();
    let edited: &[&Migration] = &[&super::USERS_EDITED];
    assert_eq!(run(&world, edited).await.unwrap_err().code(), Code::ChecksumMismatch);
    operate(&world, edited, Verb::Restamp(1)).await.unwrap();
    assert_eq!(run(&world, edited).await.unwrap().outcome, Outcome::AlreadyCurrent);
    assert_eq!(run(&world, &[&USERS]).await.unwrap_err().code(), Code::ChecksumMismatch);
}
