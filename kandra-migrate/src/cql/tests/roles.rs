use std::collections::BTreeSet;

use crate::cql::{NotIdempotent, QualifiedName, Resource, RoleChange, RoleOptions, SchemaChange, one};

fn role(source: &str) -> RoleChange {
    let found = one(source).unwrap_or_else(|error| panic!("{}", error.explain())).classify();
    assert_eq!(found.refused, None, "{source}");
    let Some(SchemaChange::Role(change)) = found.change else { panic!("{source} is of no role") };
    change
}

fn options(login: Option<bool>, superuser: Option<bool>, unseen: bool) -> RoleOptions {
    RoleOptions { login, superuser, unseen }
}

#[test]
fn what_is_said_of_a_role_is_read_and_its_password_is_not_kept() {
    let create = |role: &str, options| RoleChange::Create { role: role.to_owned(), options };
    let alter = |role: &str, options| RoleChange::Alter { role: role.to_owned(), options };
    let drop = |role: &str| RoleChange::Drop { role: role.to_owned() };
    let nothing = || options(None, None, false);
    let unseen = || options(None, None, true);
    for (source, expected) in [
        ("CREATE ROLE R", create("r", nothing())),
        ("CREATE ROLE IF NOT EXISTS \"R r\"", create("R r", nothing())),
        ("create role 'It''s' with login = TRUE", create("It's", options(Some(true), None, false))),
        (
            "CREATE ROLE r WITH PASSWORD = 'a AND SUPERUSER = true' AND LOGIN = false AND SUPERUSER = true",
            create("r", options(Some(false), Some(true), true)),
        ),
        (
            "CREATE ROLE r WITH OPTIONS = {'a': 'b', 'c': 1} AND LOGIN = true",
            create("r", options(Some(true), None, true)),
        ),
        ("CREATE ROLE r WITH HASHED PASSWORD = '$2a$10'", create("r", unseen())),
        (
            "CREATE ROLE r WITH GENERATED PASSWORD AND SUPERUSER = false",
            create("r", options(None, Some(false), true)),
        ),
        ("CREATE ROLE r WITH ACCESS TO DATACENTERS {'a', 'b'}", create("r", unseen())),
        ("ALTER ROLE r WITH ACCESS TO ALL DATACENTERS", alter("r", unseen())),
        ("ALTER ROLE IF EXISTS r WITH ACCESS FROM CIDRS {'x'} AND LOGIN = true", {
            alter("r", options(Some(true), None, true))
        }),
        ("ALTER ROLE r WITH SUPERUSER = false", alter("r", options(None, Some(false), false))),
        ("ALTER ROLE r WITH PASSWORD = $$x$$", alter("r", unseen())),
        ("DROP ROLE IF EXISTS R", drop("r")),
        // The case of a user's name counts.
        ("CREATE USER Ada", create("Ada", options(Some(true), None, false))),
        (
            "CREATE USER IF NOT EXISTS ada WITH PASSWORD 'superuser' NOSUPERUSER",
            create("ada", options(Some(true), Some(false), true)),
        ),
        (
            "CREATE USER ada WITH HASHED PASSWORD 'x' SUPERUSER",
            create("ada", options(Some(true), Some(true), true)),
        ),
        ("ALTER USER Ada SUPERUSER", alter("Ada", options(None, Some(true), false))),
        ("ALTER USER 'ada' WITH PASSWORD 'x'", alter("ada", unseen())),
        ("DROP USER Ada", drop("Ada")),
        ("ADD IDENTITY 'spiffe://x' TO ROLE 'r'", RoleChange::Identity),
        ("DROP IDENTITY IF EXISTS 'spiffe://x'", RoleChange::Identity),
    ] {
        assert_eq!(role(source), expected, "{source}");
    }
}

#[test]
fn what_is_granted_and_to_whom_is_read() {
    let membership = |role: &str, of: &str, granted| RoleChange::Membership {
        role: role.to_owned(),
        of: of.to_owned(),
        granted,
    };
    let permissions = |names: &[&str], resource, granted| RoleChange::Permissions {
        role: "r".to_owned(),
        permissions: names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>(),
        resource,
        granted,
    };
    for (source, expected) in [
        ("GRANT Base TO \"R\"", membership("R", "base", true)),
        ("REVOKE 'Base' FROM r", membership("r", "Base", false)),
        (
            "GRANT select ON KEYSPACE K TO r",
            permissions(&["SELECT"], Resource::Keyspace("k".to_owned()), true),
        ),
        (
            "GRANT SELECT PERMISSION, MODIFY ON TABLE k.\"T\" TO r",
            permissions(&["MODIFY", "SELECT"], Resource::Table(QualifiedName::new("k", "T")), true),
        ),
        ("REVOKE MODIFY ON t FROM r", {
            permissions(&["MODIFY"], Resource::Table(QualifiedName::unqualified("t")), false)
        }),
        ("GRANT ALL PERMISSIONS ON ALL KEYSPACES TO r", permissions(&[], Resource::AllKeyspaces, true)),
        (
            "REVOKE ALL ON ALL TABLES IN KEYSPACE k FROM r",
            permissions(&[], Resource::AllTables("k".to_owned()), false),
        ),
        ("GRANT DESCRIBE ON ALL ROLES TO r", permissions(&["DESCRIBE"], Resource::AllRoles, true)),
        ("GRANT ALTER ON ROLE 'A' TO r", permissions(&["ALTER"], Resource::Role("A".to_owned()), true)),
        ("GRANT EXECUTE ON FUNCTION k.f(int, text) TO r", permissions(&["EXECUTE"], Resource::Other, true)),
        (
            "GRANT EXECUTE ON ALL FUNCTIONS IN KEYSPACE k TO r",
            permissions(&["EXECUTE"], Resource::Other, true),
        ),
        ("GRANT SELECT ON MBEAN 'a:b=c' TO r", permissions(&["SELECT"], Resource::Other, true)),
    ] {
        assert_eq!(role(source), expected, "{source}");
    }
    assert_eq!(Resource::Table(QualifiedName::unqualified("t")).stored("k").as_deref(), Some("data/k/t"));
    assert_eq!(Resource::AllTables("k".to_owned()).stored("x").as_deref(), Some("data/k/*"));
    assert_eq!(Resource::Other.stored("k"), None);
}

#[test]
fn what_a_server_refuses_the_second_time_cannot_be_sent_twice() {
    let twice = |source| one(source).expect("a statement").classify().not_idempotent;
    for source in ["CREATE ROLE r", "DROP USER r", "GRANT a TO b", "REVOKE a FROM b"] {
        assert_eq!(twice(source), Some(NotIdempotent::Once), "{source}");
    }
    for source in [
        "CREATE ROLE IF NOT EXISTS r",
        "ALTER USER r WITH PASSWORD 'x'",
        "DROP ROLE IF EXISTS r",
        "GRANT SELECT ON k.t TO r",
        "REVOKE ALL ON ALL KEYSPACES FROM r",
    ] {
        assert_eq!(twice(source), None, "{source}");
    }
}
