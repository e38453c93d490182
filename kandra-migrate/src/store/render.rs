//! The ledger's statements as text.

use super::definition::{LedgerName, SCHEMA_OF_VERSION, columns_of};
use super::{Slice, literal};
use crate::cql::{self, quote};
use crate::ledger::{Cells, Condition, Key, Kind, Mutation, Transaction, Value};

/// The rows of one scope of one keyspace, in one table.
#[derive(Debug, Clone)]
pub(super) struct Partition {
    table: String,
    keyspace: String,
    scope: String,
}

impl Partition {
    pub(super) fn new(ledger: &LedgerName, keyspace: &str, scope: &str) -> Self {
        Self { table: ledger.qualified(), keyspace: cql::literal(keyspace), scope: cql::literal(scope) }
    }

    /// One statement that reads a slice.
    pub(super) fn select(&self, slice: Slice) -> String {
        let times = |column| format!(r#", writetime("{column}") AS "{column}_us""#);
        let now = r#", toUnixTimestamp(now()) AS "server_ms""#;
        match slice {
            Slice::Frontier => {
                let columns = r#""frontier", "serial_cl", "active_version", "active_state""#;
                format!("SELECT {columns} FROM {} WHERE {}", self.table, self.key(Key::HEAD))
            }
            Slice::Head => {
                let r#where = self.key(Key::HEAD);
                self.select_from(&[Kind::Head], &(now.to_owned() + &times("op")), &r#where)
            }
            Slice::Versions => {
                let r#where = format!(r#"{} AND "kind" <= {}"#, self.scope_is(), Kind::Version.number());
                let extra = now.to_owned() + &times("op") + &times("name");
                self.select_from(&[Kind::Head, Kind::Version], &extra, &r#where)
            }
            Slice::Schema(version) => {
                let columns = SCHEMA_OF_VERSION.map(quote).join(", ");
                let r#where = self.key(Key::version(version));
                format!(r#"SELECT "kind", "version", "n", {columns} FROM {} WHERE {}"#, self.table, r#where)
            }
            Slice::StepsFrom(version) => {
                let r#where = format!(r#"{} AND "version" >= {version}"#, self.kind_is(Kind::Step));
                self.select_from(&[Kind::Step], &(now.to_owned() + &times("state")), &r#where)
            }
            Slice::Events { rows_max } => {
                let order = r#"ORDER BY "scope" DESC, "kind" DESC, "version" DESC, "n" DESC"#;
                let r#where = format!("{} {order} LIMIT {rows_max}", self.kind_is(Kind::Event));
                self.select_from(&[Kind::Event], now, &r#where)
            }
        }
    }

    fn select_from(&self, kinds: &[Kind], extra: &str, r#where: &str) -> String {
        let mut columns: Vec<&str> = Vec::new();
        for name in kinds.iter().flat_map(|kind| columns_of(*kind)) {
            if !columns.contains(name) {
                columns.push(name);
            }
        }
        let columns = columns.into_iter().map(quote).collect::<Vec<_>>().join(", ");
        format!(r#"SELECT "kind", "version", "n", {columns}{extra} FROM {} WHERE {}"#, self.table, r#where)
    }

    /// One statement that is a conditional write: a batch where it changes more than the head.
    pub(super) fn apply(&self, transaction: &Transaction) -> String {
        let mutations = transaction.mutations.iter();
        let mut statements: Vec<_> =
            mutations.filter_map(|mutation| self.mutation(mutation, &transaction.condition)).collect();
        if statements.len() == 1 {
            statements.remove(0)
        } else {
            format!("BEGIN BATCH {}; APPLY BATCH", statements.join("; "))
        }
    }

    fn mutation(&self, mutation: &Mutation, condition: &Condition) -> Option<String> {
        match mutation {
            Mutation::Put(key, cells) if condition.absent == Some(*key) => Some(self.insert(*key, cells)),
            Mutation::Put(key, cells) if *key == Key::HEAD => {
                let token = |uuid: Option<_>| literal::value(&uuid.into());
                let fence = format!(
                    r#" IF "op" = {} AND "cmd_op" = {}"#,
                    token(condition.op),
                    token(condition.cmd_op)
                );
                self.update(*key, cells).map(|update| update + &fence)
            }
            Mutation::Put(key, cells) => self.update(*key, cells),
            Mutation::Delete(key) => Some(format!("DELETE FROM {} WHERE {}", self.table, self.key(*key))),
            Mutation::DeleteSteps(version) => {
                let steps = self.kind_is(Kind::Step);
                Some(format!(r#"DELETE FROM {} WHERE {steps} AND "version" = {version}"#, self.table))
            }
        }
    }

    fn insert(&self, key: Key, cells: &Cells) -> String {
        let Key { kind, version, n } = key;
        let mut names = ["keyspace_name", "scope", "kind", "version", "n"].map(quote).to_vec();
        let mut values = vec![self.keyspace.clone(), self.scope.clone()];
        values.extend([i64::from(kind.number()), version, n].map(|number| number.to_string()));
        for (name, value) in cells.iter().filter(|(_, value)| **value != Value::Null) {
            names.push(quote(name));
            values.push(literal::value(value));
        }
        let (table, names, values) = (&self.table, names.join(", "), values.join(", "));
        format!("INSERT INTO {table} ({names}) VALUES ({values}) IF NOT EXISTS")
    }

    /// `None` where no cell changes: a row that was touched and is as before.
    fn update(&self, key: Key, cells: &Cells) -> Option<String> {
        let cells: Vec<_> =
            cells.iter().map(|(name, value)| format!(r#""{name}" = {}"#, literal::value(value))).collect();
        let set = || format!("UPDATE {} SET {} WHERE {}", self.table, cells.join(", "), self.key(key));
        (!cells.is_empty()).then(set)
    }

    fn key(&self, key: Key) -> String {
        format!(r#"{} AND "version" = {} AND "n" = {}"#, self.kind_is(key.kind), key.version, key.n)
    }

    fn kind_is(&self, kind: Kind) -> String {
        format!(r#"{} AND "kind" = {}"#, self.scope_is(), kind.number())
    }

    fn scope_is(&self) -> String {
        format!(r#""keyspace_name" = {} AND "scope" = {}"#, self.keyspace, self.scope)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::ledger::Ledger;

    fn partition() -> Partition {
        let ledger = LedgerName { keyspace: "ops".to_owned(), table: "ledger".to_owned() };
        Partition::new(&ledger, "shop", "main")
    }

    fn transaction(condition: Condition, mutations: Vec<Mutation>) -> Transaction {
        Transaction { op: Uuid::from_u128(2), condition, mutations, next: Ledger::default() }
    }

    const WHERE: &str = r#"WHERE "keyspace_name" = 'shop' AND "scope" = 'main' AND"#;

    #[test]
    fn a_change_of_the_head_alone_is_one_statement() {
        let condition = Condition { op: Some(Uuid::from_u128(1)), cmd_op: None, absent: None };
        let cells = Cells::new().with("op", Uuid::from_u128(2)).with("owner", Value::Null);
        assert_eq!(
            partition().apply(&transaction(condition, vec![Mutation::Put(Key::HEAD, cells)])),
            [
                r#"UPDATE "ops"."ledger" SET "op" = 00000000-0000-0000-0000-000000000002, "owner" = null"#,
                &format!(r#"{WHERE} "kind" = 0 AND "version" = 0 AND "n" = 0"#),
                r#"IF "op" = 00000000-0000-0000-0000-000000000001 AND "cmd_op" = null"#,
            ]
            .join(" ")
        );
    }

    #[test]
    fn a_change_of_more_rows_is_one_batch() {
        let absent = Key::version(7);
        let condition = Condition { op: None, cmd_op: None, absent: Some(absent) };
        let mutations = vec![
            Mutation::Put(Key::HEAD, Cells::new().with("rev", 1)),
            Mutation::Put(absent, Cells::new().with("name", "it's").with("error", Value::Null)),
            Mutation::Put(Key::step(7, 0), Cells::new().with("attempts", 1)),
            Mutation::Put(Key::step(7, 1), Cells::new()),
            Mutation::Delete(Key::version(6)),
        ];
        assert_eq!(
            partition().apply(&transaction(condition, mutations)),
            [
                r#"BEGIN BATCH UPDATE "ops"."ledger" SET "rev" = 1"#,
                &format!(r#"{WHERE} "kind" = 0 AND "version" = 0 AND "n" = 0 IF "op" = null AND "cmd_op" = null;"#),
                r#"INSERT INTO "ops"."ledger" ("keyspace_name", "scope", "kind", "version", "n", "name")"#,
                "VALUES ('shop', 'main', 1, 7, 0, 'it''s') IF NOT EXISTS;",
                &format!(r#"UPDATE "ops"."ledger" SET "attempts" = 1 {WHERE} "kind" = 2 AND "version" = 7 AND "n" = 0;"#),
                &format!(r#"DELETE FROM "ops"."ledger" {WHERE} "kind" = 1 AND "version" = 6 AND "n" = 0;"#),
                "APPLY BATCH",
            ]
            .join(" ")
        );
    }

    #[test]
    fn a_run_that_has_nothing_to_do_reads_four_columns() {
        let key = r#""kind" = 0 AND "version" = 0 AND "n" = 0"#;
        assert_eq!(
            partition().select(Slice::Frontier),
            format!(
                r#"SELECT "frontier", "serial_cl", "active_version", "active_state" FROM "ops"."ledger" {WHERE} {key}"#
            )
        );
    }

    #[test]
    fn the_newest_events_come_first_from_the_table() {
        let text = partition().select(Slice::Events { rows_max: 20 });
        assert!(text.ends_with(
            r#""kind" = 3 ORDER BY "scope" DESC, "kind" DESC, "version" DESC, "n" DESC LIMIT 20"#
        ));
    }

    #[test]
    fn a_column_of_several_kinds_is_read_once() {
        let text = partition().select(Slice::Versions);
        assert_eq!(text.matches(r#""epoch""#).count(), 1, "{text}");
        assert!(text.ends_with(r#""scope" = 'main' AND "kind" <= 1"#));
    }
}
