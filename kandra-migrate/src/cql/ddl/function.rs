//! CREATE and DROP of functions and aggregates.

use super::Parsed;
use crate::cql::change::{CreateAggregate, CreateFunction, SchemaChange};
use crate::cql::cqltype::{self, CqlType};
use crate::cql::cursor::Cursor;
use crate::cql::error::Fault;
use crate::cql::name::QualifiedName;
use crate::cql::normalise::normalise;

/// After CREATE [OR REPLACE] FUNCTION.
pub(super) fn create(cursor: &mut Cursor<'_>, replace: bool) -> Result<Parsed, Fault> {
    let guarded = cursor.words(&["if", "not", "exists"]) || replace;
    let name = cursor.qualified_name("a function's name")?;
    let arguments =
        in_brackets(cursor, |cursor| Ok((cursor.name("an argument's name")?, cqltype::parse(cursor)?)))?;
    let called_on_null = cursor.word("called");
    if !called_on_null && !cursor.words(&["returns", "null"]) {
        return Err(cursor.expected("CALLED or RETURNS NULL ON NULL INPUT"));
    }
    cursor.expect_words(&["on", "null", "input", "returns"])?;
    let return_type = cqltype::parse(cursor)?;
    cursor.expect_word("language")?;
    let language = cursor.name("a language")?.to_ascii_lowercase();
    cursor.expect_word("as")?;
    let body = cursor.string("the body, in quotes or between `$$`")?;
    cursor.expect_end()?;
    let function = CreateFunction { name, replace, arguments, called_on_null, return_type, language, body };
    Ok(Parsed { change: SchemaChange::CreateFunction(function), guarded })
}

/// After CREATE [OR REPLACE] AGGREGATE.
pub(super) fn create_aggregate(cursor: &mut Cursor<'_>, replace: bool) -> Result<Parsed, Fault> {
    let guarded = cursor.words(&["if", "not", "exists"]) || replace;
    let name = cursor.qualified_name("an aggregate's name")?;
    let argument_types = in_brackets(cursor, cqltype::parse)?;
    cursor.expect_word("sfunc")?;
    let state_function = cursor.name("a function's name")?;
    cursor.expect_word("stype")?;
    let state_type = cqltype::parse(cursor)?;
    if cursor.word("reducefunc") {
        cursor.name("a function's name")?;
    }
    let final_function =
        if cursor.word("finalfunc") { Some(cursor.name("a function's name")?) } else { None };
    let initial = if cursor.word("initcond") { Some(to_end(cursor)?) } else { None };
    cursor.expect_end()?;
    let aggregate = CreateAggregate {
        name,
        replace,
        argument_types,
        state_function,
        state_type,
        final_function,
        initial,
    };
    Ok(Parsed { change: SchemaChange::CreateAggregate(aggregate), guarded })
}

/// A function or aggregate to drop, with its argument types if they are given.
pub(super) fn signature(cursor: &mut Cursor<'_>) -> Result<(QualifiedName, Option<Vec<CqlType>>), Fault> {
    let name = cursor.qualified_name("a function's name")?;
    if !cursor.is_punctuation("(") {
        return Ok((name, None));
    }
    Ok((name, Some(in_brackets(cursor, cqltype::parse)?)))
}

fn in_brackets<T>(
    cursor: &mut Cursor<'_>,
    item: impl FnMut(&mut Cursor<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    cursor.expect_punctuation("(")?;
    if cursor.punctuation(")") {
        return Ok(Vec::new());
    }
    let items = cursor.list(item)?;
    cursor.expect_punctuation(")")?;
    Ok(items)
}

fn to_end(cursor: &mut Cursor<'_>) -> Result<String, Fault> {
    let Some(first) = cursor.peek() else { return Err(cursor.expected("a value")) };
    while cursor.advance().is_some() {}
    Ok(normalise(&cursor.source()[first.span.start..]))
}
