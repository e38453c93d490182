//! The statements of a copy.

use super::mapping::{Filled, Mapping};
use crate::cql::quote;
use crate::task::backfill::column::Kind;
use crate::task::backfill::names::{quoted, time_of};
use crate::task::backfill::table::Table;

/// An `UPDATE`, and what its values are after write time and TTL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Update {
    pub(super) text: String,
    /// Which of the columns it has.
    pub(super) columns: Vec<usize>,
    /// How many columns of the key.
    pub(super) keys: usize,
}

/// Null where there is none of its columns.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Texts {
    /// What is read after the token: all values, then write time and TTL of those that have them.
    pub(super) reads: String,
    /// Of each value that is read, where its write time is.
    pub(super) times: Vec<Option<usize>>,
    /// All that is filled: it is prepared for its types, and not sent.
    pub(super) shape: String,
    /// Key and cells, then write time and TTL.
    pub(super) insert: String,
    pub(super) cells: Option<Update>,
    pub(super) statics: Option<Update>,
    pub(super) collections: Option<Update>,
    pub(super) static_collections: Option<Update>,
    /// The row with a key: cells, collections, then write time and TTL of the cells.
    pub(super) look_up: String,
    /// The row that is copied, by its key: as `reads`.
    pub(super) read_again: String,
}

impl Texts {
    pub(super) fn of(from: &Table, into: &Table, mapping: &Mapping) -> Self {
        let times = times(mapping);
        let reads = reads(mapping, &times);
        let keys = from.columns.iter().filter(|column| column.is_key()).map(|column| quote(&column.name));
        let read_again = format!("SELECT {reads} FROM {} WHERE {}", from.quoted, equal(keys));
        let update = |columns: &[Filled], is_static| Update::of(into, mapping, columns, is_static);
        Self {
            times,
            shape: insert(into, mapping.filled()),
            insert: format!(
                "{} USING TIMESTAMP ? AND TTL ?",
                insert(into, mapping.keys.iter().chain(&mapping.cells))
            ),
            cells: update(&mapping.cells, false),
            statics: update(&mapping.cells, true),
            collections: update(&mapping.collections, false),
            static_collections: update(&mapping.collections, true),
            look_up: look_up(into, mapping),
            reads,
            read_again,
        }
    }
}

impl Update {
    /// Of all columns, or the static ones.
    fn of(into: &Table, mapping: &Mapping, filled: &[Filled], is_static: bool) -> Option<Self> {
        let columns: Vec<_> = (0..filled.len()).filter(|at| !is_static || filled[*at].is_static()).collect();
        let kind_max =
            if columns.iter().all(|at| filled[*at].is_static()) { Kind::Partition } else { Kind::Clustering };
        let set = |at: &usize| {
            let column = &filled[*at].column;
            let name = quote(&column.name);
            // Elements are added to those that are there, so that none is deleted.
            let is_added = ["set<", "map<"].iter().any(|kind| column.cql_type.starts_with(kind));
            if is_added { format!("{name} = {name} + ?") } else { format!("{name} = ?") }
        };
        let keys = mapping.keys.iter().filter(|key| key.column.kind <= kind_max);
        let keys: Vec<_> = keys.map(|key| quote(&key.column.name)).collect();
        (!columns.is_empty()).then(|| Self {
            text: format!(
                "UPDATE {} USING TIMESTAMP ? AND TTL ? SET {} WHERE {}",
                into.quoted,
                columns.iter().map(set).collect::<Vec<_>>().join(", "),
                equal(keys.iter().cloned())
            ),
            columns,
            keys: keys.len(),
        })
    }
}

fn times(mapping: &Mapping) -> Vec<Option<usize>> {
    let mut next = mapping.reads.len();
    let mut time = |has_time: bool| {
        has_time.then(|| {
            next += 2;
            next - 2
        })
    };
    mapping.reads.iter().map(|column| time(!column.is_key() && !column.is_multi_cell())).collect()
}

fn reads(mapping: &Mapping, times: &[Option<usize>]) -> String {
    let names = mapping.reads.iter().map(|column| quote(&column.name));
    let with_time = mapping.reads.iter().zip(times).filter(|(_, time)| time.is_some());
    names.chain(with_time.map(|(column, _)| time_of(&column.name))).collect::<Vec<_>>().join(", ")
}

fn insert<'a>(into: &Table, filled: impl Iterator<Item = &'a Filled>) -> String {
    let names: Vec<_> = filled.map(|filled| filled.column.name.as_str()).collect();
    let marks = vec!["?"; names.len()].join(", ");
    format!("INSERT INTO {} ({}) VALUES ({marks})", into.quoted, quoted(names))
}

fn look_up(into: &Table, mapping: &Mapping) -> String {
    let columns = mapping.keys.iter().take(1).chain(&mapping.cells).chain(&mapping.collections);
    let names = columns.map(|filled| quote(&filled.column.name));
    let times = mapping.cells.iter().map(|filled| time_of(&filled.column.name));
    let text = names.chain(times).collect::<Vec<_>>().join(", ");
    let keys = mapping.keys.iter().map(|key| quote(&key.column.name));
    format!("SELECT {text} FROM {} WHERE {}", into.quoted, equal(keys))
}

fn equal(names: impl Iterator<Item = String>) -> String {
    names.map(|name| format!("{name} = ?")).collect::<Vec<_>>().join(" AND ")
}

#[cfg(test)]
mod tests {
    use super::super::mapping::Choice;
    use super::super::mapping::tests::{by_mail, users};
    use super::*;
    use crate::task::backfill::column::column;

    #[test]
    fn statements() {
        let into = by_mail(&[("Full", "text"), ("tags", "set<text>")]);
        let mapping = Mapping::of(&users(), &into, &Choice::default()).unwrap();
        let texts = Texts::of(&users(), &into, &mapping);
        assert_eq!(
            texts.reads,
            r#""id", "Full", "mail", "tags", WRITETIME("Full"), TTL("Full"), WRITETIME("mail"), TTL("mail")"#
        );
        assert_eq!(texts.times, [None, Some(4), Some(6), None]);
        assert_eq!(
            texts.insert,
            r#"INSERT INTO "s"."users_by_mail" ("mail", "id", "Full") VALUES (?, ?, ?) USING TIMESTAMP ? AND TTL ?"#
        );
        let cells = texts.cells.unwrap();
        assert_eq!(
            cells.text,
            r#"UPDATE "s"."users_by_mail" USING TIMESTAMP ? AND TTL ? SET "Full" = ? WHERE "mail" = ? AND "id" = ?"#
        );
        assert_eq!((cells.columns, cells.keys), (vec![0], 2));
        assert_eq!(
            texts.collections.unwrap().text,
            r#"UPDATE "s"."users_by_mail" USING TIMESTAMP ? AND TTL ? SET "tags" = "tags" + ? WHERE "mail" = ? AND "id" = ?"#
        );
        assert_eq!((texts.statics, texts.static_collections), (None, None));
        assert_eq!(
            texts.look_up,
            r#"SELECT "mail", "Full", "tags", WRITETIME("Full"), TTL("Full") FROM "s"."users_by_mail" WHERE "mail" = ? AND "id" = ?"#
        );
    }

    #[test]
    fn static_columns_are_of_the_partition() {
        let mut into = by_mail(&[("Full", "text"), ("tags", "set<text>")]);
        into.columns[2] = column("Full", "text", Kind::Static);
        let mapping = Mapping::of(&users(), &into, &Choice::default()).unwrap();
        let texts = Texts::of(&users(), &into, &mapping);
        let text =
            r#"UPDATE "s"."users_by_mail" USING TIMESTAMP ? AND TTL ? SET "Full" = ? WHERE "mail" = ?"#;
        assert_eq!(texts.statics.unwrap().text, text);
        assert_eq!(texts.cells.unwrap().text, text, "nothing else is in it");
    }
}
