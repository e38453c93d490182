//! What a code task may send: pure checks of a statement's text and of what the server says of it.

use thiserror::Error;

use crate::cql::{
    self, Classification, CqlError, Kind, NotIdempotent, ObjectKind, QualifiedName, Refusal, Variables,
};

/// Why a code task may not send a statement.
#[derive(Debug, Error)]
pub(crate) enum StatementError {
    #[error("{0}")]
    Text(#[from] CqlError),
    #[error("{0}")]
    Refused(Refusal),
    #[error("`execute` takes data statements; make this one a task of its own: cql(\"…\")")]
    Schema,
    #[error("`rows` takes a SELECT; send another statement with `execute`")]
    NotRead,
    #[error("`execute` returns no rows; read them with `rows`")]
    Read,
    #[error(
        "an idempotent task may not send this, since {0} and it would take effect again when the task is resumed: \
         mark the task `.once()`"
    )]
    NotIdempotent(NotIdempotent),
    #[error("{table} has no keyspace, and the session's is {session}: write ${{keyspace}}.{table}")]
    Unqualified { table: String, session: String },
}

/// A statement that a task may send, as far as its text tells.
#[derive(Debug, Clone)]
pub(super) struct Checked {
    pub(super) text: String,
    found: Classification,
}

/// A column of the table that a statement writes to, as `system_schema` has it.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) cql_type: String,
}

/// What to do with a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Manner {
    /// It has no effect.
    pub(super) is_read: bool,
    /// It may have a condition, so that its outcome can be unknown after more errors.
    pub(super) is_conditional: bool,
    /// Sent twice with one write time, it writes the same cells.
    pub(super) takes_timestamp: bool,
}

impl Checked {
    /// The statement of a text, its variables replaced.
    pub(super) fn of(
        text: &str,
        variables: &Variables,
        keyspace: &str,
        session_keyspace: Option<&str>,
    ) -> Result<Self, StatementError> {
        let statement = cql::one(text)?.render(variables)?;
        let found = statement.classify();
        if let Some(refusal) = found.refused {
            return Err(StatementError::Refused(refusal));
        }
        if let Some(table) = found.unqualified.first().filter(|_| session_keyspace != Some(keyspace)) {
            let session = session_keyspace.unwrap_or("not set").to_owned();
            return Err(StatementError::Unqualified { table: table.clone(), session });
        }
        match found.kind {
            Kind::Schema | Kind::Role | Kind::Forbidden => Err(StatementError::Schema),
            Kind::Data | Kind::Conditional | Kind::Counter | Kind::Read => {
                Ok(Self { text: statement.text().to_owned(), found })
            }
        }
    }

    pub(super) fn is_read(&self) -> bool {
        self.found.kind == Kind::Read
    }

    /// The tables whose columns have to be known: by its text, `c = c + ?` may be a counter, a set, a map or a list,
    /// `c[?]` and `[1, 2]` may be those of a list, and so may a bound value.
    pub(super) fn ambiguous_tables(&self, binds_list: bool) -> Vec<&QualifiedName> {
        let is_ambiguous = match self.found.kind {
            Kind::Counter => true,
            Kind::Data => binds_list || self.found.not_idempotent == Some(NotIdempotent::List),
            _ => false,
        };
        let tables = self.found.objects.iter().filter(|object| object.kind == ObjectKind::Table);
        tables.filter(|_| is_ambiguous).map(|object| &object.name).collect()
    }

    /// What to do with it. `columns` are those of [`Checked::ambiguous_tables`], `bound` the columns that have a bound
    /// value.
    pub(super) fn manner(
        &self,
        idempotent: bool,
        columns: &[Column],
        bound: &[&str],
    ) -> Result<Manner, StatementError> {
        let lists = || columns.iter().filter(|column| column.cql_type.starts_with("list<"));
        let is_list = |name: &&str| lists().any(|list| list.name == *name);
        let may_have_list = columns.is_empty() || lists().next().is_some();
        let has_counter = columns.iter().any(|column| column.cql_type == "counter");
        let once = match (self.found.kind, &self.found.not_idempotent) {
            (Kind::Counter, _) if has_counter || columns.is_empty() => Some(NotIdempotent::Counter),
            (Kind::Conditional, _) => Some(NotIdempotent::Conditional),
            (_, Some(NotIdempotent::List)) if may_have_list => Some(NotIdempotent::List),
            _ => bound.iter().any(is_list).then_some(NotIdempotent::List),
        };
        let manner = Manner {
            is_read: self.is_read(),
            is_conditional: self.found.kind == Kind::Conditional,
            takes_timestamp: !self.is_read() && once.is_none(),
        };
        match once {
            Some(why) if idempotent => Err(StatementError::NotIdempotent(why)),
            _ => Ok(manner),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Checked {
        Checked::of(text, &Variables::keyspace("shop"), "shop", None).expect("a statement that may be sent")
    }

    fn refused(text: &str) -> StatementError {
        Checked::of(text, &Variables::keyspace("shop"), "shop", Some("other"))
            .expect_err("a statement that may not be sent")
    }

    fn columns(columns: &[(&str, &str)]) -> Vec<Column> {
        let column =
            |(name, cql_type): &(&str, &str)| Column { name: (*name).into(), cql_type: (*cql_type).into() };
        columns.iter().map(column).collect()
    }

    const PLAIN: Manner = Manner { is_read: false, is_conditional: false, takes_timestamp: true };

    #[test]
    fn the_keyspace_is_replaced() {
        assert_eq!(checked("SELECT * FROM ${keyspace}.users; -- all").text, r#"SELECT * FROM "shop".users"#);
    }

    #[test]
    fn what_a_task_may_not_send() {
        assert!(matches!(refused("USE shop"), StatementError::Refused(Refusal::Use)));
        assert!(matches!(refused("CREATE TABLE ${keyspace}.t (a int PRIMARY KEY)"), StatementError::Schema));
        assert!(matches!(refused("GRANT SELECT ON KEYSPACE shop TO r"), StatementError::Schema));
        assert!(matches!(refused("SELECT 'a' FROM"), StatementError::Refused(Refusal::Syntax(_))));
        assert!(matches!(
            refused("DELETE FROM ${keyspace}.a; DELETE FROM ${keyspace}.b"),
            StatementError::Text(_)
        ));
        assert!(matches!(refused("SELECT * FROM users"), StatementError::Unqualified { .. }));
        let variables = Variables::keyspace("shop");
        assert!(Checked::of("SELECT * FROM users", &variables, "shop", Some("shop")).is_ok());
    }

    #[test]
    fn a_plain_write_has_the_pinned_write_time() {
        let statement = checked("UPDATE ${keyspace}.users SET name = ? WHERE id = ?");
        assert!(statement.ambiguous_tables(false).is_empty());
        assert_eq!(statement.manner(true, &[], &["name", "id"]).expect("plain"), PLAIN);
    }

    #[test]
    fn a_condition_is_for_once_tasks() {
        let statement = checked("INSERT INTO ${keyspace}.users (id) VALUES (?) IF NOT EXISTS");
        assert!(matches!(
            statement.manner(true, &[], &["id"]),
            Err(StatementError::NotIdempotent(NotIdempotent::Conditional))
        ));
        let manner = Manner { is_conditional: true, takes_timestamp: false, ..PLAIN };
        assert_eq!(statement.manner(false, &[], &["id"]).expect("once"), manner);
    }

    #[test]
    fn a_counter_is_told_from_a_set_by_the_table() {
        let statement = checked("UPDATE ${keyspace}.t SET c = c + ? WHERE id = ?");
        assert_eq!(statement.ambiguous_tables(false), [&QualifiedName::new("shop", "t")]);
        let manner = |columns: &[Column]| statement.manner(true, columns, &["c", "id"]);

        let counter = columns(&[("id", "int"), ("c", "counter")]);
        assert!(matches!(manner(&counter), Err(StatementError::NotIdempotent(NotIdempotent::Counter))));
        assert!(!statement.manner(false, &counter, &["c"]).expect("once").takes_timestamp);
        let list = columns(&[("id", "int"), ("c", "list<text>")]);
        assert!(matches!(manner(&list), Err(StatementError::NotIdempotent(NotIdempotent::List))));
        assert_eq!(manner(&columns(&[("id", "int"), ("c", "set<text>")])).expect("a set"), PLAIN);
    }

    #[test]
    fn a_list_that_is_not_frozen_is_for_once_tasks() {
        let statement = checked("INSERT INTO ${keyspace}.t (id, l) VALUES (?, ?)");
        assert_eq!(statement.ambiguous_tables(true), [&QualifiedName::new("shop", "t")]);
        let list = columns(&[("id", "int"), ("l", "list<text>")]);
        assert!(matches!(
            statement.manner(true, &list, &["id", "l"]),
            Err(StatementError::NotIdempotent(NotIdempotent::List))
        ));
        let frozen = columns(&[("id", "int"), ("l", "frozen<list<text>>")]);
        assert_eq!(statement.manner(true, &frozen, &["id", "l"]).expect("frozen"), PLAIN);

        let literal = checked("UPDATE ${keyspace}.t SET l = ['a'] WHERE id = 1");
        assert_eq!(literal.ambiguous_tables(false).len(), 1);
        assert!(literal.manner(true, &list, &[]).is_err());
    }

    #[test]
    fn an_element_of_a_map_is_told_from_that_of_a_list_by_the_table() {
        let statement = checked("UPDATE ${keyspace}.t SET m[?] = ? WHERE id = ?");
        let bound = ["key(m)", "value(m)", "id"];
        let map = columns(&[("id", "int"), ("m", "map<int, text>")]);
        assert_eq!(statement.manner(true, &map, &bound).expect("a map"), PLAIN);
        assert!(statement.manner(true, &columns(&[("m", "list<text>")]), &bound).is_err());
    }

    #[test]
    fn a_read_has_no_write_time() {
        let manner = Manner { is_read: true, takes_timestamp: false, ..PLAIN };
        assert_eq!(checked("SELECT * FROM ${keyspace}.t").manner(true, &[], &[]).expect("a read"), manner);
    }
}
