//! What each verb prints and changes.

use std::process::Stdio;

use serde_json::Value;

use crate::shop::{AtWork, EXAMPLE, REPLICATION, SHOP, Shop};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_first_run_of_the_example() {
    let mut shop = Shop::new(EXAMPLE);
    let error = shop.expect(1, &["run"]);
    shop.follow(&error, "as an example");
    shop.expect(0, &["status", "--exit-code"]);
    shop.expect(0, &["run"]);
    shop.expect(0, &["plan"]);
    shop.expect(0, &["verify", "--exit-code"]);
    shop.expect(0, &["wait"]);
    shop.expect(0, &["events", "--limit", "2"]);
    shop.assert_transcript("first_run.txt");
}

#[test]
fn a_ledger_in_another_keyspace_is_named_by_an_option_or_the_environment() {
    let mut shop = Shop::new(SHOP);
    let ops = format!("{}_ops", shop.keyspace);
    let run = ["--ledger-keyspace", &ops, "run", "--create-keyspace", REPLICATION];
    shop.expect(1, &run);
    shop.tinker(&format!("CREATE KEYSPACE {ops} WITH replication = {REPLICATION}"));
    shop.expect(0, &run);
    shop.expect(0, &["status", "--exit-code", "--ledger-keyspace", &ops]);
    shop.expect(1, &["status"]);
    shop.expect(1, &["run"]);
    shop.expect(0, &["--ledger-keyspace", &ops, "hold", "1m", "--reason", "the sale is on"]);
    shop.assert_transcript("ledger_keyspace.txt");

    let mut status = shop.command(SHOP);
    let status = status.args(["status", "--exit-code"]).env("KANDRA_LEDGER_KEYSPACE", &ops).status();
    assert!(status.unwrap().success());
}

#[test]
fn what_is_pending_is_shown_and_counts_where_that_is_asked_for() {
    let mut shop = Shop::open("first");
    shop.deploy("seed");
    shop.expect(0, &["status"]);
    shop.expect(3, &["status", "--exit-code"]);
    shop.expect(3, &["plan", "--exit-code"]);
    shop.expect(0, &["plan", "--to", "1", "--exit-code"]);
    shop.expect(3, &["verify", "--exit-code"]);
    shop.expect(3, &["wait", "--timeout", "0"]);
    shop.expect(0, &["run", "--to", "1"]);
    shop.expect(0, &["run", "--to", "2"]);
    shop.assert_transcript("pending.txt");
}

#[test]
fn what_a_start_does_not_wait_for_is_deferred_until_it_is_asked_for() {
    let mut shop = Shop::new(SHOP);
    shop.deploy("fill");
    shop.expect(0, &["run", "--create-keyspace", REPLICATION]);
    shop.expect(0, &["status", "--exit-code"]);
    shop.expect(0, &["plan", "--exit-code"]);
    shop.expect(0, &["verify", "--exit-code"]);
    shop.expect(0, &["wait", "--timeout", "0"]);
    let document = json(&shop.expect(0, &["run", "--format", "json"]).stdout);
    assert_eq!((&document["deferred"][0]["version"], &document["pending"][0]), (&2.into(), &Value::Null));
    shop.assert_transcript("deferred.txt");
    shop.fails(true);
    shop.expect(1, &["run", "--deferred"]);
    shop.fails(false);
    let ready = shop.expect(0, &["run"]);
    assert!(ready.stderr.contains("version 2 fill_names, which is deferred, has failed"), "{}", ready.stderr);
    // As it says what to type.
    let next = ready.stderr.lines().find_map(|line| line.strip_prefix("Next: ")).unwrap().to_owned();
    let applied = shop.run_line(&next);
    assert_eq!(applied.stdout, "migrated: applied 2: 2 fill_names, 3 index_names\n", "{next}");
}

#[test]
fn drift_is_shown_as_the_cql_that_leads_back() {
    let mut shop = Shop::open("first");
    shop.expect(0, &["verify", "--drift"]);
    shop.tinker("ALTER TABLE ks.users ADD mail text");
    shop.tinker("ALTER TABLE ks.users DROP name");
    shop.tinker("CREATE TABLE ks.stray (id int PRIMARY KEY)");
    shop.expect(0, &["verify"]);
    shop.expect(4, &["verify", "--drift"]);
    let document = json(&shop.expect(4, &["verify", "--drift", "--format", "json"]).stdout);
    assert_eq!(document["drift"]["differences"][0]["object"], "table stray");
    shop.assert_transcript("drift.txt");
}

#[test]
fn only_plan_cql_prints_literals() {
    let mut shop = Shop::open("first");
    shop.deploy("seed");
    let mut everything = String::new();
    for arguments in
        [&["plan"][..], &["plan", "--format", "json"], &["run"], &["events"], &["status", "--format", "json"]]
    {
        let printed = shop.expect(0, arguments);
        everything.push_str(&printed.stdout);
        everything.push_str(&printed.stderr);
    }
    assert!(!everything.contains("Lovelace"), "{everything}");
    let mut shop = Shop::open("first");
    shop.deploy("seed");
    let script = shop.expect(0, &["plan", "--cql"]);
    assert!(script.stdout.contains("VALUES (1, 'Ada Lovelace');\n"), "{}", script.stdout);
    shop.assert_transcript("plan_cql.txt");
}

#[test]
fn json_has_the_same_fields_for_each_verb() {
    let mut shop = Shop::open("first");
    shop.deploy("charge");
    let plan = json(&shop.expect(0, &["plan", "--format", "json"]).stdout);
    assert_eq!(plan["migrations"][0]["steps"][0]["kind"], "schema");
    shop.fails(true);
    let failed = json(&shop.expect(6, &["run", "--format", "json"]).stdout);
    assert_eq!(failed["error"]["code"], "KM0052");
    assert_eq!((&failed["ok"], &failed["exit_code"]), (&Value::Bool(false), &Value::from(6)));
    shop.expect(0, &["status", "--format", "json"]);
    shop.expect(0, &["mark-done", "2", "--reason", "seen", "--dry-run", "--format", "json"]);
    shop.expect(0, &["mark-done", "2", "--reason", "seen", "--format", "json"]);
    shop.expect(0, &["run", "--format", "json"]);
    shop.expect(0, &["verify", "--format", "json"]);
    shop.expect(0, &["wait", "--format", "json"]);
    shop.expect(1, &["rerun", "2", "--reason", "why not", "--format", "json"]);
    shop.expect(0, &["events", "--limit", "3", "--format", "json"]);
    shop.assert_transcript("json.txt");
}

#[test]
fn a_keyspace_from_before_there_was_a_ledger_is_baselined() {
    let mut old = Shop::open("first");
    // Another shop's keyspace, without a ledger of its migrations.
    old.deploy("seed");
    old.expect(0, &["baseline", "2", "--reason", "made by hand", "--dry-run"]);
    old.expect(3, &["verify", "--exit-code"]);
    old.expect(0, &["baseline", "2", "--reason", "made by hand"]);
    old.expect(0, &["verify", "--exit-code"]);
    old.expect(0, &["events", "--limit", "1"]);
    old.assert_transcript("baseline.txt");
}

#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    let shop = Shop::open("first");
    let mut child =
        shop.command(SHOP).arg("status").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn wait_ends_once_another_instance_has_applied_everything() {
    let mut shop = Shop::open("first");
    shop.deploy("count");
    let at_work = AtWork::start(&shop, &["run"]);
    let held = shop.expect(5, &["run", "--wait", "0"]);
    assert!(held.stderr.starts_with("error: KM0060 host pid "), "{}", held.stderr);
    let status = shop.expect(0, &["status"]);
    assert!(status.stdout.contains("lease: held by host pid "), "{}", status.stdout);
    assert!(status.stdout.contains("step 1 (count): begun"), "{}", status.stdout);
    shop.expect(3, &["wait", "--timeout", "1s"]);
    at_work.open_gate();
    shop.follow(&held, "wait");
    assert_eq!(at_work.wait().exit, 0);
}
