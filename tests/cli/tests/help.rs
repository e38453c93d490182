//! Help and usage errors, which need no database.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use crate::golden;
use crate::shop::{EXAMPLE, Printed, SHOP};

const VERBS: [&str; 15] = [
    "status",
    "plan",
    "verify",
    "lint",
    "run",
    "wait",
    "pause",
    "resume",
    "hold",
    "mark-done",
    "rerun",
    "abandon",
    "restamp",
    "baseline",
    "events",
];

fn run(binary: &str, arguments: &[&str]) -> Printed {
    let mut command = Command::new(binary);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("KANDRA_")) {
        command.env_remove(name);
    }
    Printed::of(&command.args(arguments).stdin(Stdio::null()).output().expect("the binary starts"))
}

#[test]
fn the_help_names_each_verb_and_exit_code() {
    let help = run(EXAMPLE, &["--help"]);
    assert_eq!((help.exit, help.stderr.as_str()), (0, ""));
    golden::assert("help.txt", &help.stdout);
}

#[test]
fn each_verb_has_a_help() {
    let mut all = String::new();
    for verb in VERBS {
        let help = run(SHOP, &[verb, "--help"]);
        assert_eq!((help.exit, help.stderr.as_str()), (0, ""), "{verb}");
        // The options that all of them have are in the help of the whole.
        let own = help.stdout.split("\nConnection:\n").next().unwrap();
        writeln!(all, "$ shop {verb} --help\n{own}").unwrap();
    }
    golden::assert("help_of_verbs.txt", &all);
}

#[test]
fn what_is_not_understood_exits_with_2_and_needs_no_database() {
    let mut all = String::new();
    for arguments in [
        &[][..],
        &["frobnicate"],
        &["status"],
        &["status", "--url", "db/shop"],
        &["status", "--url", "cassandra://ada:secret@db/shop"],
        &["status", "--url", "cassandra://db/shop", "--password-file", "/nowhere/password"],
        &["mark-done", "3"],
        &["mark-done", "--reason", "seen"],
        &["hold", "5"],
        &["run", "--wait", "soon"],
    ] {
        let printed = run(SHOP, arguments);
        assert_eq!((printed.exit, printed.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(!printed.stderr.contains("secret"), "{}", printed.stderr);
        writeln!(all, "$ shop {}\n{}", arguments.join(" "), printed.stderr).unwrap();
    }
    golden::assert("usage_errors.txt", &all);
}

#[test]
fn an_unreachable_database_exits_with_7() {
    let printed = run(SHOP, &["status", "--url", "cassandra://127.0.0.1:1/shop"]);
    assert_eq!((printed.exit, printed.stdout.as_str()), (7, ""));
    assert!(printed.stderr.starts_with("error: KM0001 "), "{}", printed.stderr);
}
