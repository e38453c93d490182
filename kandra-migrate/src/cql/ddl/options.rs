//! The WITH clause.

use std::collections::BTreeMap;

use crate::cql::change::{OptionValue, Options};
use crate::cql::cursor::Cursor;
use crate::cql::error::Fault;
use crate::cql::token::TokenKind;

/// What a WITH clause of a table or view says.
#[derive(Debug, Default)]
pub(super) struct TableProperties {
    pub(super) options: Options,
    pub(super) descending: Vec<String>,
    pub(super) compact_storage: bool,
}

/// An optional WITH clause of a table or view, to the end of the statement.
pub(super) fn table_properties(cursor: &mut Cursor<'_>) -> Result<TableProperties, Fault> {
    let mut properties = TableProperties::default();
    if !cursor.word("with") {
        return Ok(properties);
    }
    loop {
        if cursor.words(&["compact", "storage"]) {
            properties.compact_storage = true;
        } else if cursor.words(&["clustering", "order", "by"]) {
            properties.descending = clustering_order(cursor)?;
        } else {
            let (name, value) = property(cursor)?;
            properties.options.insert(name, value);
        }
        if !cursor.word("and") {
            return Ok(properties);
        }
    }
}

/// WITH and its options, to the end of the statement.
pub(super) fn with(cursor: &mut Cursor<'_>) -> Result<Options, Fault> {
    cursor.expect_word("with")?;
    let mut options = Options::new();
    loop {
        let (name, value) = property(cursor)?;
        options.insert(name, value);
        if !cursor.word("and") {
            return Ok(options);
        }
    }
}

/// The columns that descend.
fn clustering_order(cursor: &mut Cursor<'_>) -> Result<Vec<String>, Fault> {
    cursor.expect_punctuation("(")?;
    let columns = cursor.list(|cursor| {
        let column = cursor.name("a clustering column")?;
        let descends = cursor.word("desc");
        if !descends && !cursor.word("asc") {
            return Err(cursor.expected("ASC or DESC"));
        }
        Ok((column, descends))
    })?;
    cursor.expect_punctuation(")")?;
    Ok(columns.into_iter().filter(|(_, descends)| *descends).map(|(column, _)| column).collect())
}

fn property(cursor: &mut Cursor<'_>) -> Result<(String, OptionValue), Fault> {
    let name = cursor.name("an option's name")?.to_ascii_lowercase();
    cursor.expect_punctuation("=")?;
    let value = if cursor.is_punctuation("{") {
        OptionValue::Map(map(cursor)?)
    } else {
        OptionValue::Scalar(scalar(cursor)?)
    };
    Ok((name, value))
}

/// `{'key': value, …}`.
pub(super) fn map(cursor: &mut Cursor<'_>) -> Result<BTreeMap<String, String>, Fault> {
    cursor.expect_punctuation("{")?;
    if cursor.punctuation("}") {
        return Ok(BTreeMap::new());
    }
    let entries = cursor.list(|cursor| {
        let key = scalar(cursor)?;
        cursor.expect_punctuation(":")?;
        Ok((key, scalar(cursor)?))
    })?;
    cursor.expect_punctuation("}")?;
    Ok(entries.into_iter().collect())
}

fn scalar(cursor: &mut Cursor<'_>) -> Result<String, Fault> {
    let sign = if cursor.punctuation("-") { "-" } else { "" };
    match cursor.peek() {
        Some(token) if !matches!(token.kind, TokenKind::Punctuation | TokenKind::QuotedName) => {
            cursor.skip(1);
            Ok(format!("{sign}{}", token.value(cursor.source())))
        }
        _ => Err(cursor.expected("an option's value")),
    }
}
