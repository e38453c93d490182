//! Roles, users, identities and permissions.

use crate::cql::change::{ObjectKind, SchemaChange};
use crate::cql::classify::{Classification, Kind, NotIdempotent};
use crate::cql::cursor::Cursor;
use crate::cql::error::Fault;
use crate::cql::name::QualifiedName;

/// A statement about roles or permissions, if this is one.
pub(super) fn classify(cursor: &mut Cursor<'_>) -> Result<Option<Classification>, Fault> {
    let mut found = Classification { change: Some(SchemaChange::Role), ..Classification::new(Kind::Role) };
    if cursor.word("grant") || cursor.word("revoke") {
        grant(cursor, &mut found)?;
        return Ok(Some(found));
    }
    let verb =
        cursor.advance().map(|token| token.text(cursor.source()).to_ascii_lowercase()).unwrap_or_default();
    if !["role", "user", "identity"].iter().any(|noun| cursor.word(noun)) {
        return Ok(None);
    }
    let guarded = cursor.words(&["if", "not", "exists"]) || cursor.words(&["if", "exists"]);
    found.object(ObjectKind::Role, role_name(cursor)?);
    found.destructive = verb == "drop";
    if !guarded && verb != "alter" {
        found.not_idempotent(NotIdempotent::Once);
    }
    Ok(Some(found))
}

/// A name, or a string.
fn role_name(cursor: &mut Cursor<'_>) -> Result<QualifiedName, Fault> {
    let mut attempt = cursor.clone();
    let name = attempt.name("a role's name").or_else(|_| {
        attempt = cursor.clone();
        attempt.string("a role's name")
    })?;
    *cursor = attempt;
    Ok(QualifiedName::unqualified(&name))
}

/// `permissions ON resource TO role`, `role TO role`, and with FROM; after GRANT or REVOKE.
fn grant(cursor: &mut Cursor<'_>, found: &mut Classification) -> Result<(), Fault> {
    let rest = cursor.rest();
    let Some(on) = rest.iter().position(|token| token.is_word(cursor.source(), "on")) else {
        // A second grant of a role fails.
        found.not_idempotent(NotIdempotent::Once);
        found.object(ObjectKind::Role, role_name(cursor)?);
        return Ok(());
    };
    cursor.skip(on + 1);
    let is_named = |cursor: &mut Cursor<'_>, words: &[&str]| words.iter().any(|word| cursor.word(word));
    if is_named(cursor, &["all", "role", "mbean", "mbeans"]) {
        return Ok(());
    }
    if cursor.word("keyspace") {
        found.object(ObjectKind::Keyspace, QualifiedName::unqualified(&cursor.name("a keyspace's name")?));
    } else if cursor.word("function") {
        found.object(ObjectKind::Function, cursor.qualified_name("a function's name")?);
    } else {
        is_named(cursor, &["table", "columnfamily"]);
        found.object(ObjectKind::Table, cursor.qualified_name("a table's name")?);
    }
    Ok(())
}
