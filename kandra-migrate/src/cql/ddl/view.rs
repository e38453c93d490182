//! CREATE MATERIALIZED VIEW.

use super::Parsed;
use super::options::table_properties;
use super::table::primary_key;
use crate::cql::change::{CreateView, SchemaChange};
use crate::cql::cursor::Cursor;
use crate::cql::error::Fault;
use crate::cql::normalise::conditions;

/// After CREATE MATERIALIZED VIEW.
pub(super) fn create(cursor: &mut Cursor<'_>) -> Result<Parsed, Fault> {
    let guarded = cursor.words(&["if", "not", "exists"]);
    let name = cursor.qualified_name("a view's name")?;
    cursor.expect_words(&["as", "select"])?;
    let columns = if cursor.punctuation("*") {
        None
    } else {
        Some(cursor.list(|cursor| cursor.name("a column's name"))?)
    };
    cursor.expect_word("from")?;
    let base = cursor.qualified_name("a table's name")?;
    let conditions = if cursor.word("where") { where_clause(cursor) } else { Vec::new() };
    cursor.expect_words(&["primary", "key"])?;
    let (partition_key, clustering) = primary_key(cursor)?;
    let properties = table_properties(cursor)?;
    cursor.expect_end()?;
    let view = CreateView {
        name,
        base,
        columns,
        conditions,
        partition_key,
        clustering,
        descending: properties.descending,
        options: properties.options,
    };
    Ok(Parsed { change: SchemaChange::CreateView(view), guarded })
}

/// Up to PRIMARY, which is reserved.
fn where_clause(cursor: &mut Cursor<'_>) -> Vec<String> {
    let start = cursor.peek().map_or(0, |token| token.span.start);
    let mut end = start;
    while !cursor.is_word("primary") {
        let Some(token) = cursor.advance() else { break };
        end = token.span.end;
    }
    conditions(&cursor.source()[start..end])
}
