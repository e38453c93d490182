//! CREATE INDEX.

use std::collections::BTreeMap;

use super::Parsed;
use super::options::map;
use crate::cql::change::{CreateIndex, SchemaChange};
use crate::cql::cursor::Cursor;
use crate::cql::error::Fault;
use crate::cql::normalise::{normalise, shortest};

/// After CREATE [CUSTOM] INDEX.
pub(super) fn create(cursor: &mut Cursor<'_>) -> Result<Parsed, Fault> {
    let guarded = cursor.words(&["if", "not", "exists"]);
    let name = if cursor.is_word("on") { None } else { Some(cursor.name("an index's name, or ON")?) };
    cursor.expect_word("on")?;
    let table = cursor.qualified_name("a table's name")?;
    let target = target(cursor)?;
    let class =
        if cursor.word("using") { Some(cursor.string("a class of indexes, in quotes")?) } else { None };
    let options = if cursor.words(&["with", "options"]) {
        cursor.expect_punctuation("=")?;
        map(cursor)?
    } else {
        BTreeMap::new()
    };
    cursor.expect_end()?;
    Ok(Parsed {
        change: SchemaChange::CreateIndex(CreateIndex { name, table, target, class, options }),
        guarded,
    })
}

fn target(cursor: &mut Cursor<'_>) -> Result<String, Fault> {
    cursor.expect_punctuation("(")?;
    let mut attempt = cursor.clone();
    if let Ok(target) = single_target(&mut attempt)
        && attempt.punctuation(")")
    {
        *cursor = attempt;
        return Ok(target);
    }
    several_targets(cursor)
}

fn single_target(cursor: &mut Cursor<'_>) -> Result<String, Fault> {
    let function =
        cursor.peek().map(|token| token.text(cursor.source()).to_ascii_lowercase()).unwrap_or_default();
    let column = cursor.name("a column's name")?;
    if !matches!(function.as_str(), "keys" | "values" | "entries" | "full") || !cursor.punctuation("(") {
        return Ok(shortest(&column));
    }
    let column = cursor.name("a column's name")?;
    cursor.expect_punctuation(")")?;
    Ok(format!("{function}({})", shortest(&column)))
}

/// `(partition key), column`, an index local to the partition, which `ScyllaDB` has.
fn several_targets(cursor: &mut Cursor<'_>) -> Result<String, Fault> {
    let start = cursor.rest().first().map_or(cursor.source().len(), |token| token.span.start);
    let mut depth = 0_usize;
    let mut end = start;
    while depth > 0 || !cursor.is_punctuation(")") {
        let opens = cursor.is_punctuation("(");
        let closes = cursor.is_punctuation(")");
        let Some(token) = cursor.advance() else { return Err(cursor.expected("`)`")) };
        depth = if closes { depth - 1 } else { depth + usize::from(opens) };
        end = token.span.end;
    }
    cursor.expect_punctuation(")")?;
    Ok(normalise(&cursor.source()[start..end]))
}
