use std::collections::{BTreeMap, BTreeSet};

use super::change;
use crate::cql::SchemaChange;
use crate::schema::probe::{Effect, observe_role};
use crate::schema::shape::{RoleSchema, RoleSight};

/// May log in, is of `base`, and may read the keyspace `s` and change its table `t`.
fn writer() -> RoleSight {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    RoleSight::There(RoleSchema {
        can_login: true,
        is_superuser: false,
        member_of: set(&["base"]),
        permissions: BTreeMap::from([
            ("data/s".to_owned(), set(&["SELECT", "CREATE"])),
            ("data/s/t".to_owned(), set(&["MODIFY"])),
        ]),
    })
}

fn effect(source: &str, sight: &RoleSight) -> Effect {
    let SchemaChange::Role(role) = change(source) else { panic!("{source} is of no role") };
    observe_role(&role, sight, "s")
}

#[test]
fn a_role_is_told_by_what_it_may() {
    for source in [
        "CREATE ROLE writer WITH LOGIN = true",
        "CREATE ROLE writer WITH LOGIN = true AND SUPERUSER = false AND PASSWORD = 'x'",
        "CREATE USER writer WITH PASSWORD 'x' NOSUPERUSER",
        "ALTER ROLE writer WITH LOGIN = true",
        "GRANT base TO writer",
        "REVOKE other FROM writer",
        "GRANT SELECT ON KEYSPACE s TO writer",
        "GRANT SELECT, CREATE ON KEYSPACE s TO writer",
        "GRANT MODIFY ON t TO writer",
        "REVOKE MODIFY ON KEYSPACE s FROM writer",
        "REVOKE ALL ON ALL KEYSPACES FROM writer",
    ] {
        assert_eq!(effect(source, &writer()), Effect::There, "{source}");
    }
    for source in [
        "ALTER ROLE writer WITH LOGIN = false AND PASSWORD = 'x'",
        "ALTER USER writer SUPERUSER",
        "DROP ROLE writer",
        "GRANT other TO writer",
        "REVOKE base FROM writer",
        "GRANT SELECT, MODIFY ON KEYSPACE s TO writer",
        "GRANT ALL ON KEYSPACE other TO writer",
        "REVOKE CREATE, DROP ON KEYSPACE s FROM writer",
        "REVOKE ALL ON s.t FROM writer",
    ] {
        assert_eq!(effect(source, &writer()), Effect::Absent, "{source}");
    }
}

#[test]
fn one_that_may_more_or_less_than_is_said_is_another() {
    for (source, expected, found) in [
        ("CREATE ROLE writer", "login false", "login true"),
        ("CREATE ROLE IF NOT EXISTS writer WITH PASSWORD = 'x'", "login false", "login true"),
        ("CREATE USER writer SUPERUSER", "superuser true", "superuser false"),
        (
            "CREATE ROLE writer WITH SUPERUSER = true",
            "login false, superuser true",
            "login true, superuser false",
        ),
    ] {
        let other = Effect::OtherShape { expected: expected.to_owned(), found: found.to_owned() };
        assert_eq!(effect(source, &writer()), other, "{source}");
    }
}

#[test]
fn of_a_role_that_is_not_there_only_what_takes_away_has_its_effect() {
    for (source, expected) in [
        ("CREATE ROLE r", Effect::Absent),
        ("ALTER ROLE r WITH PASSWORD = 'x'", Effect::Absent),
        ("GRANT base TO r", Effect::Absent),
        ("GRANT ALL ON KEYSPACE s TO r", Effect::Absent),
        ("DROP USER r", Effect::There),
        ("REVOKE base FROM r", Effect::There),
        ("REVOKE SELECT ON KEYSPACE s FROM r", Effect::There),
    ] {
        assert_eq!(effect(source, &RoleSight::Absent), expected, "{source}");
    }
}

#[test]
fn what_is_not_shown_is_unknown() {
    for source in [
        "ALTER ROLE writer WITH PASSWORD = 'x' AND LOGIN = true",
        "ALTER USER writer WITH PASSWORD 'x'",
        "ALTER ROLE writer WITH ACCESS TO ALL DATACENTERS",
        "GRANT ALL ON KEYSPACE s TO writer",
        "GRANT EXECUTE ON FUNCTION s.f(int) TO writer",
        "ADD IDENTITY 'x' TO ROLE 'writer'",
    ] {
        assert!(matches!(effect(source, &writer()), Effect::Unknown { .. }), "{source}");
    }
    for source in ["CREATE ROLE r", "DROP ROLE r", "GRANT base TO r", "REVOKE ALL ON KEYSPACE s FROM r"] {
        assert!(matches!(effect(source, &RoleSight::Hidden), Effect::Unknown { .. }), "{source}");
    }
}
