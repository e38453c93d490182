//! Types of columns, fields and arguments, in one spelling for all that the servers treat as equal.

use std::fmt;

use super::cursor::Cursor;
use super::error::{CqlError, CqlErrorKind, Fault};
use super::lexer::Lexer;
use super::normalise::shortest;
use super::token::TokenKind;

/// A type as `system_schema` would print it, except for `frozen`: what is inside of another type is frozen
/// in any case, and so are tuples and vectors, so only an outer `frozen<…>` of a collection or user-defined
/// type is kept. Printed by `Display`; equal types are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CqlType {
    frozen: bool,
    shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Shape {
    /// A native or user-defined type; case counts, since a quoted name keeps its own.
    Named(String),
    /// `list<…>`, `map<…>` and so on; what `frozen` says of the parts is dropped.
    Generic(String, Vec<CqlType>),
    /// `vector<…, n>`.
    Vector(Box<CqlType>, String),
    /// A class of the server, in quotes.
    Custom(String),
}

impl CqlType {
    /// Reads what `system_schema` or a statement has.
    pub fn parse(text: &str) -> Result<Self, CqlError> {
        let tokens: Result<Vec<_>, Fault> = Lexer::new(text).collect();
        let parsed = tokens.and_then(|tokens| {
            let mut cursor = Cursor::new(text, &tokens);
            let parsed = parse(&mut cursor)?;
            cursor.expect_end().map(|()| parsed)
        });
        parsed.map_err(|fault| fault.within(text))
    }

    /// Without an outer `frozen`, which arguments of functions and fields of types may have or not.
    #[must_use]
    pub fn thawed(&self) -> Self {
        Self { frozen: false, shape: self.shape.clone() }
    }

    /// Whether two types of arguments or fields are the same.
    #[must_use]
    pub fn is_same_unfrozen(&self, other: &Self) -> bool {
        self.shape == other.shape
    }

    /// Whether a column of it has a cell for each of its parts.
    pub(crate) fn is_multi_cell(&self) -> bool {
        match &self.shape {
            _ if self.frozen => false,
            Shape::Named(name) => !NATIVE.contains(&name.as_str()),
            Shape::Generic(name, _) => ["list", "set", "map"].contains(&name.as_str()),
            Shape::Vector(..) | Shape::Custom(_) => false,
        }
    }

    /// Whether the scylla driver (1.9) can read the type from `system_schema`: it fails on classes and on names
    /// in quotes.
    pub(crate) fn is_readable_by_driver(&self) -> bool {
        match &self.shape {
            Shape::Named(name) => !shortest(name).starts_with('"'),
            Shape::Generic(_, parts) => parts.iter().all(Self::is_readable_by_driver),
            Shape::Vector(element, _) => element.is_readable_by_driver(),
            Shape::Custom(_) => false,
        }
    }

    /// Whether this type, or a part of it, is the one of this name.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        match &self.shape {
            Shape::Named(own) => own == name,
            Shape::Generic(_, parts) => parts.iter().any(|part| part.mentions(name)),
            Shape::Vector(element, _) => element.mentions(name),
            Shape::Custom(_) => false,
        }
    }

    fn new(shape: Shape) -> Self {
        Self { frozen: false, shape }
    }

    fn freeze(self) -> Self {
        let can_be_thawed = match &self.shape {
            Shape::Named(name) => !NATIVE.contains(&name.as_str()),
            Shape::Generic(name, _) => name != "tuple",
            Shape::Vector(..) | Shape::Custom(_) => false,
        };
        Self { frozen: can_be_thawed, shape: self.shape }
    }
}

/// No server takes anything near this depth; the limit is for our stack.
const DEPTH_MAX: usize = 64;

pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<CqlType, Fault> {
    nested(cursor, DEPTH_MAX)
}

fn nested(cursor: &mut Cursor<'_>, depth_left: usize) -> Result<CqlType, Fault> {
    let Some(depth_left) = depth_left.checked_sub(1) else {
        return Err(Fault { kind: CqlErrorKind::TooDeep, ..cursor.expected("a type") });
    };
    if cursor.peek().is_some_and(|token| token.kind == TokenKind::Text) {
        return Ok(custom(&cursor.string("a type")?));
    }
    let is_quoted = cursor.peek().is_some_and(|token| token.kind == TokenKind::QuotedName);
    let name = cursor.name("a type")?;
    if cursor.punctuation(".") {
        // A user-defined type is always of the keyspace of what has it.
        return Ok(CqlType::new(Shape::Named(cursor.name("a type's name")?)));
    }
    if is_quoted || !cursor.punctuation("<") {
        let name = if name == "varchar" && !is_quoted { "text".to_owned() } else { name };
        return Ok(CqlType::new(Shape::Named(name)));
    }
    let parsed = match name.as_str() {
        "frozen" => nested(cursor, depth_left)?.freeze(),
        "vector" => {
            let element = nested(cursor, depth_left)?;
            cursor.expect_punctuation(",")?;
            CqlType::new(Shape::Vector(Box::new(element.thawed()), number(cursor)?))
        }
        _ => {
            let parts = cursor.list(|cursor| nested(cursor, depth_left))?;
            CqlType::new(Shape::Generic(name, parts.iter().map(CqlType::thawed).collect()))
        }
    };
    cursor.expect_punctuation(">")?;
    Ok(parsed)
}

fn number(cursor: &mut Cursor<'_>) -> Result<String, Fault> {
    match cursor.peek() {
        Some(token) if matches!(token.kind, TokenKind::Number | TokenKind::Variable) => {
            cursor.skip(1);
            Ok(token.text(cursor.source()).to_owned())
        }
        _ => Err(cursor.expected("a number of elements")),
    }
}

const NATIVE: [&str; 21] = [
    "ascii",
    "bigint",
    "blob",
    "boolean",
    "counter",
    "date",
    "decimal",
    "double",
    "duration",
    "float",
    "inet",
    "int",
    "smallint",
    "text",
    "time",
    "timestamp",
    "timeuuid",
    "tinyint",
    "uuid",
    "varint",
    "empty",
];

/// The servers' own classes of native types are printed as those.
fn custom(class: &str) -> CqlType {
    const PACKAGE: &str = "org.apache.cassandra.db.marshal.";
    let short = class.strip_prefix(PACKAGE).unwrap_or(class);
    let native = match short {
        "AsciiType" => "ascii",
        "BooleanType" => "boolean",
        "ByteType" => "tinyint",
        "BytesType" => "blob",
        "CounterColumnType" => "counter",
        "DecimalType" => "decimal",
        "DoubleType" => "double",
        "DurationType" => "duration",
        "FloatType" => "float",
        "InetAddressType" => "inet",
        "Int32Type" => "int",
        "IntegerType" => "varint",
        "LongType" => "bigint",
        "ShortType" => "smallint",
        "SimpleDateType" => "date",
        "TimeType" => "time",
        "TimeUUIDType" => "timeuuid",
        "TimestampType" => "timestamp",
        "UTF8Type" => "text",
        "UUIDType" => "uuid",
        _ => return CqlType::new(Shape::Custom(short.to_owned())),
    };
    CqlType::new(Shape::Named(native.to_owned()))
}

impl fmt::Display for CqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.frozen {
            return write!(f, "frozen<{}>", self.thawed());
        }
        match &self.shape {
            Shape::Named(name) => f.write_str(&shortest(name)),
            Shape::Generic(name, parts) => {
                let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
                write!(f, "{name}<{}>", parts.join(", "))
            }
            Shape::Vector(element, dimension) => write!(f, "vector<{element}, {dimension}>"),
            Shape::Custom(class) => write!(f, "'{class}'"),
        }
    }
}
