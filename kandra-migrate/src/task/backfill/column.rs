//! Columns as `system_schema` has them.

use crate::cql::CqlType;
use crate::driver::Record;

/// In the order in which a table has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Partition,
    Clustering,
    Static,
    Regular,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) cql_type: String,
    pub(super) kind: Kind,
    pub(super) position: i64,
}

impl Column {
    pub(super) fn of(row: Record<'_>) -> Option<Self> {
        let kind = match row.text("kind")? {
            "partition_key" => Kind::Partition,
            "clustering" => Kind::Clustering,
            "static" => Kind::Static,
            _ => Kind::Regular,
        };
        Some(Self {
            name: row.text("column_name")?.to_owned(),
            cql_type: row.text("type")?.to_owned(),
            kind,
            position: row.int("position").unwrap_or_default(),
        })
    }

    pub(super) fn is_key(&self) -> bool {
        matches!(self.kind, Kind::Partition | Kind::Clustering)
    }

    /// A list that is not frozen: each write of it adds elements of its own, even with the same write time.
    pub(super) fn is_list(&self) -> bool {
        self.cql_type.starts_with("list<")
    }

    /// It has cells of its own for its parts, and so no write time or TTL as a whole.
    pub(super) fn is_multi_cell(&self) -> bool {
        self.parsed().is_some_and(|parsed| parsed.is_multi_cell())
    }

    /// Whether values of the other column are values of this one as they are. What is frozen is stored in another way,
    /// and sent in the same.
    pub(super) fn takes(&self, other: &Self) -> bool {
        match (self.parsed(), other.parsed()) {
            (Some(own), Some(other)) => own.is_same_unfrozen(&other),
            _ => self.cql_type == other.cql_type,
        }
    }

    fn parsed(&self) -> Option<CqlType> {
        CqlType::parse(&self.cql_type).ok()
    }
}

#[cfg(test)]
pub(super) fn column(name: &str, cql_type: &str, kind: Kind) -> Column {
    Column { name: name.to_owned(), cql_type: cql_type.to_owned(), kind, position: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cql_type: &str) -> Column {
        column("c", cql_type, Kind::Regular)
    }

    #[test]
    fn what_has_cells_for_its_parts() {
        for cql_type in ["list<int>", "set<frozen<list<int>>>", "map<int, text>", "address"] {
            assert!(of(cql_type).is_multi_cell(), "{cql_type}");
        }
        for cql_type in [
            "int",
            "text",
            "frozen<list<int>>",
            "frozen<tuple<int, text>>",
            "frozen<address>",
            "vector<float, 3>",
        ] {
            assert!(!of(cql_type).is_multi_cell(), "{cql_type}");
        }
        assert!(of("list<int>").is_list() && !of("frozen<list<int>>").is_list());
    }

    #[test]
    fn a_frozen_value_is_sent_as_one_that_is_not() {
        assert!(of("frozen<list<int>>").takes(&of("list<int>")));
        assert!(of("map<int, frozen<address>>").takes(&of("frozen<map<int, frozen<address>>>")));
        assert!(!of("bigint").takes(&of("int")));
    }
}
