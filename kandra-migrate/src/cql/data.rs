//! Data statements: what they write to, and whether they can be sent twice.

use super::change::ObjectKind;
use super::classify::{Classification, Kind, NotIdempotent};
use super::cursor::Cursor;
use super::error::Fault;
use super::name::fold;
use super::statement::Statement;
use super::token::{Token, TokenKind};

/// A statement that begins with INSERT, UPDATE, DELETE, BEGIN, TRUNCATE or SELECT.
pub(crate) fn classify(cursor: &mut Cursor<'_>) -> Result<Classification, Fault> {
    let mut found = Classification::new(Kind::Data);
    if cursor.word("truncate") {
        truncate(cursor, &mut found)?;
    } else if cursor.is_word("select") {
        found.kind = Kind::Read;
        tables(cursor, &mut found)?;
    } else if cursor.words(&["begin", "transaction"]) {
        found.kind = Kind::Conditional;
        found.not_idempotent(NotIdempotent::Conditional);
        found.destructive = cursor.rest().iter().any(|token| token.is_word(cursor.source(), "delete"));
        tables(cursor, &mut found)?;
    } else if cursor.word("begin") {
        batch(cursor, &mut found)?;
    } else {
        modification(cursor, &mut found)?;
        cursor.expect_end()?;
    }
    Ok(found)
}

/// Whether a statement removes as many rows as there are: TRUNCATE, DELETE without WHERE, and DELETE of a range
/// that is open on one side.
pub(crate) fn is_unbounded(statement: &Statement) -> bool {
    let (source, tokens) = (statement.text(), statement.tokens());
    let is_any = |token: &Token, words: &[&str]| words.iter().any(|word| token.is_word(source, word));
    if tokens.first().is_some_and(|token| is_any(token, &["truncate"])) {
        return true;
    }
    let starts = |token: &Token| is_any(token, &["insert", "update", "delete"]);
    tokens.chunk_by(|_, next| !starts(next)).filter(|part| is_any(&part[0], &["delete"])).any(|delete| {
        let rows = delete.split(|token| is_any(token, &["if"])).next().unwrap_or(delete);
        let has =
            |signs: [&str; 2]| rows.iter().any(|t| signs.iter().any(|sign| t.is_punctuation(source, sign)));
        let is_open = has(["<", "<="]) != has([">", ">="]);
        is_open || !rows.iter().any(|token| is_any(token, &["where"]))
    })
}

fn truncate(cursor: &mut Cursor<'_>, found: &mut Classification) -> Result<(), Fault> {
    // The optional word is reserved, so it cannot be the table's name.
    let _ = cursor.word("table") || cursor.word("columnfamily");
    found.object(ObjectKind::Table, cursor.qualified_name("a table's name")?);
    found.destructive = true;
    found.not_idempotent(NotIdempotent::Truncate);
    cursor.expect_end()
}

/// Every table that FROM, INTO or UPDATE names; these words are reserved.
fn tables(cursor: &mut Cursor<'_>, found: &mut Classification) -> Result<(), Fault> {
    while let Some(token) = cursor.advance() {
        if ["from", "into", "update"].iter().any(|word| token.is_word(cursor.source(), word)) {
            found.object(ObjectKind::Table, cursor.qualified_name("a table's name")?);
        }
    }
    Ok(())
}

fn batch(cursor: &mut Cursor<'_>, found: &mut Classification) -> Result<(), Fault> {
    if cursor.word("counter") {
        found.kind = Kind::Counter;
        found.not_idempotent(NotIdempotent::Counter);
    } else {
        let _ = cursor.word("unlogged") || cursor.word("logged");
    }
    cursor.expect_word("batch")?;
    if cursor.word("using") {
        while cursor.peek().is_some() && !starts_modification(cursor) && !cursor.is_word("apply") {
            cursor.skip(1); // TIMESTAMP …
        }
    }
    while !cursor.words(&["apply", "batch"]) {
        modification(cursor, found)?;
        cursor.punctuation(";");
    }
    cursor.expect_end()
}

fn starts_modification(cursor: &Cursor<'_>) -> bool {
    ["insert", "update", "delete"].iter().any(|word| cursor.is_word(word))
}

/// One INSERT, UPDATE or DELETE, up to the next one, a `;`, APPLY or the end.
fn modification(cursor: &mut Cursor<'_>, found: &mut Classification) -> Result<(), Fault> {
    if cursor.word("insert") {
        cursor.expect_word("into")?;
        found.object(ObjectKind::Table, cursor.qualified_name("a table's name")?);
        insert(cursor, found)
    } else if cursor.word("update") {
        found.object(ObjectKind::Table, cursor.qualified_name("a table's name")?);
        skip_to(cursor, "set")?;
        update(cursor, found)
    } else if cursor.word("delete") {
        found.destructive = true;
        let selected = skip_to(cursor, "from")?;
        if selects_element_by_index(cursor.source(), selected) {
            found.not_idempotent(NotIdempotent::List);
        }
        found.object(ObjectKind::Table, cursor.qualified_name("a table's name")?);
        clauses(cursor, found);
        Ok(())
    } else {
        Err(cursor.expected("INSERT INTO, UPDATE, DELETE or APPLY BATCH"))
    }
}

fn insert(cursor: &mut Cursor<'_>, found: &mut Classification) -> Result<(), Fault> {
    if cursor.word("json") {
        // A list in the document may be that of a column.
        if cursor.string("a JSON document").is_ok_and(|document| document.contains('[')) {
            found.not_idempotent(NotIdempotent::List);
        }
        clauses(cursor, found);
        return Ok(());
    }
    cursor.expect_punctuation("(")?;
    cursor.list(|cursor| cursor.name("a column's name"))?;
    cursor.expect_punctuation(")")?;
    cursor.expect_word("values")?;
    cursor.expect_punctuation("(")?;
    loop {
        value(cursor, found);
        if !cursor.punctuation(",") {
            break;
        }
    }
    cursor.expect_punctuation(")")?;
    clauses(cursor, found);
    Ok(())
}

/// One value of an INSERT, up to the `,` or `)` behind it.
fn value(cursor: &mut Cursor<'_>, found: &mut Classification) {
    let source = cursor.source();
    let length = length_until(source, cursor.rest(), |token| {
        token.is_punctuation(source, ",") || token.is_punctuation(source, ")")
    });
    let tokens = &cursor.rest()[..length];
    if is_sign(source, tokens.first(), "[") {
        found.not_idempotent(NotIdempotent::List);
    }
    functions(source, tokens, found);
    cursor.skip(length);
}

fn update(cursor: &mut Cursor<'_>, found: &mut Classification) -> Result<(), Fault> {
    let source = cursor.source();
    loop {
        let length = length_until(source, cursor.rest(), |token| {
            token.is_punctuation(source, ",") || ends_clause(source, token)
        });
        if length == 0 {
            return Err(cursor.expected("a column to set"));
        }
        assignment(source, &cursor.rest()[..length], found);
        cursor.skip(length);
        if !cursor.punctuation(",") {
            break;
        }
    }
    if !cursor.is_word("where") {
        return Err(cursor.expected("WHERE"));
    }
    clauses(cursor, found);
    Ok(())
}

/// `column [selector] = value`, `column = column + value`, `column += value` and so on.
fn assignment(source: &str, tokens: &[Token], found: &mut Classification) {
    let operator = |token: Token| ["=", "+=", "-="].iter().any(|sign| token.is_punctuation(source, sign));
    let length = length_until(source, tokens, operator);
    let (target, rest) = tokens.split_at(length);
    let Some((operator, value)) = rest.split_first() else { return };
    if selects_element_by_index(source, target) {
        found.not_idempotent(NotIdempotent::List);
    }
    functions(source, value, found);
    let operand =
        if operator.is_punctuation(source, "=") { added(source, target, value) } else { Some(value) };
    let is_list = is_sign(source, operand.unwrap_or(value).first(), "[");
    let is_collection = is_list || is_sign(source, operand.unwrap_or(value).first(), "{");
    if is_list {
        found.not_idempotent(NotIdempotent::List);
    } else if operand.is_some() && !is_collection {
        found.kind = Kind::Counter;
        found.not_idempotent(NotIdempotent::Counter);
    }
}

/// What is added to the column or subtracted from it, in `column + value` and `value + column`.
fn added<'a>(source: &str, target: &[Token], value: &'a [Token]) -> Option<&'a [Token]> {
    let [column] = target else { return None };
    let is_column = |token: &Token| same_name(source, *token, *column);
    let is_operator = |token: Option<&Token>| is_sign(source, token, "+") || is_sign(source, token, "-");
    match value {
        [first, sign, operand @ ..] if is_column(first) && is_operator(Some(sign)) => Some(operand),
        [operand @ .., sign, last] if is_column(last) && is_operator(Some(sign)) => Some(operand),
        _ => None,
    }
}

fn same_name(source: &str, a: Token, b: Token) -> bool {
    let name = |token: Token| match token.kind {
        TokenKind::Word => Some(fold(token.text(source))),
        TokenKind::QuotedName | TokenKind::Variable => Some(token.value(source)),
        _ => None,
    };
    name(a).is_some_and(|a| Some(a) == name(b))
}

/// `name[3]`, `name[?]`: by its text it may be a list's element; that of a map with another key is not.
fn selects_element_by_index(source: &str, tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| {
        let index = pair[1];
        let may_be_index = index.kind == TokenKind::Number
            || index.kind == TokenKind::Variable
            || ["?", ":", "-"].iter().any(|sign| index.is_punctuation(source, sign));
        pair[0].is_punctuation(source, "[") && may_be_index
    })
}

/// WHERE, IF and USING, up to the end of the modification.
fn clauses(cursor: &mut Cursor<'_>, found: &mut Classification) {
    let source = cursor.source();
    let is_end = |token: Token| {
        token.is_punctuation(source, ";")
            || ["insert", "update", "delete", "apply"].iter().any(|word| token.is_word(source, word))
    };
    let length = length_until(source, cursor.rest(), is_end);
    let tokens = &cursor.rest()[..length];
    if tokens.iter().any(|token| token.is_word(source, "if")) {
        found.kind = Kind::Conditional;
        found.not_idempotent(NotIdempotent::Conditional);
    }
    functions(source, tokens, found);
    cursor.skip(length);
}

/// Skips to this keyword and over it; yields what was skipped.
fn skip_to<'a>(cursor: &mut Cursor<'a>, word: &str) -> Result<&'a [Token], Fault> {
    let source = cursor.source();
    let rest = cursor.rest();
    let length = rest.iter().position(|token| token.is_word(source, word)).unwrap_or(rest.len());
    cursor.skip(length);
    cursor.expect_word(word)?;
    Ok(&rest[..length])
}

fn ends_clause(source: &str, token: Token) -> bool {
    token.is_word(source, "where") || token.is_word(source, "if") || token.is_punctuation(source, ";")
}

/// The number of tokens before one that `is_end`, brackets closed.
fn length_until(source: &str, tokens: &[Token], is_end: impl Fn(Token) -> bool) -> usize {
    let mut depth = 0_usize;
    for (length, token) in tokens.iter().enumerate() {
        let is_sign = |signs: [&str; 3]| signs.iter().any(|sign| token.is_punctuation(source, sign));
        if depth == 0 && is_end(*token) {
            return length;
        }
        if is_sign(["(", "[", "{"]) {
            depth += 1;
        } else if is_sign([")", "]", "}"]) {
            depth = depth.saturating_sub(1);
        }
    }
    tokens.len()
}

fn is_sign(source: &str, token: Option<&Token>, sign: &str) -> bool {
    token.is_some_and(|token| token.is_punctuation(source, sign))
}

/// Notes a call of a function that may have another value each time.
fn functions(source: &str, tokens: &[Token], found: &mut Classification) {
    for pair in tokens.windows(2) {
        let is_name = matches!(pair[0].kind, TokenKind::Word | TokenKind::QuotedName);
        if !is_name || !pair[1].is_punctuation(source, "(") {
            continue;
        }
        let name = pair[0].value(source);
        let folded = fold(&name);
        if !is_keyword_before_bracket(&folded) && !is_deterministic(&folded) {
            found.not_idempotent(NotIdempotent::Function(name));
        }
    }
}

fn is_keyword_before_bracket(word: &str) -> bool {
    matches!(word, "and" | "between" | "contains" | "if" | "in" | "key" | "like" | "values" | "where")
}

/// The servers' own functions that have one value for the same arguments; those of users are not known.
fn is_deterministic(function: &str) -> bool {
    const CONVERSIONS: [&str; 21] = [
        "abs",
        "cast",
        "exp",
        "from_json",
        "fromjson",
        "log",
        "log10",
        "max_timeuuid",
        "maxtimeuuid",
        "min_timeuuid",
        "mintimeuuid",
        "round",
        "to_date",
        "to_json",
        "to_timestamp",
        "to_unix_timestamp",
        "todate",
        "tojson",
        "token",
        "totimestamp",
        "tounixtimestamp",
    ];
    CONVERSIONS.contains(&function)
        || function.ends_with("asblob")
        || function.ends_with("_as_blob")
        || function.starts_with("blobas")
        || function.starts_with("blob_as_")
}
