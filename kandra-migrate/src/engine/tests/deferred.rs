//! Versions that a start does not wait for.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use super::world::{Landing, World, deferred, migration, operate, run, start};
use super::{ORDERS, USERS, charge, fill, orders};
use crate::engine::Verb;
use crate::error::Code;
use crate::ledger::VersionState;
use crate::migration::Migration;
use crate::plan::{IntoPlan, Plan, cql};
use crate::report::{MigrationReport, Outcome};

fn items() -> Plan {
    cql("CREATE TABLE more (id int PRIMARY KEY)").into_plan()
}

fn again() -> Plan {
    cql("CREATE TABLE again (id int PRIMARY KEY)").into_plan()
}

static FILL: Migration = deferred(3, "fill", "k1:03", fill);
static FILL_EDITED: Migration = deferred(3, "fill", "k1:33", fill);
static CHARGE: Migration = deferred(3, "charge", "k1:13", charge);
static BEHIND: Migration = migration(4, "behind", "k1:04", items);
static AGAIN: Migration = deferred(5, "again", "k1:05", again);
static LATE: Migration = migration(2, "late", "k1:22", orders);

const ALL: &[&Migration] = &[&USERS, &ORDERS, &FILL, &BEHIND];

fn versions(migrations: &[MigrationReport]) -> Vec<i64> {
    migrations.iter().map(|one| one.version.get()).collect()
}

/// Until this is so; the clock is paused, so that it costs nothing.
async fn until(is_so: impl Fn() -> bool) {
    for _ in 0..10_000 {
        let was_so = is_so();
        // What has just been sent is at work by then.
        tokio::time::sleep(Duration::from_millis(10)).await;
        if was_so {
            return;
        }
    }
    panic!("it never is so");
}

#[tokio::test(start_paused = true)]
async fn a_start_ends_before_what_is_deferred_and_is_two_reads_after_that() {
    let world = World::new();
    let report = start(&world, ALL).await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated);
    assert_eq!((versions(&report.applied), versions(&report.deferred)), (vec![1, 2], vec![3, 4]));
    assert!(report.pending.is_empty());
    assert_eq!(world.ledger().head().unwrap().owner, None);
    assert_eq!(world.ledger().version_state(3), VersionState::Queued);

    let (reads, writes) = (world.reads.load(SeqCst), world.writes.load(SeqCst));
    let report = start(&world, ALL).await.unwrap();
    assert_eq!((report.outcome, versions(&report.deferred)), (Outcome::AlreadyCurrent, vec![3, 4]));
    assert_eq!((world.reads.load(SeqCst) - reads, world.writes.load(SeqCst) - writes), (2, 0));

    let report = run(&world, ALL).await.unwrap();
    assert_eq!((versions(&report.applied), versions(&report.deferred)), (vec![3, 4], vec![]));
    let report = start(&world, ALL).await.unwrap();
    assert_eq!((report.outcome, versions(&report.deferred)), (Outcome::AlreadyCurrent, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_start_does_not_wait_for_a_run_that_is_at_what_is_deferred() {
    let world = World::new();
    start(&world, ALL).await.unwrap();
    world.landings("fill", [Landing::Hangs]);
    let working = {
        let world = Arc::clone(&world);
        tokio::spawn(async move { run(&world, ALL).await })
    };
    until(|| world.sent().contains(&"fill".to_owned())).await;

    let (reads, writes) = (world.reads.load(SeqCst), world.writes.load(SeqCst));
    let report = start(&world, ALL).await.unwrap();
    assert_eq!((report.outcome, versions(&report.deferred)), (Outcome::AlreadyCurrent, vec![3, 4]));
    assert_eq!((world.reads.load(SeqCst) - reads, world.writes.load(SeqCst) - writes), (2, 0));
    assert!(world.ledger().head().unwrap().owner.is_some(), "the other one goes on");

    working.abort();
    let report = run(&world, ALL).await.unwrap();
    assert_eq!(versions(&report.applied), [3, 4]);
    assert_eq!(world.sent(), ["users", "orders", "items", "fill", "fill", "more"]);
}

#[tokio::test(start_paused = true)]
async fn a_start_that_waits_ends_once_only_what_is_deferred_is_left() {
    let world = World::new();
    world.landings("fill", [Landing::Hangs]);
    let all = {
        let world = Arc::clone(&world);
        tokio::spawn(async move { run(&world, ALL).await })
    };
    until(|| world.sent().contains(&"users".to_owned())).await;
    let report = start(&world, ALL).await.unwrap();
    assert!(matches!(report.outcome, Outcome::WaitedFor(_)), "{report}");
    assert_eq!(versions(&report.deferred), [3, 4]);
    assert!(world.ledger().head().unwrap().owner.is_some(), "the other one goes on");
    all.abort();
}

#[tokio::test(start_paused = true)]
async fn what_is_behind_a_deferred_version_is_part_of_the_start_once_that_is_applied() {
    let world = World::new();
    run(&world, &[&USERS, &ORDERS, &FILL]).await.unwrap();
    let report = start(&world, &[&USERS, &ORDERS, &FILL, &BEHIND, &AGAIN]).await.unwrap();
    assert_eq!((versions(&report.applied), versions(&report.deferred)), (vec![4], vec![5]));
}

#[tokio::test(start_paused = true)]
async fn a_deferred_version_that_failed_or_is_paused_is_a_warning_of_a_start() {
    let world = World::new();
    start(&world, ALL).await.unwrap();
    world.landings("fill", [Landing::Refused]);
    assert_eq!(run(&world, ALL).await.unwrap_err().code(), Code::StepFailed);
    let report = start(&world, ALL).await.unwrap();
    assert_eq!((report.outcome, versions(&report.deferred)), (Outcome::AlreadyCurrent, vec![3, 4]));
    let said = "version 3 fill, which is deferred, has failed: ";
    assert!(report.warnings.iter().any(|warning| warning.starts_with(said)), "{:?}", report.warnings);

    let world = World::new();
    let charging: &[&Migration] = &[&USERS, &ORDERS, &CHARGE, &BEHIND];
    world.landings("charge", [Landing::Refused]);
    assert_eq!(run(&world, charging).await.unwrap_err().code(), Code::Paused);
    let report = start(&world, charging).await.unwrap();
    assert_eq!(versions(&report.deferred), [3, 4]);
    let said = "version 3 charge, which is deferred, is paused: ";
    assert!(report.warnings.iter().any(|warning| warning.starts_with(said)), "{:?}", report.warnings);
    operate(&world, charging, Verb::MarkDone(3)).await.unwrap();
    assert_eq!(versions(&run(&world, charging).await.unwrap().applied), [3, 4]);
}

#[tokio::test(start_paused = true)]
async fn an_edit_of_a_deferred_version_that_is_applied_is_refused() {
    let world = World::new();
    start(&world, ALL).await.unwrap();
    let edited: &[&Migration] = &[&USERS, &ORDERS, &FILL_EDITED, &BEHIND];
    assert!(start(&world, edited).await.is_ok(), "it is not applied yet");
    run(&world, ALL).await.unwrap();
    assert_eq!(start(&world, edited).await.unwrap_err().code(), Code::ChecksumMismatch);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_comes_below_a_deferred_one_is_part_of_the_start() {
    let world = World::new();
    start(&world, &[&USERS, &FILL]).await.unwrap();
    let report = start(&world, &[&USERS, &LATE, &FILL]).await.unwrap();
    assert_eq!((versions(&report.applied), versions(&report.deferred)), (vec![2], vec![3]));
}
