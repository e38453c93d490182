//! The ledger's table: a promise from the first release on. Columns may be added, never changed or dropped.

use uuid::Uuid;

use crate::cql::{literal, quote};
use crate::ledger::Kind;

/// The table of the ledger, in the keyspace that is migrated.
pub const LEDGER_TABLE: &str = "kandra_migrations";

const COMMENT: &str =
    "kandra-migrate ledger, written by conditional statements only: do not edit, truncate or drop";

/// Makes the table's id one that no other table has.
const ID_NAMESPACE: Uuid = Uuid::from_u128(0x6b3e_5d0c_51f4_4c5f_9d7c_8a1f_3e60_b2d4);

/// The key, in its order; the first column is the partition's.
pub(crate) const KEY: [(&str, &str); 5] = [
    ("keyspace_name", "text"),
    ("scope", "text"),
    ("kind", "tinyint"),
    ("version", "bigint"),
    ("n", "bigint"),
];

/// All other columns. Some are shared by rows of several kinds; some are for verbs and locks that are to come, so
/// that the table need not be altered while a fleet runs.
pub(crate) const COLUMNS: [(&str, &str); 52] = [
    // head
    ("fmt_read", "int"),
    ("fmt_write", "int"),
    ("epoch", "bigint"),
    ("rev", "bigint"),
    ("op", "uuid"),
    ("owner", "uuid"),
    ("owner_info", "text"),
    ("lease_ms", "bigint"),
    ("heartbeat_ms", "bigint"),
    ("serial_cl", "text"),
    ("active_version", "bigint"),
    ("active_state", "text"),
    ("frontier", "text"),
    ("cap", "bigint"),
    ("cmd", "text"),
    ("cmd_version", "bigint"),
    ("cmd_op", "uuid"),
    ("cmd_by", "text"),
    ("cmd_reason", "text"),
    ("hold_until", "timestamp"),
    ("hold_reason", "text"),
    // version
    ("name", "text"),
    ("state", "text"),
    ("checksum", "text"),
    ("plan_digest", "text"),
    ("failures", "bigint"),
    ("started_at", "timestamp"),
    ("applied_at", "timestamp"),
    ("execution_ms", "bigint"),
    ("applied_by", "text"),
    ("out_of_order", "boolean"),
    ("schema_digest", "text"),
    ("schema_text", "text"),
    // step
    ("task", "text"),
    ("step_kind", "text"),
    ("flags", "text"),
    ("attempts", "bigint"),
    ("digest", "text"),
    ("dependencies", "text"),
    ("sent", "text"),
    ("undo", "text"),
    ("coordinator", "text"),
    ("position", "text"),
    ("error", "text"),
    // event
    ("at", "timestamp"),
    ("actor", "text"),
    ("event", "text"),
    ("reason", "text"),
    // lock
    ("mode", "text"),
    ("holder", "uuid"),
    ("holder_scope", "text"),
    ("holder_version", "bigint"),
];

/// Columns of a head that are read.
const HEAD: [&str; 21] = [
    "fmt_read",
    "fmt_write",
    "epoch",
    "rev",
    "op",
    "owner",
    "owner_info",
    "lease_ms",
    "heartbeat_ms",
    "serial_cl",
    "active_version",
    "active_state",
    "frontier",
    "cap",
    "cmd",
    "cmd_version",
    "cmd_op",
    "cmd_by",
    "cmd_reason",
    "hold_until",
    "hold_reason",
];

const VERSION: [&str; 11] = [
    "name",
    "state",
    "checksum",
    "plan_digest",
    "epoch",
    "started_at",
    "applied_at",
    "execution_ms",
    "applied_by",
    "out_of_order",
    "error",
];

const STEP: [&str; 12] = [
    "task",
    "step_kind",
    "flags",
    "state",
    "attempts",
    "failures",
    "digest",
    "undo",
    "coordinator",
    "position",
    "error",
    "checksum",
];

const EVENT: [&str; 5] = ["at", "actor", "event", "error", "reason"];

const LOCK: [&str; 4] = ["mode", "holder", "holder_scope", "holder_version"];

/// The columns of a row of this kind that are read, without the key.
pub(crate) const fn columns_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Head => &HEAD,
        Kind::Version => &VERSION,
        Kind::Step => &STEP,
        Kind::Event => &EVENT,
        Kind::Lock => &LOCK,
    }
}

/// Where a ledger is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LedgerName {
    pub(crate) keyspace: String,
    pub(crate) table: String,
}

impl LedgerName {
    /// Both names, quoted.
    pub(crate) fn qualified(&self) -> String {
        format!("{}.{}", quote(&self.keyspace), quote(&self.table))
    }

    /// The table's id: the same for all who create it at once, so that their creations merge. A keyspace that was
    /// dropped and created again has another write time, and its ledger another id: a node that was down meanwhile
    /// cannot bring back the old rows.
    pub(crate) fn id(&self, keyspace_written_us: i64) -> Uuid {
        let name = format!("{}\0{}\0{keyspace_written_us}", self.keyspace, self.table);
        Uuid::new_v5(&ID_NAMESPACE, name.as_bytes())
    }

    /// The statement that creates it: the same, byte for byte, from all instances.
    pub(crate) fn create_statement(&self, id: Option<Uuid>) -> String {
        let column = |(name, cql_type): &(&str, &str)| format!("{} {cql_type}", quote(name));
        let columns = KEY.iter().chain(&COLUMNS).map(column).collect::<Vec<_>>().join(", ");
        let [partition, clustering @ ..] = KEY.map(|(name, _)| quote(name));
        let clustering = clustering.join(", ");
        let id = id.map(|id| format!("ID = '{id}' AND ")).unwrap_or_default();
        let comment = literal(COMMENT);
        let table = self.qualified();
        format!(
            "CREATE TABLE IF NOT EXISTS {table} ({columns}, PRIMARY KEY (({partition}), {clustering})) WITH {id}comment = {comment}"
        )
    }
}

/// A column as `system_schema.columns` describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundColumn {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) position: i64,
    pub(crate) cql_type: String,
    pub(crate) order: String,
}

/// What keeps a table from being a ledger; `None` where nothing does. Further columns are a newer release's.
pub(crate) fn difference(found: &[FoundColumn]) -> Option<String> {
    let partition = [("partition_key", 0)];
    let clustering = (0..).map(|position| ("clustering", position)).take(KEY.len() - 1);
    let key = KEY.iter().zip(partition.into_iter().chain(clustering));
    let key_difference = key.filter_map(|((name, cql_type), (kind, position))| {
        let order = if kind == "clustering" { "asc" } else { "none" };
        let as_is = |column: &&FoundColumn| {
            (column.kind.as_str(), column.position) == (kind, position)
                && column.order.eq_ignore_ascii_case(order)
        };
        column_difference(found, name, cql_type, &format!("{kind} column {position}, order {order}"), as_is)
    });
    let rest_difference = COLUMNS.iter().filter_map(|(name, cql_type)| {
        column_difference(found, name, cql_type, "regular column", |column| column.kind == "regular")
    });
    let key_length =
        found.iter().filter(|column| ["partition_key", "clustering"].contains(&column.kind.as_str()));
    let longer_key = (key_length.count() > KEY.len()).then(|| "its primary key has more columns".to_owned());
    key_difference.chain(rest_difference).next().or(longer_key)
}

fn column_difference(
    found: &[FoundColumn],
    name: &str,
    cql_type: &str,
    role: &str,
    as_is: impl Fn(&&FoundColumn) -> bool,
) -> Option<String> {
    let Some(column) = found.iter().find(|column| column.name == name) else {
        return Some(format!("column {name} is missing"));
    };
    if column.cql_type == cql_type && as_is(&column) {
        return None;
    }
    let FoundColumn { kind, position, cql_type: found_type, order, .. } = column;
    Some(format!(
        "column {name} is a {found_type} ({kind} column {position}, order {order}), and a ledger's is a {cql_type} ({role})"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Claim, Intent, Ledger, Mutation, Takeover, Transition, Writer};

    fn ledger() -> LedgerName {
        LedgerName { keyspace: "shop".to_owned(), table: LEDGER_TABLE.to_owned() }
    }

    fn found() -> Vec<FoundColumn> {
        let column = |name: &str, kind: &str, position, cql_type: &str, order: &str| FoundColumn {
            name: name.to_owned(),
            kind: kind.to_owned(),
            position,
            cql_type: cql_type.to_owned(),
            order: order.to_owned(),
        };
        let mut columns = vec![column(KEY[0].0, "partition_key", 0, KEY[0].1, "none")];
        columns.extend(
            (0..).zip(&KEY[1..]).map(|(n, (name, cql_type))| column(name, "clustering", n, cql_type, "asc")),
        );
        columns.extend(COLUMNS.iter().map(|(name, cql_type)| column(name, "regular", -1, cql_type, "none")));
        columns
    }

    #[test]
    fn every_column_that_is_read_is_in_the_table() {
        for kind in [Kind::Head, Kind::Version, Kind::Step, Kind::Event, Kind::Lock] {
            for name in columns_of(kind) {
                assert!(COLUMNS.iter().any(|(column, _)| column == name), "{name}");
            }
        }
    }

    #[test]
    fn every_column_that_is_written_is_read() {
        let writer = Writer { owner: Uuid::nil(), info: String::new(), wall_ms: 0, reason: None };
        let takeover = Takeover { from: None, lease_ms: 1, heartbeat_ms: 1, serial_cl: "SERIAL" };
        let claim = Claim {
            version: 1,
            name: String::new(),
            checksum: String::new(),
            plan_digest: String::new(),
            out_of_order: false,
        };
        let intent = Intent {
            version: 1,
            n: 0,
            task: String::new(),
            step_kind: "schema",
            flags: "probe".to_owned(),
            digest: String::new(),
            undo: None,
            coordinator: None,
        };
        let transitions =
            [Transition::Acquire(takeover), Transition::Claim(claim), Transition::Intent(intent)];
        let transaction =
            Ledger::default().transact(&writer, Uuid::nil(), &transitions).expect("a legal write");

        let mut kinds = Vec::new();
        for mutation in &transaction.mutations {
            let Mutation::Put(key, cells) = mutation else { panic!("nothing is deleted: {mutation:?}") };
            for (column, _) in cells.iter() {
                assert!(columns_of(key.kind).contains(&column), "{column} of {:?}", key.kind);
            }
            kinds.push(key.kind);
        }
        assert_eq!(kinds, [Kind::Head, Kind::Version, Kind::Step, Kind::Event]);
    }

    #[test]
    fn the_statement_is_what_released_versions_send() {
        let statement = ledger().create_statement(Some(ledger().id(1_700_000_000_000_000)));
        let digest = Uuid::new_v5(&Uuid::nil(), statement.as_bytes());
        assert_eq!(digest.to_string(), "5d05f5ae-b794-5bc4-ab71-cdf94b531e8c", "{statement}");
    }

    #[test]
    fn the_id_follows_the_keyspace_and_its_incarnation() {
        let other = LedgerName { keyspace: "shop2".to_owned(), ..ledger() };
        assert_eq!(ledger().id(1), ledger().id(1));
        assert_ne!(ledger().id(1), ledger().id(2));
        assert_ne!(ledger().id(1), other.id(1));
    }

    #[test]
    fn a_ledger_is_known_by_its_columns() {
        assert_eq!(difference(&found()), None);
        let mut newer = found();
        newer.push(FoundColumn { name: "later".to_owned(), ..newer[20].clone() });
        assert_eq!(difference(&newer), None);
    }

    #[test]
    fn another_shape_is_told_by_its_first_difference() {
        let changed = |change: &dyn Fn(&mut Vec<FoundColumn>)| {
            let mut columns = found();
            change(&mut columns);
            difference(&columns).expect("another shape")
        };
        assert_eq!(changed(&|columns| columns.clear()), "column keyspace_name is missing");
        assert!(
            changed(&|columns| columns[2].position = 5)
                .starts_with("column kind is a tinyint (clustering column 5")
        );
        assert!(changed(&|columns| columns[4].order = "desc".to_owned()).contains("order desc"));
        assert!(changed(&|columns| columns[9].cql_type = "blob".to_owned()).contains("column op is a blob"));
        assert!(changed(&|columns| columns[9].kind = "static".to_owned()).contains("(static column"));
        let more = |columns: &mut Vec<FoundColumn>| {
            let extra = FoundColumn { name: "z".to_owned(), position: 4, ..columns[4].clone() };
            columns.push(extra);
        };
        assert_eq!(changed(&more), "its primary key has more columns");
    }
}
