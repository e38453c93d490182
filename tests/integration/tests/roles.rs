//! Roles and permissions: what a run sees of them, and what it does where it sees nothing.

use cassandra::Settings;
use integration::{Keyspace, Private, Relay, connected_as, eventually, private, script, within};
use kandra_migrate::{Code, Outcome, Plan, PlannedMigration, Registry, Runner};

/// A node with a login, and a keyspace by its superuser.
async fn keyspace(prefix: &str) -> (Private, Keyspace, Vec<String>) {
    let cluster = private(Settings { auth: true, ..Settings::nodes(1) }).await;
    let hosts = cluster.contact_points().iter().map(ToString::to_string).collect::<Vec<_>>();
    let keyspace = Keyspace::through(connected_as(&hosts, "cassandra").await, prefix, 1).await;
    (cluster, keyspace, hosts)
}

/// Roles are of the whole cluster, which tests share: `${writer}` and `${base}` are this keyspace's own.
fn runner<'r>(keyspace: &Keyspace, registry: &'r Registry) -> Runner<'r> {
    let runner = keyspace.brief_runner(registry);
    runner.variable("writer", role(keyspace, "Writer")).variable("base", role(keyspace, "base"))
}

fn role(keyspace: &Keyspace, name: &str) -> String {
    format!("{name}_{}", keyspace.name)
}

fn registry(plan: fn() -> Plan) -> Registry {
    script::registry(&[plan])
}

fn found(planned: &[PlannedMigration]) -> Vec<Option<&str>> {
    planned[0].steps.iter().map(|step| step.found.as_deref()).collect()
}

const THERE: Option<&str> = Some("the effect is there");

fn grants() -> Plan {
    script::plan(
        "CREATE TABLE ${keyspace}.t (a int PRIMARY KEY);
         CREATE ROLE ${base};
         CREATE ROLE ${writer} WITH LOGIN = true AND PASSWORD = 'secret-1';
         GRANT ${base} TO ${writer};
         GRANT SELECT, MODIFY ON KEYSPACE ${keyspace} TO ${base};
         GRANT ALTER ON TABLE ${keyspace}.t TO ${base};
         GRANT DESCRIBE ON ALL ROLES TO ${base};
         ALTER ROLE ${writer} WITH PASSWORD = 'secret-2';
         ALTER ROLE ${base} WITH SUPERUSER = true",
    )
}

fn grants_again() -> Plan {
    script::plan(
        "CREATE ROLE IF NOT EXISTS ${base} WITH SUPERUSER = true;
         ALTER ROLE ${base} WITH SUPERUSER = true;
         GRANT SELECT ON KEYSPACE ${keyspace} TO ${base};
         GRANT MODIFY ON ${keyspace}.t TO ${base};
         GRANT ALTER ON ${keyspace}.t TO ${base};
         CREATE ROLE ${writer} WITH PASSWORD = 'secret-3' AND LOGIN = true;
         GRANT ${base} TO ${writer};
         REVOKE DESCRIBE ON ALL ROLES FROM ${writer};
         ALTER ROLE ${writer} WITH PASSWORD = 'secret-4'",
    )
}

fn takes_back() -> Plan {
    script::plan(
        "REVOKE ${base} FROM ${writer};
         REVOKE ALTER ON ${keyspace}.t FROM ${base};
         DROP ROLE ${writer};
         DROP ROLE IF EXISTS ${base}",
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_shows_which_roles_and_permissions_are_there() {
    let (_cluster, keyspace, hosts) = keyspace("roles").await;
    let (first, again) = (registry(grants), registry(grants_again));
    let both = script::registry(&[grants, takes_back]);
    assert_eq!(found(&runner(&keyspace, &first).plan().await.unwrap()), [None; 9]);
    assert_eq!(runner(&keyspace, &first).run().await.unwrap().outcome, Outcome::Migrated);

    // Another history, of another keyspace, that meets the same roles.
    let other = Keyspace::through(keyspace.session.clone(), "roles", 1).await;
    let meets = |session: &Keyspace, registry| {
        let runner = other.by(session.session.clone()).runner(registry);
        runner.variable("writer", role(&keyspace, "Writer")).variable("base", role(&keyspace, "base"))
    };
    let planned = meets(&other, &again).plan().await.unwrap();
    let is_there = [THERE, THERE, None, None, None, THERE, THERE, THERE, None];
    assert_eq!(
        found(&planned),
        is_there,
        "permissions are on the other keyspace, and passwords are not seen"
    );

    // Who may not read the tables of roles is told nothing, and no error.
    let reader = role(&keyspace, "reader");
    keyspace.execute(&format!("CREATE ROLE {reader} WITH LOGIN = true AND PASSWORD = '{reader}'")).await;
    keyspace.execute(&format!("GRANT SELECT ON KEYSPACE {} TO {reader}", other.name)).await;
    let reader = other.by(connected_as(&hosts, &reader).await);
    let planned =
        eventually("the nodes know of the grant", || async { meets(&reader, &again).plan().await.ok() })
            .await;
    assert_eq!(found(&planned), [None; 9]);

    assert_eq!(runner(&keyspace, &both).run().await.unwrap().outcome, Outcome::Migrated);
    let roles = keyspace.rows::<(String,)>("SELECT role FROM system_auth.roles").await;
    assert!(
        !roles.iter().any(|(name,)| name.ends_with(&keyspace.name) && !name.starts_with("reader")),
        "{roles:?}"
    );
    assert!(!format!("{:?}", keyspace.snapshot().await).contains("secret"), "no password is in the ledger");
}

fn creates_role() -> Plan {
    script::plan(
        "CREATE TABLE ${keyspace}.t (a int PRIMARY KEY);
         CREATE ROLE ${writer} WITH LOGIN = true AND PASSWORD = 'secret';
         GRANT SELECT ON ${keyspace}.t TO ${writer}",
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_a_dead_run_has_made_and_not_recorded_is_seen_and_not_made_again() {
    let (_cluster, keyspace, _) = keyspace("role_killed").await;
    let relay = Relay::to(&keyspace.session).await;
    // The task's name, which is in the ledger's writes, is cut off before that.
    relay.lose_answer_to("PASSWORD = 'secret'");
    let behind = keyspace.by(relay.session_as("cassandra").await);
    let dying = tokio::spawn(async move { runner(&behind, &registry(creates_role)).run().await });
    eventually("the role is there", || async {
        let name = role(&keyspace, "Writer");
        let cql = format!("SELECT can_login FROM system_auth.roles WHERE role = '{name}'");
        keyspace.rows::<(bool,)>(&cql).await.pop()
    })
    .await;
    dying.abort();
    assert!(dying.await.unwrap_err().is_cancelled(), "it had no answer");
    assert_eq!(keyspace.steps(1).await[1].state, "INTENT");

    let registry = registry(creates_role);
    let report = within("the next run ends", runner(&keyspace, &registry).run()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    assert_eq!(keyspace.lines("taken over from ").await.len(), 1);
    assert_eq!(keyspace.lines("begun 1/2 ").await.len(), 1, "a second CREATE ROLE would have failed");
    assert_eq!(keyspace.lines("done 1/2").await.len(), 1);
}

fn over_another() -> Plan {
    script::plan("CREATE ROLE IF NOT EXISTS ${writer} WITH LOGIN = true AND PASSWORD = 'secret'")
}

#[tokio::test(flavor = "multi_thread")]
async fn if_not_exists_over_a_role_that_may_more_is_said_and_not_recorded_as_done() {
    let (_cluster, keyspace, _) = keyspace("role_shape").await;
    let name = role(&keyspace, "Writer");
    // The case of a user's name counts without quotes as well.
    keyspace.execute(&format!("CREATE USER {name} WITH PASSWORD 'x' SUPERUSER")).await;
    let registry = registry(over_another);
    let planned = runner(&keyspace, &registry).plan().await.unwrap();
    assert!(planned[0].findings[0].starts_with("KL10 step 1: "), "{planned:?}");
    let error = runner(&keyspace, &registry).run().await.unwrap_err();
    assert_eq!(error.code(), Code::OtherShape, "{error:?}");
    assert!(error.to_string().contains("expected superuser false; found superuser true"), "{error}");
    assert!(!error.explain().contains("secret"), "{}", error.explain());
    assert!(keyspace.versions().await.is_empty(), "the claim is released");

    keyspace.execute(&format!("ALTER USER {name} NOSUPERUSER")).await;
    runner(&keyspace, &registry).control().rerun(1, "it may less now").await.unwrap();
    assert_eq!(runner(&keyspace, &registry).run().await.unwrap().outcome, Outcome::Migrated);
}
