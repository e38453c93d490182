//! The engine over a database in memory, with a paused clock.

mod deferred;
mod operators;
mod schema;
mod world;

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use world::{Fate, Landing, World, migration, operate, run, run_with, settings};

use super::{Observer, Progress, Settings, Shutdown, Verb, Wait};
use crate::error::Code;
use crate::ledger::{StepState, VersionState};
use crate::migration::{Migration, Source};
use crate::plan::{IntoPlan, Plan, code, cql};
use crate::report::Outcome;
use crate::task::TaskContext;

fn users() -> Plan {
    cql("CREATE TABLE users (id int PRIMARY KEY)").into_plan()
}

fn orders() -> Plan {
    [cql("CREATE TABLE orders (id int PRIMARY KEY)"), cql("CREATE TABLE items (id int PRIMARY KEY)")]
        .into_plan()
}

fn fill() -> Plan {
    code("fill", async |_: TaskContext| Ok(())).idempotent().into_plan()
}

fn charge() -> Plan {
    code("charge", async |_: TaskContext| Ok(())).once().into_plan()
}

static USERS: Migration = migration(1, "users", "k1:01", users);
static ORDERS: Migration = migration(2, "orders", "k1:02", orders);
static FILL: Migration = migration(3, "fill", "k1:03", fill);
static CHARGE: Migration = migration(3, "charge", "k1:04", charge);
static CHARGE_EDITED: Migration = migration(3, "charge", "k1:05", fill);
static USERS_EDITED: Migration = migration(1, "users", "k1:06", orders);

const ALL: &[&Migration] = &[&USERS, &ORDERS, &FILL];

#[tokio::test(start_paused = true)]
async fn a_fresh_keyspace_gets_each_step_once_and_in_order() {
    let world = World::new();
    let report = run(&world, ALL).await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated);
    assert_eq!(report.applied.iter().map(|m| m.version.get()).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(world.sent(), ["users", "orders", "items", "fill"]);
    let ledger = world.ledger();
    assert!(ledger.versions().all(|row| row.state == VersionState::Completed));
    assert_eq!(ledger.head().unwrap().owner, None);
}

#[tokio::test(start_paused = true)]
async fn a_step_costs_one_conditional_write() {
    let world = World::new();
    run(&world, ALL).await.unwrap();
    let steps = 4;
    assert_eq!(world.writes.load(SeqCst), steps + 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_task_says_of_its_progress_is_told_with_its_rate() {
    let world = World::new();
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let observer = Observer::new(move |progress| {
        if let Progress::Far { task, done, total, per_second, .. } = progress {
            heard.lock().unwrap().push((task, done, total, per_second));
        }
    });
    let (_keep, shutdown) = Shutdown::new();
    run_with(&world, ALL, Settings { observer, ..settings() }, shutdown).await.unwrap();
    let fill = |done, per_second| ("fill".to_owned(), done, Some(100), per_second);
    assert_eq!(*told.lock().unwrap(), [fill(0, None), fill(50, Some(50))]);
}

#[tokio::test(start_paused = true)]
async fn nothing_to_do_is_one_read_and_no_write() {
    let world = World::new();
    run(&world, ALL).await.unwrap();
    let (reads, writes) = (world.reads.load(SeqCst), world.writes.load(SeqCst));
    let report = run(&world, ALL).await.unwrap();
    assert_eq!(report.outcome, Outcome::AlreadyCurrent);
    assert_eq!((world.reads.load(SeqCst) - reads, world.writes.load(SeqCst) - writes), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn of_many_runs_one_migrates_and_the_others_wait() {
    let world = World::new();
    let runs = (0..100).map(|_| {
        let world = Arc::clone(&world);
        tokio::spawn(async move { run(&world, ALL).await })
    });
    let mut migrated = 0;
    for run in runs.collect::<Vec<_>>() {
        match run.await.unwrap().unwrap().outcome {
            Outcome::Migrated => migrated += 1,
            outcome => {
                assert!(matches!(outcome, Outcome::WaitedFor(_) | Outcome::AlreadyCurrent), "{outcome:?}");
            }
        }
    }
    assert_eq!(migrated, 1);
    assert_eq!(world.sent(), ["users", "orders", "items", "fill"]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_releases_the_claim_and_is_every_waiting_runs_error() {
    let world = World::new();
    world.landings("items", [Landing::Refused]);
    let waiting = {
        let world = Arc::clone(&world);
        tokio::spawn(async move { run(&world, ALL).await })
    };
    let first = run(&world, ALL).await.unwrap_err();
    let second = waiting.await.unwrap().unwrap_err();
    let codes = [first.code(), second.code()];
    assert!(codes.contains(&Code::StepFailed) && codes.contains(&Code::FailedElsewhere), "{codes:?}");
    for error in [&first, &second] {
        assert!(error.explain().contains("the server said no"), "{}", error.explain());
        assert_eq!(error.version().unwrap().get(), 2);
    }
    let ledger = world.ledger();
    assert_eq!(ledger.version_state(2), VersionState::Queued);
    assert_eq!(ledger.step_state(2, 0), StepState::Done);
    assert_eq!(ledger.step_state(2, 1), StepState::Failed);

    run(&world, ALL).await.unwrap();
    assert_eq!(world.sent(), ["users", "orders", "items", "items", "fill"]);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_failed_is_left_alone_by_the_next_runs() {
    let world = World::new();
    world.landings("users", [Landing::Refused; 2]);
    for _ in 0..2 {
        run(&world, ALL).await.unwrap_err();
    }
    let impatient = Settings { wait: Wait::UpTo(Duration::from_secs(1)), ..settings() };
    let (_keep, shutdown) = Shutdown::new();
    let error = run_with(&world, ALL, impatient, shutdown).await.unwrap_err();
    assert_eq!(error.code(), Code::BackingOff);
    assert!(error.to_string().contains("the server said no") && error.retryable(), "{error}");
    assert_eq!(world.sent().len(), 2, "left alone");
    // An edited text does not wait.
    let (_keep, shutdown) = Shutdown::new();
    let edited = Settings { wait: Wait::Fail, ..settings() };
    run_with(&world, &[&USERS_EDITED], edited, shutdown).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_fleet_that_restarts_after_each_failure_does_not_storm_the_step() {
    let world = World::new();
    world.landings("users", [Landing::Refused; 100]);
    let started = tokio::time::Instant::now();
    let fleet: Vec<_> = (0..100)
        .map(|_| {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                while started.elapsed() < Duration::from_secs(120) {
                    run(&world, ALL).await.unwrap_err();
                }
            })
        })
        .collect();
    for instance in fleet {
        instance.await.unwrap();
    }
    // 5, 10, 20, 40 and 80 s after one another.
    assert!((4..=6).contains(&world.sent().len()), "{}", world.sent().len());
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_of_a_conditional_write_changes_nothing() {
    for fate in [Fate::AppliedAndLost, Fate::Dropped] {
        for write in 0..6 {
            let world = World::new();
            world.fates(std::iter::repeat_n(Fate::Answered, write).chain([fate, fate, fate]));
            let report = run(&world, ALL).await.unwrap();
            assert_eq!(report.applied.len(), 3, "{fate:?} from write {write} on");
            assert_eq!(world.sent(), ["users", "orders", "items", "fill"], "{fate:?} from write {write} on");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_schema_statement_of_unknown_outcome_is_looked_for_before_it_is_sent_again() {
    for (landing, sent) in [(Landing::LandsAndLost, 1), (Landing::Vanishes, 2), (Landing::Hangs, 2)] {
        let world = World::new();
        world.landings("users", [landing]);
        run(&world, &[&USERS]).await.unwrap();
        assert_eq!(world.sent(), vec!["users"; sent], "{landing:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_coordinator_took_with_it_before_it_had_told_the_others_is_run_again() {
    let world = World::new();
    world.loses(&["orders"]);
    run(&world, &[&USERS, &ORDERS]).await.unwrap();
    assert_eq!(world.sent(), ["users", "orders", "items", "orders"]);
    assert!(world.ledger().is_completed(2));
}

#[tokio::test(start_paused = true)]
async fn what_stays_unknown_three_times_is_paused_and_blocks_every_run_at_once() {
    let world = World::new();
    world.landings("users", [Landing::Vanishes; 4]);
    let error = run(&world, ALL).await.unwrap_err();
    assert_eq!(error.code(), Code::Paused);
    assert_eq!(world.sent().len(), 3);
    assert_eq!(world.ledger().version_state(1), VersionState::Paused);
    let error = run(&world, ALL).await.unwrap_err();
    assert!(error.is_paused() && error.to_string().contains("3 times"), "{error}");
    assert_eq!(world.sent().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_dies_is_taken_over_after_its_lease_and_its_step_is_settled() {
    let world = World::new();
    world.landings("orders", [Landing::LandsAndLost]);
    // 12 ms in, version 1 is applied and version 2 is at its first step.
    let dead = tokio::time::timeout(Duration::from_millis(60), run(&world, &[&USERS, &ORDERS])).await;
    assert!(dead.is_err(), "the run was dropped");
    assert_eq!(world.ledger().step_state(2, 0), StepState::Intent);
    let report = run(&world, ALL).await.unwrap();
    assert_eq!(report.applied.iter().map(|m| m.version.get()).collect::<Vec<_>>(), [2, 3]);
    assert!(report.waited >= Duration::from_secs(60), "{:?}", report.waited);
    assert_eq!(world.sent(), ["users", "orders", "items", "fill"]);
}

#[tokio::test(start_paused = true)]
async fn a_live_holder_is_never_taken_over_from() {
    let world = World::new();
    world.landings("fill", [Landing::Hangs]);
    let holder = {
        let world = Arc::clone(&world);
        let settings = Settings { stall_timeout: Duration::from_secs(500), ..settings() };
        tokio::spawn(async move {
            let (_keep, shutdown) = Shutdown::new();
            run_with(&world, ALL, settings, shutdown).await
        })
    };
    tokio::time::sleep(Duration::from_secs(1)).await;
    let waiting = Settings { wait: Wait::UpTo(Duration::from_secs(300)), ..settings() };
    let (_keep, shutdown) = Shutdown::new();
    let error = run_with(&world, ALL, waiting, shutdown).await.unwrap_err();
    assert_eq!(error.code(), Code::WaitedTooLong);
    assert_eq!(world.ledger().head().unwrap().epoch, 1);
    let error = holder.await.unwrap().unwrap_err();
    assert!(error.is_paused() && error.to_string().contains("no sign of progress"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn policies_of_waiting() {
    let world = World::new();
    world.landings("fill", [Landing::Hangs]);
    let dead = tokio::time::timeout(Duration::from_secs(5), run(&world, ALL)).await;
    assert!(dead.is_err());
    for (wait, ok) in [(Wait::Fail, false), (Wait::ReturnPending, true)] {
        let (_keep, shutdown) = Shutdown::new();
        let result = run_with(&world, ALL, Settings { wait, ..settings() }, shutdown).await;
        match result {
            Ok(report) => assert!(ok && report.outcome == Outcome::Pending && report.pending.len() == 1),
            Err(error) => assert!(!ok && error.is_held(), "{error}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_once_task_of_unknown_outcome_is_paused_and_an_edit_gets_it_going_again() {
    let world = World::new();
    world.landings("charge", [Landing::Refused]);
    let error = run(&world, &[&USERS, &ORDERS, &CHARGE]).await.unwrap_err();
    assert!(error.is_paused(), "{error}");
    let error = run(&world, &[&USERS, &ORDERS, &CHARGE]).await.unwrap_err();
    assert!(error.is_paused(), "an unchanged text stays paused: {error}");
    // Its one step may have had its effect, so that only a plan that begins with that step unchanged goes on.
    let error = run(&world, &[&USERS, &ORDERS, &CHARGE_EDITED]).await.unwrap_err();
    assert!(error.is_paused(), "{error}");
    assert_eq!(world.sent(), ["users", "orders", "items", "charge"]);
}

#[tokio::test(start_paused = true)]
async fn a_paused_version_goes_on_with_an_edited_text_that_begins_with_what_is_done() {
    fn longer() -> Plan {
        [cql("CREATE TABLE orders (id int PRIMARY KEY)"), cql("CREATE TABLE items2 (id int PRIMARY KEY)")]
            .into_plan()
    }
    static LONGER: Migration = migration(2, "orders", "k1:22", longer);
    let world = World::new();
    world.landings("items", [Landing::Refused]);
    run(&world, &[&USERS, &ORDERS]).await.unwrap_err();
    run(&world, &[&USERS, &LONGER]).await.unwrap();
    assert_eq!(world.sent(), ["users", "orders", "items", "items2"]);
    assert_eq!(world.ledger().version(2).unwrap().checksum, "k1:22");
}

#[tokio::test(start_paused = true)]
async fn a_failed_version_of_which_a_done_step_was_edited_names_the_ways_that_work() {
    fn other() -> Plan {
        [cql("CREATE TABLE parcels (id int PRIMARY KEY)"), cql("CREATE TABLE items (id int PRIMARY KEY)")]
            .into_plan()
    }
    static OTHER: Migration = migration(2, "orders", "k1:23", other);
    let failed = async || {
        let world = World::new();
        world.landings("items", [Landing::Refused]);
        run(&world, &[&USERS, &ORDERS]).await.unwrap_err();
        let error = run(&world, &[&USERS, &OTHER]).await.unwrap_err();
        assert!(error.is_paused(), "{error}");
        let told = error.explain();
        assert!(told.contains("control().abandon(2") && !told.contains("resume("), "{told}");
        world
    };
    let world = failed().await;
    operate(&world, &[&USERS, &OTHER], Verb::Abandon(2)).await.unwrap();
    run(&world, &[&USERS, &OTHER]).await.unwrap();
    let world = failed().await;
    run(&world, &[&USERS, &ORDERS]).await.expect("the earlier text goes on");
}

#[tokio::test(start_paused = true)]
async fn a_graceful_stop_gives_the_lease_back_and_the_next_run_goes_on_at_once() {
    let world = World::new();
    let (stop, shutdown) = Shutdown::new();
    let running = {
        let world = Arc::clone(&world);
        tokio::spawn(async move { run_with(&world, ALL, settings(), shutdown).await })
    };
    tokio::time::sleep(Duration::from_millis(15)).await;
    stop.send_replace(true);
    let error = running.await.unwrap().unwrap_err();
    assert!(error.is_shutdown(), "{error}");
    assert_eq!(world.ledger().head().unwrap().owner, None);
    let report = run(&world, ALL).await.unwrap();
    assert_eq!(report.waited, Duration::ZERO);
    assert_eq!(world.sent(), ["users", "orders", "items", "fill"]);
}

#[tokio::test(start_paused = true)]
async fn an_edit_of_an_applied_migration_is_refused_with_both_checksums() {
    let world = World::new();
    run(&world, &[&USERS]).await.unwrap();
    let error = run(&world, &[&USERS_EDITED, &ORDERS]).await.unwrap_err();
    assert_eq!(error.code(), Code::ChecksumMismatch);
    let text = error.explain();
    for part in ["k1:01", "k1:06", "src/m.rs:7", "accept = [\"k1:01\"]"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(world.sent(), ["users"]);
}

#[tokio::test(start_paused = true)]
async fn a_stored_checksum_is_compared_in_its_own_format() {
    const fn bilingual(k2: &'static str, k1: &'static [&'static str]) -> Migration {
        let source = Source {
            version: 1,
            name: "users",
            checksum: k2,
            also: k1,
            accept: &[],
            reaches_outside: None,
            out_of_order: false,
            after_start: false,
            file: "src/m.rs",
            line: 7,
            module_path: "tests::m",
            files: &[],
            plan: users,
        };
        Migration::new(source)
    }
    static BILINGUAL: Migration = bilingual("k2:aa", &["k1:01"]);
    static EDITED: Migration = bilingual("k2:bb", &["k1:02"]);

    let world = World::new();
    run(&world, &[&USERS]).await.unwrap();
    assert_eq!(run(&world, &[&BILINGUAL]).await.unwrap().outcome, Outcome::AlreadyCurrent);
    assert_eq!(run(&world, &[&EDITED]).await.unwrap_err().code(), Code::ChecksumMismatch);
    assert_eq!(world.ledger().version(1).unwrap().checksum, "k1:01", "a run does not rewrite it");

    let world = World::new();
    run(&world, &[&BILINGUAL]).await.unwrap();
    assert_eq!(run(&world, &[&EDITED]).await.unwrap_err().code(), Code::ChecksumMismatch);
    let report = run(&world, &[&USERS]).await.unwrap();
    assert!(report.warnings.iter().any(|warning| warning.contains("k2:aa")), "{:?}", report.warnings);
}

#[tokio::test(start_paused = true)]
async fn histories_that_do_not_fit_are_refused_and_older_images_start() {
    let world = World::new();
    run(&world, &[&ORDERS]).await.unwrap();
    assert_eq!(run(&world, &[&USERS, &ORDERS]).await.unwrap_err().code(), Code::BelowFrontier);
    assert_eq!(run(&world, &[&FILL]).await.unwrap_err().code(), Code::DivergentHistory);
    let world = World::new();
    run(&world, ALL).await.unwrap();
    let report = run(&world, &[&USERS, &ORDERS]).await.unwrap();
    assert!(
        report.warnings.iter().any(|warning| warning.contains("unknown to this binary")),
        "{:?}",
        report.warnings
    );
}
