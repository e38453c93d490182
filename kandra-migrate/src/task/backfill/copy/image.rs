//! What a row of one table is in the other one.

use super::error::CopyError;
use super::mapping::{Filled, Mapping, Origin};
use super::writes::NewCell;
use crate::task::backfill::cells::{RawRow, Time};
use crate::task::backfill::column::{Column, Kind};

/// A row as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Image {
    /// Without those of clustering columns where it is of static columns alone.
    pub(super) keys: Vec<Vec<u8>>,
    pub(super) cells: Vec<NewCell>,
    pub(super) collections: Vec<Option<Vec<u8>>>,
    pub(super) is_static_only: bool,
}

/// One row that was read, with what was computed from it.
pub(super) struct Reading<'a> {
    pub(super) mapping: &'a Mapping,
    /// Of each value that is read, where its write time is.
    pub(super) times: &'a [Option<usize>],
    pub(super) into: &'a str,
    pub(super) row: &'a RawRow,
    /// Nothing for a function that was not called.
    pub(super) computed: &'a [Vec<Option<Vec<u8>>>],
}

/// Whether a partition has no rows: it is there for its static columns.
pub(super) fn is_static_only(mapping: &Mapping, row: &RawRow) -> bool {
    let mut columns = mapping.reads.iter().zip(&row.cells);
    columns.any(|(column, value)| column.kind == Kind::Clustering && value.is_none())
}

impl Reading<'_> {
    pub(super) fn image(&self) -> Result<Image, CopyError> {
        let cells = self.cells();
        let keys: Vec<_> = self.mapping.keys.iter().map(|key| (key, self.value(key.from))).collect();
        let is_clustering = |key: &Filled| key.column.kind == Kind::Clustering;
        let has_rows = keys.iter().any(|(key, value)| is_clustering(key) && value.is_some())
            || !keys.iter().any(|(key, _)| is_clustering(key));
        let is_static_only =
            !has_rows && is_static_only(self.mapping, self.row) && cells.iter().any(|cell| cell.is_static);
        let keys = keys.into_iter().filter(|(key, _)| !(is_static_only && is_clustering(key)));
        let key = |(key, value): (&Filled, Option<&Vec<u8>>)| {
            value.cloned().ok_or_else(|| CopyError::NullKey {
                into: self.into.to_owned(),
                column: key.column.name.clone(),
            })
        };
        Ok(Image {
            keys: keys.map(key).collect::<Result<_, _>>()?,
            cells,
            collections: self
                .mapping
                .collections
                .iter()
                .map(|filled| self.value(filled.from).cloned())
                .collect(),
            is_static_only,
        })
    }

    /// A collection in a row that expires: when its elements do is not known.
    pub(super) fn collection_that_may_expire(&self) -> Option<&str> {
        let expires = |at: &usize| self.row.time(*at).is_some_and(|time| time.expires_s.is_some());
        if !self.times.iter().flatten().any(expires) {
            return None;
        }
        let filled = self.mapping.cells.iter().chain(&self.mapping.collections);
        let of = filled.filter(|filled| self.value(filled.from).is_some());
        of.flat_map(|filled| self.mapping.sources(filled.from))
            .find(|column| column.is_multi_cell())
            .map(|column| column.name.as_str())
    }

    fn value(&self, from: Origin) -> Option<&Vec<u8>> {
        match from {
            Origin::Read(read) => self.row.cells.get(read)?.as_ref(),
            Origin::Computed { work, nth } => self.computed.get(work)?.get(nth)?.as_ref(),
        }
    }

    fn cells(&self) -> Vec<NewCell> {
        let cell = |(at, filled): (usize, &Filled)| {
            let is_of_row = |column: &&Column| column.kind == Kind::Regular;
            Some(NewCell {
                at,
                value: self.value(filled.from)?.clone(),
                time: self.time(filled.from),
                is_of_row: self.mapping.sources(filled.from).iter().any(is_of_row),
                is_static: filled.is_static(),
            })
        };
        self.mapping.cells.iter().enumerate().filter_map(cell).collect()
    }

    /// What is computed is as new as the newest that it comes from, and goes with the first of it.
    fn time(&self, from: Origin) -> Option<Time> {
        let reads = match &from {
            Origin::Read(read) => std::slice::from_ref(read),
            Origin::Computed { work, .. } => &self.mapping.inputs[*work],
        };
        let times: Vec<_> = reads.iter().filter_map(|read| self.row.time(self.times[*read]?)).collect();
        Some(Time {
            written_us: times.iter().map(|time| time.written_us).max()?,
            expires_s: times.iter().filter_map(|time| time.expires_s).min(),
        })
    }
}
