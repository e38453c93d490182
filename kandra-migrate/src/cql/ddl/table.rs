//! CREATE TABLE, ALTER TABLE.

use super::Parsed;
use super::options::{table_properties, with};
use crate::cql::change::{ColumnDefinition, CreateTable, SchemaChange, TableAction};
use crate::cql::cqltype;
use crate::cql::cursor::Cursor;
use crate::cql::error::Fault;
use crate::cql::name::QualifiedName;

/// After CREATE TABLE.
pub(super) fn create(cursor: &mut Cursor<'_>) -> Result<Parsed, Fault> {
    let guarded = cursor.words(&["if", "not", "exists"]);
    let name = cursor.qualified_name("a table's name")?;
    if cursor.word("like") {
        return copy(cursor, name, guarded);
    }
    let mut table = CreateTable {
        name,
        columns: Vec::new(),
        partition_key: Vec::new(),
        clustering: Vec::new(),
        descending: Vec::new(),
        compact_storage: false,
        options: std::collections::BTreeMap::new(),
    };
    definitions(cursor, |cursor| {
        if cursor.words(&["primary", "key"]) {
            (table.partition_key, table.clustering) = primary_key(cursor)?;
            return Ok(());
        }
        let column = column(cursor)?;
        if cursor.words(&["primary", "key"]) {
            table.partition_key = vec![column.name.clone()];
        }
        table.columns.push(column);
        Ok(())
    })?;
    let properties = table_properties(cursor)?;
    table.descending = properties.descending;
    table.compact_storage = properties.compact_storage;
    table.options = properties.options;
    cursor.expect_end()?;
    Ok(Parsed { change: SchemaChange::CreateTable(table), guarded })
}

/// `(item, item, …)`; the servers take more commas than they need before the closing bracket.
pub(super) fn definitions(
    cursor: &mut Cursor<'_>,
    mut item: impl FnMut(&mut Cursor<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    cursor.expect_punctuation("(")?;
    loop {
        item(cursor)?;
        if !cursor.is_punctuation(",") && !cursor.is_punctuation(")") {
            return Err(cursor.expected("`,` or `)`"));
        }
        while cursor.punctuation(",") {}
        if cursor.punctuation(")") {
            return Ok(());
        }
    }
}

fn copy(cursor: &mut Cursor<'_>, name: QualifiedName, guarded: bool) -> Result<Parsed, Fault> {
    let source = cursor.qualified_name("a table's name")?;
    if cursor.word("with") {
        while cursor.advance().is_some() {}
    }
    cursor.expect_end()?;
    Ok(Parsed { change: SchemaChange::CopyTable { name, source }, guarded })
}

/// `((a, b), c)` or `(a, b)`: partition key and clustering columns.
pub(super) fn primary_key(cursor: &mut Cursor<'_>) -> Result<(Vec<String>, Vec<String>), Fault> {
    cursor.expect_punctuation("(")?;
    let partition_key = if cursor.punctuation("(") {
        let columns = cursor.list(|cursor| cursor.name("a column of the partition key"))?;
        cursor.expect_punctuation(")")?;
        columns
    } else {
        vec![cursor.name("a column of the partition key")?]
    };
    let mut clustering = Vec::new();
    while cursor.punctuation(",") {
        clustering.push(cursor.name("a clustering column")?);
    }
    cursor.expect_punctuation(")")?;
    Ok((partition_key, clustering))
}

/// A column's name and type, STATIC, and a mask or constraint that is read over.
fn column(cursor: &mut Cursor<'_>) -> Result<ColumnDefinition, Fault> {
    let name = cursor.name("a column's name")?;
    let column_type = cqltype::parse(cursor)?;
    let is_static = cursor.word("static");
    if cursor.is_word("masked") || cursor.is_word("check") || cursor.is_word("not") {
        skip_modifiers(cursor);
    }
    let ends = [",", ")"].iter().any(|sign| cursor.is_punctuation(sign)) || cursor.is_word("primary");
    if !ends && cursor.peek().is_some() {
        return Err(cursor.expected("`,` or `)`"));
    }
    Ok(ColumnDefinition { name, column_type, is_static })
}

fn skip_modifiers(cursor: &mut Cursor<'_>) {
    let mut depth = 0_usize;
    while cursor.peek().is_some() {
        let closes = cursor.is_punctuation(")");
        if depth == 0 && (closes || cursor.is_punctuation(",") || cursor.is_word("primary")) {
            return;
        }
        depth = if closes { depth - 1 } else { depth + usize::from(cursor.is_punctuation("(")) };
        cursor.skip(1);
    }
}

/// After ALTER TABLE.
pub(super) fn alter(cursor: &mut Cursor<'_>) -> Result<Parsed, Fault> {
    cursor.words(&["if", "exists"]);
    let name = cursor.qualified_name("a table's name")?;
    let mut guarded = false;
    let action = if cursor.word("add") {
        guarded = cursor.words(&["if", "not", "exists"]);
        TableAction::Add(one_or_several(cursor, column)?)
    } else if cursor.words(&["drop", "compact", "storage"]) {
        TableAction::DropCompactStorage
    } else if cursor.word("drop") {
        guarded = cursor.words(&["if", "exists"]);
        let columns = one_or_several(cursor, |cursor| cursor.name("a column's name"))?;
        if cursor.words(&["using", "timestamp"]) {
            cursor.skip(1);
        }
        TableAction::Drop(columns)
    } else if cursor.word("rename") {
        cursor.words(&["if", "exists"]);
        TableAction::Rename(renames(cursor)?)
    } else if cursor.word("alter") {
        alter_column(cursor)?
    } else if cursor.is_word("with") {
        guarded = true;
        TableAction::With(with(cursor)?)
    } else {
        return Err(cursor.expected("ADD, DROP, RENAME, ALTER or WITH"));
    };
    cursor.expect_end()?;
    Ok(Parsed { change: SchemaChange::AlterTable { name, action }, guarded })
}

fn one_or_several<T>(
    cursor: &mut Cursor<'_>,
    mut item: impl FnMut(&mut Cursor<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    if !cursor.punctuation("(") {
        return Ok(vec![item(cursor)?]);
    }
    let items = cursor.list(item)?;
    cursor.expect_punctuation(")")?;
    Ok(items)
}

/// `a TO b AND c TO d`.
pub(super) fn renames(cursor: &mut Cursor<'_>) -> Result<Vec<(String, String)>, Fault> {
    let mut renames = Vec::new();
    loop {
        let from = cursor.name("a name")?;
        cursor.expect_word("to")?;
        renames.push((from, cursor.name("the new name")?));
        if !cursor.word("and") {
            return Ok(renames);
        }
    }
}

fn alter_column(cursor: &mut Cursor<'_>) -> Result<TableAction, Fault> {
    cursor.words(&["if", "exists"]);
    let column = cursor.name("a column's name")?;
    if cursor.word("type") {
        cqltype::parse(cursor)?;
        return Ok(TableAction::AlterType(column));
    }
    if !["masked", "drop", "check"].iter().any(|word| cursor.is_word(word)) {
        return Err(cursor.expected("TYPE, MASKED, DROP or CHECK"));
    }
    while cursor.advance().is_some() {}
    Ok(TableAction::AlterColumn(column))
}
