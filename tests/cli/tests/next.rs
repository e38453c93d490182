//! The next step that each error names, typed as it stands there, gets the keyspace going.

use crate::shop::{Printed, Shop};

#[test]
fn a_step_in_doubt_that_took_effect_is_marked_done() {
    let mut shop = Shop::open("first");
    shop.deploy("charge");
    shop.fails(true);
    let error = shop.expect(6, &["run"]);
    shop.expect(6, &["status", "--exit-code"]);
    shop.expect(6, &["wait"]);
    shop.follow(&error, "it did");
    shop.expect(0, &["run"]);
    shop.expect(0, &["verify", "--exit-code"]);
    shop.assert_transcript("next_mark_done.txt");
}

#[test]
fn a_step_in_doubt_that_did_not_is_run_again() {
    let mut shop = Shop::open("first");
    shop.deploy("charge");
    shop.fails(true);
    let error = shop.expect(6, &["run"]);
    shop.follow(&error, "it did not");
    shop.fails(false);
    shop.expect(0, &["run"]);
    shop.expect(0, &["verify", "--exit-code"]);
}

#[test]
fn what_an_operator_paused_goes_on_after_resume() {
    let mut shop = Shop::open("first");
    shop.deploy("seed");
    shop.expect(0, &["pause", "2"]);
    shop.expect(0, &["status"]);
    let error = shop.expect(6, &["run"]);
    let of_wait = shop.expect(6, &["wait"]);
    assert_eq!(of_wait.way("let it go on"), error.way("let it go on"));
    shop.follow(&error, "let it go on");
    shop.expect(0, &["run"]);
    shop.assert_transcript("next_resume.txt");
}

#[test]
fn what_is_on_hold_goes_on_after_resume() {
    let mut shop = Shop::open("first");
    shop.deploy("seed");
    shop.expect(0, &["hold", "2h", "--reason", "the sale is on"]);
    shop.expect(0, &["status"]);
    let error = shop.expect(5, &["run", "--wait", "0"]);
    shop.follow(&error, "take it back");
    shop.expect(0, &["run", "--wait", "0"]);
    shop.assert_transcript("next_hold.txt");
}

#[test]
fn a_failed_step_is_run_again_at_once() {
    let mut shop = Shop::open("first");
    shop.deploy("seed");
    shop.fails(true);
    let error = shop.expect(1, &["run"]);
    assert!(error.stderr.contains("error: KM0050 "), "{}", error.stderr);
    let backing_off = fail_until_backing_off(&mut shop);
    shop.fails(false);
    assert_eq!(backing_off.way("to try the same text at once"), error.way("to try the same text at once"));
    shop.expect(0, &["status"]);
    shop.follow(&backing_off, "to try the same text at once");
    shop.expect(0, &["run", "--wait", "0"]);
}

/// Each failure doubles the time until the next try, so that even a slow machine asks within it.
fn fail_until_backing_off(shop: &mut Shop) -> Printed {
    const RUNS_MAX: usize = 8;
    (0..RUNS_MAX)
        .map(|_| shop.expect(1, &["run", "--wait", "0"]))
        .find(|error| error.stderr.starts_with("error: KM0054 "))
        .expect("a run that comes too early")
}

#[test]
fn a_failed_step_whose_effect_is_there_is_marked_done() {
    let mut shop = Shop::open("first");
    shop.deploy("seed");
    shop.fails(true);
    let error = shop.expect(1, &["run"]);
    shop.follow(&error, "if its effect is there already");
    shop.expect(0, &["run", "--wait", "0"]);
}

#[test]
fn an_edit_without_effect_is_restamped() {
    let mut shop = Shop::open("first");
    shop.deploy("edited-first");
    shop.expect(4, &["run"]);
    shop.expect(4, &["status", "--exit-code"]);
    let error = shop.expect(4, &["verify"]);
    shop.follow(&error, "to this one");
    shop.expect(0, &["verify", "--exit-code"]);
    shop.expect(0, &["run"]);
    shop.assert_transcript("next_restamp.txt");
}

#[test]
fn what_was_edited_in_flight_is_abandoned_and_begins_anew() {
    let mut shop = Shop::open("first");
    shop.deploy("charge");
    shop.fails(true);
    shop.expect(6, &["run"]);
    shop.fails(false);
    shop.deploy("edited-charge");
    let error = shop.expect(6, &["run"]);
    shop.follow(&error, "then begin anew");
    shop.expect(0, &["run"]);
    shop.expect(0, &["verify", "--exit-code"]);
    shop.assert_transcript("next_abandon.txt");
}

#[test]
fn another_serial_consistency_is_named() {
    let mut shop = Shop::open("first");
    shop.deploy("seed");
    let error = shop.expect(1, &["run", "--serial-consistency", "local-serial"]);
    assert!(error.stderr.starts_with("error: KM0006 "), "{}", error.stderr);
    shop.follow(&error, "so");
    shop.expect(0, &["verify", "--exit-code"]);
}

#[test]
fn a_verb_that_does_not_fit_is_refused_and_names_the_status() {
    let mut shop = Shop::open("first");
    let error = shop.expect(1, &["mark-done", "1", "--reason", "to be sure"]);
    assert!(error.stderr.starts_with("error: KM0056 "), "{}", error.stderr);
    shop.follow(&error, "see");
    shop.expect(1, &["resume"]);
    shop.expect(1, &["abandon", "7", "--reason", "gone"]);
    shop.assert_transcript("refused.txt");
}
