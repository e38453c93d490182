//! What a statement does, as far as its text tells.

use std::collections::HashSet;

use super::change::{Object, ObjectKind, SchemaChange};
use super::cursor::Cursor;
use super::error::{CqlError, Fault};
use super::name::QualifiedName;
use super::statement::Statement;
use super::token::{Token, TokenKind};
use super::{data, ddl};

/// The kind of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// CREATE, ALTER, DROP of what `system_schema` shows.
    Schema,
    /// INSERT, UPDATE, DELETE, TRUNCATE and batches of them, without a condition.
    Data,
    /// Data with a condition (`IF …`), or a transaction.
    Conditional,
    /// Data that adds to a counter.
    Counter,
    /// Roles, users, identities and permissions.
    Role,
    /// SELECT, LIST, DESCRIBE.
    Read,
    /// What a migration cannot hold; [`Classification::refused`] says why.
    Forbidden,
}

/// Why a statement may do something else when it is sent again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotIdempotent {
    /// It counts again.
    #[error("it adds to a counter")]
    Counter,
    /// Its own effect can make its condition false.
    #[error("it has a condition")]
    Conditional,
    /// Appended or prepended again; overwritten with one timestamp twice, a list has its elements twice.
    #[error("it may write to a list, or remove from one by index")]
    List,
    /// The function has another value each time, or may have.
    #[error("it calls {0}()")]
    Function(String),
    /// What was written meanwhile would be gone too.
    #[error("a second TRUNCATE removes what was written since the first")]
    Truncate,
    /// It fails when its effect is there already.
    #[error("it fails when its effect is there")]
    Once,
}

/// Why a statement cannot be in a migration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// `USE` is a state of the whole session, which is the caller's.
    #[error("USE changes the keyspace of the whole session; write ${{keyspace}}.name instead")]
    Use,
    /// The first word begins no statement that is known here.
    #[error("no statement that is known here begins with `{0}`")]
    Unknown(String),
    /// The statement begins like one that is known and goes on otherwise.
    #[error("{0}")]
    Syntax(CqlError),
    /// Servers refuse it since Cassandra 3.10.
    #[error("the type of a column or field cannot be changed; add another one and copy")]
    AlterType,
}

/// What is known of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classification {
    /// What it is.
    pub kind: Kind,
    /// What it names, in the order of the text.
    pub objects: Vec<Object>,
    /// Why it cannot be sent twice; `None` if it can.
    pub not_idempotent: Option<NotIdempotent>,
    /// It removes data, or rights, that no other statement brings back.
    pub destructive: bool,
    /// It has `?` or `:name` for bound values.
    pub bind_markers: bool,
    /// Names without a keyspace that get one from the session.
    pub unqualified: Vec<String>,
    /// What it changes in the schema; of roles and permissions too.
    pub change: Option<SchemaChange>,
    /// Why it cannot be in a migration.
    pub refused: Option<Refusal>,
}

impl Classification {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            objects: Vec::new(),
            not_idempotent: None,
            destructive: false,
            bind_markers: false,
            unqualified: Vec::new(),
            change: None,
            refused: None,
        }
    }

    /// Whether it can be sent twice with the effect of once, other writers aside. Values that are bound are
    /// taken for idempotent ones; that of a list is not.
    #[must_use]
    pub fn idempotent(&self) -> bool {
        self.not_idempotent.is_none() && self.refused.is_none()
    }

    pub(crate) fn refuse(refusal: Refusal) -> Self {
        Self { refused: Some(refusal), not_idempotent: None, ..Self::new(Kind::Forbidden) }
    }

    /// Notes an object that lives in a keyspace.
    pub(crate) fn object(&mut self, kind: ObjectKind, name: QualifiedName) {
        let is_global = matches!(kind, ObjectKind::Keyspace | ObjectKind::Role);
        if !is_global && name.keyspace.is_none() {
            self.unqualified.push(name.name.clone());
        }
        self.objects.push(Object { kind, name });
    }

    /// Each object and name once, in the order of the text.
    fn once_each(&mut self) {
        let mut objects = HashSet::new();
        self.objects.retain(|object| objects.insert(object.clone()));
        let mut names = HashSet::new();
        self.unqualified.retain(|name| names.insert(name.clone()));
    }

    pub(crate) fn not_idempotent(&mut self, why: NotIdempotent) {
        self.not_idempotent.get_or_insert(why);
    }
}

impl Statement {
    /// What the statement does. Of a template, names may still be variables as they are written.
    #[must_use]
    pub fn classify(&self) -> Classification {
        let tokens = self.tokens();
        let found = classify(&mut Cursor::new(self.text(), &tokens));
        let mut classification = found.unwrap_or_else(|fault| {
            Classification::refuse(Refusal::Syntax(self.error(fault.kind, fault.at)))
        });
        classification.once_each();
        classification.bind_markers = has_bind_markers(self.text(), &tokens);
        classification
    }
}

fn classify(cursor: &mut Cursor<'_>) -> Result<Classification, Fault> {
    // What is not a word may be a value, which no message shows.
    let Some(first) = cursor.peek().filter(|token| token.kind == TokenKind::Word) else {
        return Err(cursor.expected("a statement"));
    };
    let first = first.text(cursor.source()).to_owned();
    match first.to_ascii_lowercase().as_str() {
        "insert" | "update" | "delete" | "begin" | "truncate" | "select" => data::classify(cursor),
        "create" | "alter" | "drop" | "grant" | "revoke" | "add" => ddl::classify(cursor),
        "list" | "describe" | "desc" => Ok(Classification::new(Kind::Read)),
        "use" => Ok(Classification::refuse(Refusal::Use)),
        _ => Ok(Classification::refuse(Refusal::Unknown(first.chars().take(40).collect()))),
    }
}

/// A `:` after a term inside of braces is that of a map.
fn has_bind_markers(source: &str, tokens: &[Token]) -> bool {
    let mut depth = 0_usize;
    let mut after_term = false;
    for token in tokens {
        if token.kind == TokenKind::Punctuation {
            let sign = token.text(source);
            match sign {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                "?" => return true,
                ":" if depth == 0 || !after_term => return true,
                _ => {}
            }
            after_term = matches!(sign, ")" | "]" | "}");
        } else {
            after_term = true;
        }
    }
    false
}
