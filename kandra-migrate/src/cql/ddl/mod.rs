//! Schema statements: what they change.

mod function;
mod index;
mod options;
mod role;
mod table;
mod view;

use super::change::{Object, ObjectKind, SchemaChange, TableAction};
use super::classify::{Classification, Kind, NotIdempotent, Refusal};
use super::cqltype;
use super::cursor::Cursor;
use super::error::Fault;
use super::name::QualifiedName;

/// A schema statement.
struct Parsed {
    change: SchemaChange,
    /// Sent again, it does nothing: IF [NOT] EXISTS, OR REPLACE, or it only sets what it names.
    guarded: bool,
}

const OBJECTS: &str =
    "KEYSPACE, TABLE, TYPE, INDEX, MATERIALIZED VIEW, FUNCTION, AGGREGATE, TRIGGER, ROLE or USER";

/// A statement that begins with CREATE, ALTER, DROP, GRANT, REVOKE or ADD.
pub(super) fn classify(cursor: &mut Cursor<'_>) -> Result<Classification, Fault> {
    if let Some(found) = role::classify(&mut cursor.clone())? {
        return Ok(found);
    }
    let parsed = if cursor.word("create") {
        create(cursor)?
    } else if cursor.word("alter") {
        alter(cursor)?
    } else if cursor.word("drop") {
        drop(cursor)?
    } else {
        cursor.skip(1);
        return Err(cursor.expected("IDENTITY"));
    };
    let mut found = Classification::new(Kind::Schema);
    note_objects(&parsed.change, &mut found);
    found.destructive = is_destructive(&parsed.change);
    if !parsed.guarded {
        found.not_idempotent(NotIdempotent::Once);
    }
    if alters_type(&parsed.change) {
        found.kind = Kind::Forbidden;
        found.refused = Some(Refusal::AlterType);
    }
    found.change = Some(parsed.change);
    Ok(found)
}

fn create(cursor: &mut Cursor<'_>) -> Result<Parsed, Fault> {
    let replace = cursor.words(&["or", "replace"]);
    if cursor.word("function") {
        return function::create(cursor, replace);
    }
    if cursor.word("aggregate") {
        return function::create_aggregate(cursor, replace);
    }
    if replace {
        return Err(cursor.expected("FUNCTION or AGGREGATE"));
    }
    if is_keyspace(cursor) {
        let guarded = cursor.words(&["if", "not", "exists"]);
        let name = cursor.name("a keyspace's name")?;
        let options = options::with(cursor)?;
        cursor.expect_end()?;
        return Ok(Parsed { change: SchemaChange::CreateKeyspace { name, options }, guarded });
    }
    if is_table(cursor) {
        table::create(cursor)
    } else if cursor.word("type") {
        create_type(cursor)
    } else if cursor.word("index") || cursor.words(&["custom", "index"]) {
        index::create(cursor)
    } else if cursor.words(&["materialized", "view"]) {
        view::create(cursor)
    } else if cursor.word("trigger") {
        trigger(cursor)
    } else {
        Err(cursor.expected(OBJECTS))
    }
}

fn alter(cursor: &mut Cursor<'_>) -> Result<Parsed, Fault> {
    if is_keyspace(cursor) {
        cursor.words(&["if", "exists"]);
        let name = cursor.name("a keyspace's name")?;
        let options = options::with(cursor)?;
        cursor.expect_end()?;
        Ok(Parsed { change: SchemaChange::AlterKeyspace { name, options }, guarded: true })
    } else if is_table(cursor) {
        table::alter(cursor)
    } else if cursor.word("type") {
        alter_type(cursor)
    } else if cursor.words(&["materialized", "view"]) {
        cursor.words(&["if", "exists"]);
        let name = cursor.qualified_name("a view's name")?;
        let options = options::with(cursor)?;
        cursor.expect_end()?;
        Ok(Parsed { change: SchemaChange::AlterView { name, options }, guarded: true })
    } else {
        Err(cursor.expected("KEYSPACE, TABLE, TYPE, MATERIALIZED VIEW, ROLE or USER"))
    }
}

fn drop(cursor: &mut Cursor<'_>) -> Result<Parsed, Fault> {
    if cursor.word("trigger") {
        return trigger(cursor);
    }
    let kind = dropped_kind(cursor)?;
    let guarded = cursor.words(&["if", "exists"]);
    let change = match kind {
        ObjectKind::Keyspace => SchemaChange::DropKeyspace { name: cursor.name("a keyspace's name")? },
        ObjectKind::Table => SchemaChange::DropTable { name: cursor.qualified_name("a table's name")? },
        ObjectKind::Type => SchemaChange::DropType { name: cursor.qualified_name("a type's name")? },
        ObjectKind::Index => SchemaChange::DropIndex { name: cursor.qualified_name("an index's name")? },
        ObjectKind::View => SchemaChange::DropView { name: cursor.qualified_name("a view's name")? },
        ObjectKind::Aggregate => {
            let (name, argument_types) = function::signature(cursor)?;
            SchemaChange::DropAggregate { name, argument_types }
        }
        _ => {
            let (name, argument_types) = function::signature(cursor)?;
            SchemaChange::DropFunction { name, argument_types }
        }
    };
    cursor.expect_end()?;
    Ok(Parsed { change, guarded })
}

fn dropped_kind(cursor: &mut Cursor<'_>) -> Result<ObjectKind, Fault> {
    const NOUNS: [(&str, ObjectKind); 4] = [
        ("type", ObjectKind::Type),
        ("index", ObjectKind::Index),
        ("function", ObjectKind::Function),
        ("aggregate", ObjectKind::Aggregate),
    ];
    if is_keyspace(cursor) {
        return Ok(ObjectKind::Keyspace);
    }
    if is_table(cursor) {
        return Ok(ObjectKind::Table);
    }
    if cursor.words(&["materialized", "view"]) {
        return Ok(ObjectKind::View);
    }
    match NOUNS.iter().find(|(noun, _)| cursor.is_word(noun)) {
        Some((_, kind)) => {
            cursor.skip(1);
            Ok(*kind)
        }
        None => Err(cursor.expected(OBJECTS)),
    }
}

fn is_keyspace(cursor: &mut Cursor<'_>) -> bool {
    cursor.word("keyspace") || cursor.word("schema")
}

fn is_table(cursor: &mut Cursor<'_>) -> bool {
    cursor.word("table") || cursor.word("columnfamily")
}

fn create_type(cursor: &mut Cursor<'_>) -> Result<Parsed, Fault> {
    let guarded = cursor.words(&["if", "not", "exists"]);
    let name = cursor.qualified_name("a type's name")?;
    let mut fields = Vec::new();
    table::definitions(cursor, |cursor| {
        fields.push((cursor.name("a field's name")?, cqltype::parse(cursor)?));
        Ok(())
    })?;
    cursor.expect_end()?;
    Ok(Parsed { change: SchemaChange::CreateType { name, fields }, guarded })
}

fn alter_type(cursor: &mut Cursor<'_>) -> Result<Parsed, Fault> {
    cursor.words(&["if", "exists"]);
    let name = cursor.qualified_name("a type's name")?;
    let mut guarded = false;
    let change = if cursor.word("add") {
        guarded = cursor.words(&["if", "not", "exists"]);
        let field = cursor.name("a field's name")?;
        SchemaChange::AddField { name, field, field_type: cqltype::parse(cursor)? }
    } else if cursor.word("rename") {
        cursor.words(&["if", "exists"]);
        SchemaChange::RenameFields { name, renames: table::renames(cursor)? }
    } else if cursor.word("alter") {
        let field = cursor.name("a field's name")?;
        cursor.expect_word("type")?;
        cqltype::parse(cursor)?;
        SchemaChange::AlterFieldType { name, field }
    } else {
        return Err(cursor.expected("ADD or RENAME"));
    };
    cursor.expect_end()?;
    Ok(Parsed { change, guarded })
}

/// After CREATE TRIGGER or DROP TRIGGER.
fn trigger(cursor: &mut Cursor<'_>) -> Result<Parsed, Fault> {
    let guarded = cursor.words(&["if", "not", "exists"]) || cursor.words(&["if", "exists"]);
    let name = cursor.name("a trigger's name")?;
    cursor.expect_word("on")?;
    let table = cursor.qualified_name("a table's name")?;
    if cursor.word("using") {
        cursor.string("a class, in quotes")?;
    }
    cursor.expect_end()?;
    Ok(Parsed { change: SchemaChange::Trigger { table, name }, guarded })
}

fn note_objects(change: &SchemaChange, found: &mut Classification) {
    match change {
        // An index or trigger is in the keyspace of its table, and its own name cannot say one.
        SchemaChange::CreateIndex(index) => {
            found.object(ObjectKind::Table, index.table.clone());
            if let Some(name) = &index.name {
                let name = QualifiedName { keyspace: index.table.keyspace.clone(), name: name.clone() };
                found.objects.push(Object { kind: ObjectKind::Index, name });
            }
        }
        SchemaChange::Trigger { table, .. } => found.object(ObjectKind::Table, table.clone()),
        _ => {
            if let Some(object) = change.object() {
                found.object(object.kind, object.name);
            }
        }
    }
    match change {
        SchemaChange::CreateView(view) => found.object(ObjectKind::Table, view.base.clone()),
        SchemaChange::CopyTable { source, .. } => found.object(ObjectKind::Table, source.clone()),
        _ => {}
    }
}

fn is_destructive(change: &SchemaChange) -> bool {
    match change {
        SchemaChange::DropKeyspace { .. } | SchemaChange::DropTable { .. } => true,
        SchemaChange::AlterTable { action, .. } => {
            matches!(action, TableAction::Drop(_) | TableAction::DropCompactStorage)
        }
        _ => false,
    }
}

fn alters_type(change: &SchemaChange) -> bool {
    matches!(
        change,
        SchemaChange::AlterFieldType { .. }
            | SchemaChange::AlterTable { action: TableAction::AlterType(_), .. }
    )
}
