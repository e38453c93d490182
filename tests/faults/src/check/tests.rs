use std::collections::BTreeMap;

use uuid::Uuid;

use super::*;

fn spec() -> Spec {
    let once = StepSpec::of(Effect::Execution("task")).once();
    let first = VersionSpec { version: 1, steps: vec![StepSpec::of(Effect::Table("t")), once] };
    let second = VersionSpec { version: 2, steps: vec![StepSpec::of(Effect::Item(1)).failing()] };
    Spec { versions: vec![first, second] }
}

const HISTORY: [(&str, &str); 5] = [
    ("a", "acquired"),
    ("a", "claimed 1 first\nbegun 1/1 CREATE TABLE t"),
    ("b", "taken over from a"),
    ("b", "begun 1/1 CREATE TABLE t"),
    ("b", "done 1/1\nbegun 1/2 task"),
];

/// A record as those events make it, plus these.
fn record(more: &[(&str, &str)]) -> Record {
    let events: Vec<_> = HISTORY.iter().chain(more).collect();
    let events: Vec<_> = (1..)
        .zip(events)
        .map(|(rev, (actor, text))| Event {
            rev,
            actor: (*actor).to_owned(),
            text: (*text).to_owned(),
            error: text.starts_with("failed").then(|| "why".to_owned()),
        })
        .collect();
    let replay = Replay::of(&spec(), &events, &mut Vec::new());
    let head = Head {
        epoch: replay.epochs(),
        rev: i64::try_from(events.len()).unwrap(),
        owner: replay.owner().map(str::to_owned),
    };
    let (versions, steps) = (replay.versions().clone(), replay.steps().clone());
    let tables = BTreeMap::from([("t".to_owned(), [Uuid::nil()].into())]);
    let executions = BTreeMap::from([("task".to_owned(), [Uuid::nil()].into())]);
    Record { head: Some(head), versions, steps, events, tables, executions, ..Record::default() }
}

fn wrong(record: &Record) -> Vec<String> {
    check(&spec(), record, &[], &BTreeMap::new())
}

#[track_caller]
fn assert_wrong(record: &Record, what: &str) {
    let wrong = wrong(record);
    assert!(wrong.iter().any(|line| line.contains(what)), "{what}: {wrong:?}");
}

const END: (&str, &str) = ("b", "done 1/2\ncompleted 1\nreleased");

#[test]
fn a_history_with_a_takeover_is_right() {
    assert_eq!(wrong(&record(&[])), [""; 0]);
    assert_eq!(wrong(&record(&[END])), [""; 0]);
}

#[test]
fn two_writers_are_found() {
    assert_wrong(&record(&[("a", "done 1/2")]), "the lease is held by");
    assert_wrong(&record(&[("c", "acquired")]), "the lease was held by");
    assert_wrong(&record(&[("c", "taken over from a")]), "the lease was held by");
}

#[test]
fn a_version_completes_once_in_order_and_with_all_steps() {
    assert_wrong(&record(&[("b", "completed 1")]), "step 2 is not done");
    assert_wrong(&record(&[("b", "claimed 2 second")]), "version 1 is not completed");
    assert_wrong(&record(&[("b", "done 1/2\ncompleted 1\ncompleted 1")]), "the version is COMPLETED");
    assert_wrong(&record(&[END, ("b", "acquired"), ("b", "claimed 1 first")]), "the version is COMPLETED");
}

#[test]
fn no_done_without_its_begin_or_its_effect() {
    assert_wrong(&record(&[("b", "done 1/1")]), "the step is");
    let mut record = record(&[END]);
    record.tables.clear();
    assert_wrong(&record, "its effect is not there");
}

#[test]
fn what_is_once_is_executed_once_and_nothing_that_was_not_begun() {
    let mut record = record(&[END]);
    record.executions.insert("task".to_owned(), [Uuid::nil(), Uuid::max()].into());
    assert_wrong(&record, "was executed 2 times");
    assert_wrong(&record, "begun 1 times");
}

#[test]
fn a_failure_is_no_success() {
    let fails = [END, ("c", "acquired"), ("c", "claimed 2 second\nbegun 2/1 INSERT")];
    let done = [&fails[..], &[("c", "done 2/1")]].concat();
    assert_wrong(&record(&done), "never succeeds");
    let failed = [&fails[..], &[("c", "failed 2/1")]].concat();
    assert_eq!(wrong(&record(&failed)), [""; 0]);
}

#[test]
fn what_has_failed_and_is_found_all_the_same_is_done() {
    let failed = [("b", "failed 1/2"), ("c", "acquired")];
    let found = [&failed[..], &[("c", "done 1/2\nclaimed 1 first\ncompleted 1\nreleased")]].concat();
    assert_eq!(wrong(&record(&found)), [""; 0]);
    let never_begun = [&failed[..], &[("c", "done 1/3\nclaimed 1 first")]].concat();
    assert_wrong(&record(&never_begun), "the step is");
}

#[test]
fn rows_say_what_the_events_say() {
    let mut lost = record(&[END]);
    lost.versions.clear();
    assert_wrong(&lost, "the versions are");
    let mut other = record(&[END]);
    other.steps.insert((1, 0), "INTENT".to_owned());
    assert_wrong(&other, "the steps are");
    let mut head = record(&[END]);
    head.head = None;
    assert_wrong(&head, "the head's epoch");
}

#[test]
fn ok_and_application_rows_are_held_against_the_end() {
    let ended = Ended { run: "a".to_owned(), versions: vec![1, 2], code: None, text: String::new() };
    let written = BTreeMap::from([(7, "mine".to_owned())]);
    let wrong = check(&spec(), &record(&[END]), &[ended], &written);
    assert!(wrong[0].contains("[2] are not completed") && wrong[1].contains("item 7"), "{wrong:?}");
}

#[test]
fn two_ids_of_a_table_are_found() {
    let mut record = record(&[END]);
    record.tables.insert("t".to_owned(), [Uuid::nil(), Uuid::max()].into());
    assert_wrong(&record, "several ids");
}
