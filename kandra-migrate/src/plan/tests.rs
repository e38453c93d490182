//! What becomes of the tasks of a plan.

use std::time::Duration;

use super::{Destination, Plan, Repeat, StepKind, Steps, cql, cql_file};
use crate::cql::Variables;
use crate::error::{Code, Error};
use crate::migration::{Migration, Source};

const FILE: &str = "CREATE TABLE ${keyspace}.a (id int PRIMARY KEY);
-- kandra: undo
DROP TABLE ${keyspace}.a;

-- kandra: once, timeout 5m
UPDATE ${keyspace}.a SET b = ${value} WHERE id = 1;
UPDATE ${keyspace}.a SET b = 2 WHERE id = 1;
";

fn migration(reaches_outside: Option<&'static str>, plan: fn() -> Plan) -> Migration {
    Migration::new(Source {
        version: 1,
        name: "a",
        checksum: "k1:00",
        also: &[],
        accept: &[],
        reaches_outside,
        out_of_order: false,
        after_start: false,
        file: "src/m.rs",
        line: 7,
        module_path: "tests::m",
        files: &[("cql/a.cql", FILE)],
        plan,
    })
}

fn compile(reaches_outside: Option<&'static str>, plan: fn() -> Plan) -> Result<Steps, Error> {
    let destination = Destination::new("shop", None).with(Variables::new().with("value", "it's"));
    Steps::compile(&migration(reaches_outside, plan), &destination).map_err(Error::from)
}

#[test]
fn each_statement_of_a_file_is_a_step_with_what_is_said_of_it() {
    let plan =
        || Plan::new([cql_file("cql/a.cql", FILE).timeout(Duration::from_secs(9)).retries(2), cql("USE x")]);
    assert_eq!(compile(None, plan).unwrap_err().code(), Code::CqlUse);
    let plan = || Plan::new([cql_file("cql/a.cql", FILE).timeout(Duration::from_secs(9)).retries(2)]);
    let steps = compile(None, plan).unwrap();
    let seen: Vec<_> = steps
        .iter()
        .map(|step| {
            (step.location.as_str(), step.repeat, step.timeout.unwrap_or_default().as_secs(), step.retries)
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("cql/a.cql:1", Repeat::Probe, 9, 2),
            ("cql/a.cql:6", Repeat::Once, 300, 2),
            ("cql/a.cql:7", Repeat::Idempotent, 9, 2)
        ]
    );
    assert_eq!(steps.get(0).undo.as_deref(), Some("DROP TABLE \"shop\".a"));
    assert_eq!(steps.get(1).undo, None);
    assert!(steps.get(1).task.starts_with("UPDATE"), "{}", steps.get(1).task);
}

#[test]
fn a_named_file_names_its_steps() {
    let steps = compile(None, || Plan::new([cql_file("cql/a.cql", FILE).named("tables")])).unwrap();
    let names: Vec<_> = steps.iter().map(|step| step.task.as_str()).collect();
    assert_eq!(names, ["tables 1", "tables 2", "tables 3"]);
}

#[test]
fn a_file_that_the_checksum_does_not_cover_is_refused() {
    let plan = || Plan::new([cql_file("cql/b.cql", "DROP TABLE ${keyspace}.b")]);
    let error = compile(None, plan).unwrap_err();
    assert_eq!(error.code(), Code::FileUse, "{error}");
    assert!(error.to_string().contains("cql/b.cql (") && error.to_string().contains("tests.rs:"), "{error}");
    assert!(compile(Some("it is shared"), plan).is_ok());
}

#[test]
fn what_a_file_of_a_plan_cannot_say_is_refused() {
    let with_setting =
        || Plan::new([cql_file("cql/a.cql", "-- kandra: out-of-order\nDROP TABLE ${keyspace}.a")]);
    assert_eq!(compile(None, with_setting).unwrap_err().code(), Code::FileUse);
    let with_undo = || Plan::new([cql_file("cql/a.cql", FILE).undo("DROP TABLE ${keyspace}.a")]);
    assert_eq!(compile(None, with_undo).unwrap_err().code(), Code::FileUse);
    let malformed = || Plan::new([cql_file("cql/a.cql", "DROP TABLE 'a")]);
    let error = compile(None, malformed).unwrap_err();
    assert_eq!(error.code(), Code::FileMalformed);
    assert!(error.to_string().contains("cql/a.cql:1: column 12"), "{error}");
}

#[test]
fn one_undo_of_a_file_with_one_statement_is_its_undo() {
    let plan = || {
        Plan::new([cql_file("cql/a.cql", "ALTER TABLE ${keyspace}.a ADD b int")
            .undo("ALTER TABLE ${keyspace}.a DROP b")])
    };
    assert_eq!(compile(None, plan).unwrap().get(0).undo.as_deref(), Some("ALTER TABLE \"shop\".a DROP b"));
}

#[test]
fn errors_are_at_their_line_of_the_file() {
    let plan = || Plan::new([cql_file("cql/a.cql", "-- x\n\nDROP TABLE\n  ${other}.a")]);
    let error = compile(None, plan).unwrap_err();
    assert_eq!(error.code(), Code::VariableMissing);
    assert!(error.to_string().contains("(cql/a.cql:3, cql): ${other} has no value"), "{error}");
    assert!(error.explain().contains("CQL line 4, column 3"), "{}", error.explain());
}

#[test]
fn what_cannot_be_classified_is_sent_once_where_that_is_said() {
    assert_eq!(compile(None, || Plan::new([cql("FROB a")])).unwrap_err().code(), Code::CqlUnclassified);
    let plan = || {
        Plan::new([
            cql("FROB a").unclassified(),
            cql("CREATE TABLE a FROM b").unclassified().idempotent(),
            cql("DROP TABLE ${keyspace}.a").unclassified(),
        ])
    };
    let steps = compile(None, plan).unwrap();
    let seen: Vec<_> = steps.iter().map(|step| (step.kind, step.repeat)).collect();
    assert_eq!(
        seen,
        [
            (StepKind::Schema, Repeat::Once),
            (StepKind::Schema, Repeat::Idempotent),
            (StepKind::Schema, Repeat::Probe)
        ]
    );
    assert_eq!(compile(None, || Plan::new([cql("USE a").unclassified()])).unwrap_err().code(), Code::CqlUse);
}

#[test]
fn without_a_database_variables_stay_as_they_are() {
    let plan = || Plan::new([cql("UPDATE ${keyspace}.a SET b = ${other} WHERE id = 1"), cql("DROP TABLE a")]);
    let steps = Steps::compile(&migration(None, plan), &Destination::unknown()).map_err(Error::from).unwrap();
    assert_eq!(steps.len(), 2);
}
