//! Statements on roles and permissions.

use std::collections::BTreeSet;

use super::difference::Differences;
use super::{Effect, absent};
use crate::cql::{RoleChange, RoleOptions};
use crate::schema::shape::{RoleSchema, RoleSight};

/// Compares a statement with the role that it is about. `keyspace` is that of tables without one.
///
/// A password cannot be compared. A role that is otherwise as CREATE makes it counts as made by it; ALTER, which may be
/// sent again, is not known to have had its effect.
#[must_use]
pub(crate) fn observe_role(change: &RoleChange, sight: &RoleSight, keyspace: &str) -> Effect {
    let found = match sight {
        RoleSight::Hidden => {
            return Effect::Unknown { why: "the session's user may not read the tables of roles" };
        }
        RoleSight::Absent => None,
        RoleSight::There(found) => Some(found),
    };
    match (change, found) {
        (RoleChange::Identity, _) => Effect::Unknown { why: "identities are not compared" },
        (RoleChange::Create { options, .. }, Some(found)) => create(options, found),
        (RoleChange::Alter { options, .. }, Some(found)) => alter(options, found),
        (RoleChange::Create { .. } | RoleChange::Alter { .. }, None) => Effect::Absent,
        (RoleChange::Drop { .. }, found) => absent(found.is_some()),
        (RoleChange::Membership { of, granted, .. }, found) => {
            as_granted(*granted, found.is_some_and(|found| found.member_of.contains(of)))
        }
        (RoleChange::Permissions { permissions, resource, granted, .. }, found) => {
            let Some(resource) = resource.stored(keyspace) else {
                return Effect::Unknown { why: "permissions on what is not data or a role are not compared" };
            };
            of_permissions(permissions, found.and_then(|found| found.permissions.get(&resource)), *granted)
        }
    }
}

/// What CREATE does not say is false, so that a role which may do more than it says is another one.
fn create(options: &RoleOptions, found: &RoleSchema) -> Effect {
    let RoleOptions { login, superuser, unseen: _ } = options;
    let mut differences = Differences::default();
    for (what, expected, found) in
        [("login", login, found.can_login), ("superuser", superuser, found.is_superuser)]
    {
        differences.compare(what, &expected.unwrap_or_default().to_string(), &found.to_string());
    }
    differences.effect(Vec::new())
}

fn alter(options: &RoleOptions, found: &RoleSchema) -> Effect {
    let RoleOptions { login, superuser, unseen } = options;
    let is = |said: &Option<bool>, found: bool| said.is_none_or(|said| said == found);
    if !is(login, found.can_login) || !is(superuser, found.is_superuser) {
        Effect::Absent
    } else if *unseen {
        Effect::Unknown { why: "passwords and options of a role are not compared" }
    } else {
        Effect::There
    }
}

fn as_granted(granted: bool, is_there: bool) -> Effect {
    if granted { absent(!is_there) } else { absent(is_there) }
}

/// A part of them is no partial effect: one may have been granted before.
fn of_permissions(named: &BTreeSet<String>, found: Option<&BTreeSet<String>>, granted: bool) -> Effect {
    let none = BTreeSet::new();
    let found = found.unwrap_or(&none);
    let is_all = named.is_empty();
    if granted && is_all && !found.is_empty() {
        return Effect::Unknown { why: "ALL stands for other permissions on each server" };
    }
    let is_there = match (granted, is_all) {
        (true, _) => !is_all && named.is_subset(found),
        (false, true) => !found.is_empty(),
        (false, false) => !named.is_disjoint(found),
    };
    as_granted(granted, is_there)
}
