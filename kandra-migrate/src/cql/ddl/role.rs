//! Roles, users, identities and permissions.

use std::collections::BTreeSet;

use crate::cql::change::{ObjectKind, SchemaChange};
use crate::cql::classify::{Classification, Kind, NotIdempotent};
use crate::cql::cursor::Cursor;
use crate::cql::error::Fault;
use crate::cql::name::QualifiedName;
use crate::cql::role::{Resource, RoleChange, RoleOptions};
use crate::cql::token::TokenKind;

/// A statement about roles or permissions, if this is one.
pub(super) fn classify(cursor: &mut Cursor<'_>) -> Result<Option<Classification>, Fault> {
    let mut found = Classification::new(Kind::Role);
    let granted = cursor.word("grant");
    let change = if granted || cursor.word("revoke") {
        grant(cursor, granted, &mut found)?
    } else {
        let Some(change) = definition(cursor, &mut found)? else { return Ok(None) };
        change
    };
    found.change = Some(SchemaChange::Role(change));
    Ok(Some(found))
}

/// What begins with CREATE, ALTER, DROP or ADD.
fn definition(cursor: &mut Cursor<'_>, found: &mut Classification) -> Result<Option<RoleChange>, Fault> {
    let verb =
        cursor.advance().map(|token| token.text(cursor.source()).to_ascii_lowercase()).unwrap_or_default();
    let is_user = cursor.word("user");
    let is_identity = !is_user && cursor.word("identity");
    if !is_user && !is_identity && !cursor.word("role") {
        return Ok(None);
    }
    let guarded = cursor.words(&["if", "not", "exists"]) || cursor.words(&["if", "exists"]);
    let role = if is_user { user_name(cursor)? } else { role_name(cursor)? };
    found.object(ObjectKind::Role, QualifiedName::unqualified(&role));
    found.destructive = verb == "drop";
    if !guarded && verb != "alter" {
        found.not_idempotent(NotIdempotent::Once);
    }
    if is_identity {
        return Ok(Some(RoleChange::Identity));
    }
    let mut options = if is_user { of_user(cursor) } else { of_role(cursor) };
    Ok(Some(match &*verb {
        "create" => {
            options.login = options.login.or(is_user.then_some(true));
            RoleChange::Create { role, options }
        }
        "alter" => RoleChange::Alter { role, options },
        _ => RoleChange::Drop { role },
    }))
}

/// A name, or a string.
fn role_name(cursor: &mut Cursor<'_>) -> Result<String, Fault> {
    let mut attempt = cursor.clone();
    let name = attempt.name("a role's name").or_else(|_| {
        attempt = cursor.clone();
        attempt.string("a role's name")
    })?;
    *cursor = attempt;
    Ok(name)
}

/// So too; the case of a user's name counts, also without quotes.
fn user_name(cursor: &mut Cursor<'_>) -> Result<String, Fault> {
    let word = cursor.peek().filter(|token| token.kind == TokenKind::Word);
    let written = word.map(|token| token.text(cursor.source()).to_owned());
    let name = role_name(cursor)?;
    Ok(written.unwrap_or(name))
}

/// `WITH option AND option …`. What is not known here is taken as it is: servers have options of their own, and refuse
/// what they do not know.
fn of_role(cursor: &mut Cursor<'_>) -> RoleOptions {
    let mut options = RoleOptions::default();
    while cursor.word("with") || cursor.word("and") {
        if cursor.word("login") {
            options.login = boolean(cursor);
        } else if cursor.word("superuser") {
            options.superuser = boolean(cursor);
        } else {
            options.unseen = true;
        }
        while cursor.peek().is_some() && !cursor.is_word("and") {
            cursor.skip(1);
        }
    }
    options
}

/// `= true` or `= false`.
fn boolean(cursor: &mut Cursor<'_>) -> Option<bool> {
    if !cursor.punctuation("=") {
        return None;
    }
    if cursor.word("true") { Some(true) } else { cursor.word("false").then_some(false) }
}

/// `WITH PASSWORD '…' SUPERUSER`, each of it optional.
fn of_user(cursor: &mut Cursor<'_>) -> RoleOptions {
    let mut options = RoleOptions::default();
    while cursor.peek().is_some() {
        if cursor.word("superuser") {
            options.superuser = Some(true);
        } else if cursor.word("nosuperuser") {
            options.superuser = Some(false);
        } else {
            options.unseen = true;
            cursor.skip(1);
        }
    }
    options
}

/// `permissions ON resource TO role`, `role TO role`, and with FROM; after GRANT or REVOKE.
fn grant(cursor: &mut Cursor<'_>, granted: bool, found: &mut Classification) -> Result<RoleChange, Fault> {
    let preposition = if granted { "to" } else { "from" };
    if !cursor.rest().iter().any(|token| token.is_word(cursor.source(), "on")) {
        // A second grant of a role fails.
        found.not_idempotent(NotIdempotent::Once);
        let of = role_name(cursor)?;
        found.object(ObjectKind::Role, QualifiedName::unqualified(&of));
        cursor.expect_word(preposition)?;
        return Ok(RoleChange::Membership { role: role_name(cursor)?, of, granted });
    }
    let mut permissions = BTreeSet::new();
    while !cursor.word("on") {
        let token = cursor.advance().map(|token| token.text(cursor.source()).to_ascii_uppercase());
        permissions.extend(token.filter(|word| !matches!(&**word, "," | "PERMISSION" | "PERMISSIONS")));
    }
    if permissions.contains("ALL") {
        permissions.clear();
    }
    let resource = resource(cursor, found)?;
    while cursor.peek().is_some() && !cursor.is_word(preposition) {
        cursor.skip(1);
    }
    cursor.expect_word(preposition)?;
    Ok(RoleChange::Permissions { role: role_name(cursor)?, permissions, resource, granted })
}

/// After ON.
fn resource(cursor: &mut Cursor<'_>, found: &mut Classification) -> Result<Resource, Fault> {
    if cursor.word("all") {
        return Ok(if cursor.word("keyspaces") {
            Resource::AllKeyspaces
        } else if cursor.words(&["tables", "in", "keyspace"]) {
            Resource::AllTables(cursor.name("a keyspace's name")?)
        } else if cursor.word("roles") {
            Resource::AllRoles
        } else {
            Resource::Other
        });
    }
    if cursor.word("role") {
        return Ok(Resource::Role(role_name(cursor)?));
    }
    if cursor.word("mbean") || cursor.word("mbeans") {
        return Ok(Resource::Other);
    }
    if cursor.word("keyspace") {
        let name = cursor.name("a keyspace's name")?;
        found.object(ObjectKind::Keyspace, QualifiedName::unqualified(&name));
        return Ok(Resource::Keyspace(name));
    }
    if cursor.word("function") {
        found.object(ObjectKind::Function, cursor.qualified_name("a function's name")?);
        return Ok(Resource::Other);
    }
    let _ = cursor.word("table") || cursor.word("columnfamily");
    let name = cursor.qualified_name("a table's name")?;
    found.object(ObjectKind::Table, name.clone());
    Ok(Resource::Table(name))
}
