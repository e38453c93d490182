use crate::cql::{Finding, LintStep, Position, Rule, Statement, allowances, lint, split};

/// Codes and steps of what is found in a script of unmarked steps.
fn found(script: &str) -> Vec<(&'static str, usize)> {
    findings(script, |_| {}).iter().map(|finding| (finding.rule.code(), finding.step)).collect()
}

fn findings(script: &str, mark: impl Fn(&mut LintStep<'_>)) -> Vec<Finding> {
    let statements: Vec<Statement> = split(script).unwrap().into_iter().map(Statement::from).collect();
    let steps: Vec<LintStep<'_>> = statements
        .iter()
        .map(|statement| {
            let mut step = LintStep {
                statement,
                point_of_no_return: false,
                once: false,
                idempotent: false,
                allowed: &[],
                in_file: false,
            };
            mark(&mut step);
            step
        })
        .collect();
    lint(&steps)
}

#[test]
fn what_is_fine() {
    let script = "CREATE TABLE k.t (a int PRIMARY KEY, b frozen<address>); INSERT INTO k.t (a) VALUES (1); \
        ALTER TABLE k.t ADD c int; ALTER TABLE k.t WITH gc_grace_seconds = 3600; DROP INDEX k.i; \
        CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}; \
        ALTER KEYSPACE k WITH durable_writes = true; CREATE ROLE r; SELECT a FROM k.t";
    assert_eq!(found(script), []);
    assert_eq!(found("USE k; DROP TABLE; ALTER TABLE t ALTER a TYPE int"), [], "refused, which is an error");
}

#[test]
fn destructive_steps_are_points_of_no_return() {
    for script in ["DROP TABLE k.t", "ALTER TABLE k.t DROP a", "DELETE FROM k.t WHERE a = 1"] {
        assert_eq!(found(script), [("KL01", 0)], "{script}");
        assert_eq!(findings(script, |step| step.point_of_no_return = true), []);
    }
}

#[test]
fn what_to_say_is_as_it_is_said_there() {
    let messages = |in_file| {
        let found = findings("TRUNCATE k.t", |step| step.in_file = in_file);
        found.into_iter().map(|finding| finding.message).collect::<Vec<_>>().join("\n")
    };
    for (in_code, in_file) in [
        (".point_of_no_return()", "-- kandra: point-of-no-return"),
        (".once()", "-- kandra: once"),
        (".idempotent()", "-- kandra: idempotent"),
    ] {
        assert!(messages(false).contains(in_code) && !messages(false).contains(in_file));
        assert!(messages(true).contains(in_file) && !messages(true).contains(in_code));
    }
}

#[test]
fn a_column_that_comes_back() {
    let create = "CREATE TABLE k.t (a int PRIMARY KEY, b int, c int static);";
    let fixed = |script: &str| -> Vec<String> {
        findings(script, |step| step.point_of_no_return = true).iter().map(ToString::to_string).collect()
    };
    assert_eq!(fixed(&format!("{create} ALTER TABLE k.t DROP b; ALTER TABLE k.t ADD b int")), [""; 0]);
    assert_eq!(
        fixed(&format!("{create} ALTER TABLE k.t DROP b;\nALTER TABLE K.T ADD (x int, b text)")),
        [
            "KL02 line 2: b was dropped as int and comes back as text, which the server refuses; take another name"
        ]
    );
    assert_eq!(
        fixed(&format!("{create} ALTER TABLE k.t DROP (b, c); ALTER TABLE k.t ADD c int")),
        [
            "KL02 line 1: c was dropped as int static and comes back as int, which the server refuses; take another name"
        ]
    );
    assert_eq!(
        fixed("ALTER TABLE k.t DROP b; ALTER TABLE k.t ADD b text"),
        ["KL02 line 1: b was dropped; the server refuses it with another type than it had"]
    );
    assert_eq!(
        fixed(&format!(
            "{create} ALTER TABLE k.t RENAME b TO d; ALTER TABLE k.t DROP d; ALTER TABLE k.t ADD d int"
        )),
        [""; 0]
    );
    assert_eq!(
        fixed(&format!("{create} ALTER TABLE k.t DROP b; DROP TABLE k.t; ALTER TABLE k.t ADD b text")),
        [""; 0]
    );
    assert_eq!(fixed(&format!("{create} ALTER TABLE k.t DROP b; ALTER TABLE k.u ADD b text")), [""; 0]);
}

#[test]
fn what_cannot_be_sent_twice_is_marked() {
    for script in ["INSERT INTO k.t (a) VALUES (uuid())", "INSERT INTO k.t (a) VALUES (1) IF NOT EXISTS"] {
        assert_eq!(found(script), [("KL03", 0)], "{script}");
        assert_eq!(findings(script, |step| step.once = true), []);
        assert_eq!(findings(script, |step| step.idempotent = true), []);
    }
}

#[test]
fn rows_without_a_bound() {
    let codes = |script: &str| -> Vec<&str> {
        let marked = findings(script, |step| {
            step.once = true;
            step.point_of_no_return = true;
        });
        marked.iter().map(|finding| finding.rule.code()).collect()
    };
    for script in [
        "TRUNCATE k.t",
        "DELETE FROM k.t",
        "DELETE FROM k.t WHERE a = 1 AND b > 5",
        "BEGIN BATCH INSERT INTO k.t (a) VALUES (1); DELETE FROM k.t WHERE a = 1 AND b <= 5; UPDATE k.t SET a = 1 WHERE b = 2 APPLY BATCH",
    ] {
        assert_eq!(codes(script), ["KL04"], "{script}");
    }
    for script in [
        "DELETE FROM k.t WHERE a = 1",
        "DELETE FROM k.t WHERE a = 1 AND b > 5 AND b <= 6",
        "DELETE FROM k.t WHERE a = 1 IF c > 5",
        "BEGIN BATCH DELETE FROM k.t WHERE a = 1; UPDATE k.t SET a = 1 WHERE b = 2 IF c > 5 APPLY BATCH",
    ] {
        assert_eq!(codes(script), [""; 0], "{script}");
    }
}

#[test]
fn replication_of_keyspaces() {
    assert_eq!(
        found("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"),
        [("KL05", 0), ("KL05", 0)]
    );
    assert_eq!(
        found(
            "ALTER KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': '1', 'dc2': 3}"
        ),
        [("KL05", 0), ("KL07", 0)]
    );
}

#[test]
fn names_and_options_and_types() {
    assert_eq!(found("CREATE TABLE t (a int PRIMARY KEY)"), [("KL06", 0)]);
    assert_eq!(found("CREATE INDEX ON k.t (a); CREATE INDEX ON t (a)"), [("KL06", 1)]);
    for script in [
        "CREATE TABLE k.t (a int PRIMARY KEY) WITH gc_grace_seconds = 0",
        "ALTER TABLE k.t WITH comment = 'x' AND gc_grace_seconds = 0",
        "ALTER MATERIALIZED VIEW k.v WITH gc_grace_seconds = 0",
    ] {
        assert_eq!(found(script), [("KL08", 0)], "{script}");
    }
    for script in [
        "CREATE TABLE k.t (a int PRIMARY KEY, b frozen<\"Address\">)",
        "ALTER TABLE k.t ADD a 'com.example.Mine'",
        "ALTER TYPE k.t ADD a list<frozen<\"my type\">>",
    ] {
        assert_eq!(found(script), [("KL09", 0)], "{script}");
    }
    assert_eq!(found("ALTER TABLE k.t ADD a 'Int32Type'"), []);
}

#[test]
fn counters_are_not_to_be_filled() {
    let script = "UPDATE k.t SET c = c + 1 WHERE a = 1";
    assert_eq!(found(script), [("KL11", 0)]);
    assert_eq!(
        findings(script, |step| step.once = true).len(),
        1,
        "that it is sent once does not make it right"
    );
    assert_eq!(findings(script, |step| step.allowed = &[Rule::Counter]), []);
}

#[test]
fn what_an_earlier_step_creates_otherwise() {
    let create = "CREATE TABLE k.t (a int PRIMARY KEY, b int);";
    let other = "CREATE TABLE IF NOT EXISTS k.t (a int PRIMARY KEY, b text);";
    assert_eq!(found(&format!("{create} {other}")), [("KL10", 1)]);
    assert_eq!(
        found(&format!("{create} CREATE TABLE IF NOT EXISTS k.t (a int, b int, PRIMARY KEY (a))")),
        []
    );
    assert_eq!(found(&format!("{create} CREATE TABLE IF NOT EXISTS k.u (a int PRIMARY KEY)")), []);
    assert_eq!(
        found(&format!("{create} ALTER TABLE k.t ADD c int; {other}")),
        [],
        "it is not followed so far"
    );
    let index = "CREATE INDEX i ON k.t (a); CREATE INDEX IF NOT EXISTS i ON k.t (b); CREATE INDEX ON k.t (a); \
                 CREATE INDEX IF NOT EXISTS ON k.t (c)";
    assert_eq!(found(index), [("KL10", 1)]);
}

#[test]
fn every_rule_has_a_code_of_its_own_and_a_page() {
    for rule in Rule::ALL {
        assert_eq!(Rule::from_code(&rule.code().to_lowercase()), Some(*rule));
        assert!(rule.page().starts_with(&format!("# {}: ", rule.code())), "{rule}");
        assert!(rule.page().contains(&format!(".allow(\"{rule}\")")), "{rule}: how it is allowed in place");
    }
    assert_eq!(Rule::from_code("KL99"), None);
}

#[test]
fn a_comment_above_a_statement_allows_rules_for_it() {
    let script = "-- kandra: allow KL08\r\n/* -- kandra: allow KL01 */ CREATE TABLE k.t (a int);\n\n  \
        // kandra: allow KL04, kl01 KL99\nTRUNCATE k.t -- kandra: allow KL02\n; '-- kandra: allow KL03' -- kandra: allow KL05\n";
    let allowed: Vec<_> = allowances(script)
        .unwrap()
        .into_iter()
        .map(|allowance| (allowance.statement, allowance.code, allowance.rule, allowance.position))
        .collect();
    let at = |line, column| Position { line, column };
    assert_eq!(
        allowed,
        [
            (0, "KL08".to_owned(), Some(Rule::NoGrace), at(1, 1)),
            (1, "KL04".to_owned(), Some(Rule::Unbounded), at(4, 3)),
            (1, "kl01".to_owned(), Some(Rule::Destructive), at(4, 3)),
            (1, "KL99".to_owned(), None, at(4, 3)),
        ]
    );
    assert!(allowances("'open").is_err());
    assert_eq!(allowances("a; -- kandra: allowed\n b").unwrap(), []);
}
