//! What a run finds in the schema, and what it leaves there.

use std::time::Duration;

use integration::{Keyspace, connect, script};
use kandra_migrate::{Code, Plan, Registry, cql};

async fn keyspace(prefix: &str) -> Keyspace {
    Keyspace::through(connect().await, prefix, 1).await
}

/// What somebody has made by hand, a statement over it that would do nothing, and how the error tells the difference.
type Over = (&'static str, fn() -> Plan, &'static str);

const OVER: [Over; 6] = [
    (
        "CREATE TABLE ks.users (id int PRIMARY KEY, name blob)",
        || {
            script::plan(
                "CREATE TABLE IF NOT EXISTS ${keyspace}.users (id int PRIMARY KEY, name text, age int)",
            )
        },
        "expected name text, age int; found name blob, no column age",
    ),
    (
        "CREATE TABLE ks.clustered (a int, b int, c int, PRIMARY KEY (a, b))",
        || {
            script::plan(
                "CREATE TABLE IF NOT EXISTS ${keyspace}.clustered (a int, b int, c int, PRIMARY KEY (a, b)) WITH CLUSTERING ORDER BY (b DESC)",
            )
        },
        "expected b int clustering 0 desc; found b int clustering 0 asc",
    ),
    (
        "CREATE TYPE ks.address (street text, zip int)",
        || script::plan("CREATE TYPE IF NOT EXISTS ${keyspace}.address (street text, zip text)"),
        "expected zip text; found zip int",
    ),
    (
        "CREATE TABLE ks.i (a int PRIMARY KEY, b int, c int); CREATE INDEX by_it ON ks.i (b)",
        || script::plan("CREATE INDEX IF NOT EXISTS by_it ON ${keyspace}.i (c)"),
        "expected on c; found on b",
    ),
    (
        "CREATE TABLE ks.base (a int PRIMARY KEY, b int, c int); CREATE MATERIALIZED VIEW ks.v AS SELECT * FROM ks.base WHERE a IS NOT NULL AND b IS NOT NULL PRIMARY KEY (b, a)",
        || {
            script::plan(
                "CREATE MATERIALIZED VIEW IF NOT EXISTS ${keyspace}.v AS SELECT a, c FROM ${keyspace}.base WHERE a IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, a)",
            )
        },
        "expected key (c), a",
    ),
    (
        "CREATE TABLE ks.added (a int PRIMARY KEY, b int)",
        || script::plan("ALTER TABLE ${keyspace}.added ADD IF NOT EXISTS b text"),
        "expected b text; found b int",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn if_not_exists_over_another_shape_is_said_and_not_recorded_as_done() {
    for (by_hand, plan, difference) in OVER {
        let keyspace = keyspace("shape").await;
        for statement in by_hand.split("; ") {
            keyspace.execute(statement).await;
        }
        let registry = script::registry(&[plan]);
        let planned = keyspace.runner(&registry).plan().await.unwrap();
        assert!(
            planned[0].findings.iter().any(|finding| finding.starts_with("KL10 step 1: ")),
            "{by_hand}: {:?}",
            planned[0]
        );
        let before = keyspace.snapshot().await.columns;
        let error = keyspace.runner(&registry).run().await.unwrap_err();
        assert_eq!(error.code(), Code::OtherShape, "{error:?}");
        assert!(error.to_string().contains(difference), "{error}");
        assert!(keyspace.versions().await.is_empty(), "the claim is released");
        assert_eq!(keyspace.steps(1).await[0].state, "FAILED");
        let after = keyspace.snapshot().await.columns;
        let ours = |column: &&String| !column.starts_with("kandra_migrations.");
        assert_eq!(after.iter().filter(ours).collect::<Vec<_>>(), before.iter().collect::<Vec<_>>());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn if_not_exists_over_the_same_shape_or_with_an_allowance_goes_on() {
    let keyspace = keyspace("same_shape").await;
    keyspace.execute("CREATE TABLE ks.users (id int PRIMARY KEY, name text, more int)").await;
    keyspace.execute("CREATE TABLE ks.other (id int PRIMARY KEY)").await;
    let registry = script::registry(&[|| {
        Plan::new([
            cql("CREATE TABLE IF NOT EXISTS ${keyspace}.users (id int PRIMARY KEY, name text)"),
            cql("CREATE TABLE IF NOT EXISTS ${keyspace}.fresh (id int PRIMARY KEY)"),
            cql("CREATE TABLE IF NOT EXISTS ${keyspace}.other (id int PRIMARY KEY, name text)").allow("KL10"),
        ])
    }]);
    let planned = keyspace.runner(&registry).plan().await.unwrap();
    let found: Vec<_> = planned[0].steps.iter().map(|step| step.found.as_deref()).collect();
    assert_eq!(found[0], Some("the effect is there, and more: more"));
    assert_eq!(found[1], None);
    assert_eq!(found[2], Some("expected name text; found no column name"));
    assert_eq!(planned[0].findings, [""; 0], "it is allowed");
    let report = keyspace.runner(&registry).run().await.unwrap();
    assert!(
        report.warnings.iter().any(|warning| warning.contains("does nothing, as it allows")),
        "{report:?}"
    );
    assert_eq!(keyspace.versions().await[&1], "COMPLETED");
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_shows_what_is_there_and_what_will_be_refused() {
    let keyspace = keyspace("outlook").await;
    keyspace.execute("CREATE TABLE ks.t (a int PRIMARY KEY, b int, gone int, c int)").await;
    keyspace.execute("ALTER TABLE ks.t DROP gone").await;
    keyspace.execute("ALTER TABLE ks.t RENAME a TO d").await;
    let registry = script::registry(&[|| {
        script::plan(
            "ALTER TABLE ${keyspace}.t ADD (b int, n int); ALTER TABLE ${keyspace}.t RENAME a TO d;
             ALTER TABLE ${keyspace}.t ADD gone text; CREATE TYPE ${keyspace}.u (a int); DROP TYPE ${keyspace}.u;
             DROP TABLE ${keyspace}.never",
        )
    }]);
    let planned = keyspace.runner(&registry).plan().await.unwrap();
    let found: Vec<_> = planned[0].steps.iter().map(|step| step.found.as_deref().unwrap_or("-")).collect();
    assert_eq!(
        found,
        [
            "the effect is there for b, not for n",
            "the effect is there",
            "column gone was dropped as regular int; it cannot come back as regular text",
            "-",
            "-",
            "the effect is there",
        ]
    );
}

fn shop() -> Plan {
    script::plan(
        "CREATE TYPE ${keyspace}.address (street text, zip int);
         CREATE TABLE ${keyspace}.users (id int, at timestamp, name text, home frozen<address>, tags set<text>, seen int STATIC, PRIMARY KEY (id, at)) WITH CLUSTERING ORDER BY (at DESC) AND comment = 'it''s';
         CREATE TABLE ${keyspace}.counts (id text PRIMARY KEY, n counter) WITH gc_grace_seconds = 3600;
         CREATE INDEX by_name ON ${keyspace}.users (name);
         CREATE INDEX by_tag ON ${keyspace}.users (tags);
         CREATE MATERIALIZED VIEW ${keyspace}.by_home AS SELECT id, at, name FROM ${keyspace}.users WHERE id IS NOT NULL AND at IS NOT NULL AND name IS NOT NULL PRIMARY KEY (name, id, at);
         CREATE FUNCTION ${keyspace}.sum_up (a int, b int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS $$ String s = \"it's;\"; // end
           return a + b; $$;
         CREATE AGGREGATE ${keyspace}.total (int) SFUNC sum_up STYPE int INITCOND 0",
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn drift_is_told_object_by_object_and_its_cql_leads_back() {
    let keyspace = keyspace("drift").await;
    let registry = script::registry(&[shop]);
    let drift = keyspace.runner(&registry).drift().await.unwrap();
    assert!(!drift.compared && drift.version.is_none(), "{drift}");
    keyspace.runner(&registry).run().await.unwrap();
    let drift = keyspace.runner(&registry).drift().await.unwrap();
    assert!(drift.compared && drift.differences.is_empty() && drift.version == Some(1), "{drift}");

    for by_hand in [
        "DROP MATERIALIZED VIEW ks.by_home",
        "DROP INDEX ks.by_name",
        "CREATE INDEX by_name ON ks.users (home)",
        "ALTER TABLE ks.users DROP seen",
        "ALTER TABLE ks.users ADD age int",
        "ALTER TABLE ks.users WITH comment = 'x' AND gc_grace_seconds = 0",
        "DROP TABLE ks.counts",
        "CREATE TABLE ks.stray (a int PRIMARY KEY)",
        "CREATE TYPE ks.stray (a int)",
        "ALTER TYPE ks.address RENAME street TO road",
        "CREATE OR REPLACE FUNCTION ks.sum_up (a int, b int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'",
        "DROP AGGREGATE ks.total",
    ] {
        keyspace.execute(by_hand).await;
    }
    let drift = keyspace.runner(&registry).drift().await.unwrap();
    let told: Vec<_> = drift
        .differences
        .iter()
        .map(|difference| format!("{}: {}", difference.object, difference.what))
        .collect();
    assert_eq!(
        told,
        [
            "table stray: was not there",
            "type stray: was not there",
            "type address: field road was called street",
            "table counts: is gone",
            "table users: column seen is gone; column age was not there; had comment = 'it''s' AND gc_grace_seconds = 864000",
            "index by_name: is another one",
            "materialized view by_home: is gone",
            "function sum_up(int, int): is another one",
            "aggregate total(int): is gone",
        ]
    );
    // As it is printed, it leads back.
    for cql in drift.differences.iter().flat_map(|difference| &difference.cql) {
        keyspace.execute(cql).await;
    }
    let drift = keyspace.runner(&registry).drift().await.unwrap();
    assert!(drift.compared && drift.differences.is_empty(), "{drift}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_is_waited_for_on_each_node() {
    let keyspace = keyspace("built").await;
    keyspace.execute("CREATE TABLE ks.t (a int PRIMARY KEY, b int, c text)").await;
    for a in 0..2_000 {
        let text = format!("INSERT INTO {}.t (a, b, c) VALUES ({a}, {}, 'c{a}')", keyspace.name, a % 7);
        keyspace.session.query_unpaged(text, ()).await.unwrap();
    }
    let registry = script::registry(&[|| {
        Plan::new([
            cql("CREATE INDEX by_b ON ${keyspace}.t (b)").wait_built(),
            cql("CREATE INDEX ON ${keyspace}.t (c)").wait_built(),
            cql("CREATE MATERIALIZED VIEW ${keyspace}.v AS SELECT * FROM ${keyspace}.t WHERE a IS NOT NULL AND b IS NOT NULL PRIMARY KEY (b, a)")
                .wait_built()
                .stall_timeout(Duration::from_secs(120)),
        ])
    }]);
    let report = keyspace.runner(&registry).run().await.unwrap();
    assert!(!report.warnings.iter().any(|warning| warning.contains("are down")), "{report:?}");
    let built = format!("SELECT index_name FROM system.\"IndexInfo\" WHERE table_name = '{}'", keyspace.name);
    for mut indexes in keyspace.of_each_node::<String>(&built).await {
        indexes.sort_unstable();
        assert_eq!(indexes, ["by_b", "t_c_idx"]);
    }
    let built = format!("SELECT view_name FROM system.built_views WHERE keyspace_name = '{}'", keyspace.name);
    for views in keyspace.of_each_node::<String>(&built).await {
        assert_eq!(views, ["v"]);
    }
    // Not that the view has all rows: what a node has built for another one it sends without waiting for an answer.
}

#[test]
fn a_registry_is_linted_without_a_database() {
    let registry: Registry = script::registry(&[
        || script::plan("CREATE TABLE ${keyspace}.t (a int PRIMARY KEY, b int)"),
        || script::plan("ALTER TABLE ${keyspace}.t DROP b; TRUNCATE t"),
        || {
            Plan::new([
                cql("ALTER TABLE ${keyspace}.t ADD b text"),
                cql("CREATE TABLE ${keyspace}.u (a int PRIMARY KEY) WITH gc_grace_seconds = 0").allow("KL08"),
            ])
        },
    ]);
    let findings = registry.lint().unwrap();
    let found: Vec<_> =
        findings.iter().map(|f| (f.rule.code(), f.version.get(), f.step, f.statement.as_str())).collect();
    assert_eq!(
        found,
        [
            ("KL01", 2, 1, "ALTER TABLE ${keyspace}.t DROP b"),
            ("KL01", 2, 2, "TRUNCATE t"),
            ("KL03", 2, 2, "TRUNCATE t"),
            ("KL04", 2, 2, "TRUNCATE t"),
            ("KL06", 2, 2, "TRUNCATE t"),
            ("KL02", 3, 1, "ALTER TABLE ${keyspace}.t ADD b text"),
        ]
    );
    assert!(findings[0].rule.page().contains("point_of_no_return"), "{}", findings[0]);
}
