//! The copy of one row.

use scylla::frame::response::result::ColumnSpec;

use super::TableCopy;
use super::compute::Compute;
use super::error::CopyError;
use super::image::{Image, Reading, is_static_only};
use super::mapping::{Mapping, Origin};
use super::texts::{Texts, Update};
use super::writes::{self, Write};
use crate::task::backfill::cells::{Cell, Cells, RawRow, now_s};
use crate::task::backfill::column::Kind;
use crate::task::backfill::table::Table;
use crate::task::{TaskContext, TaskError, TaskResult};

/// A copy that is ready to begin.
#[derive(Debug)]
pub(super) struct Copier {
    pub(super) mapping: Mapping,
    pub(super) texts: Texts,
    /// The name of the table that is copied into.
    pub(super) into: String,
    from: String,
    functions: Vec<Function>,
    skips_null_keys: bool,
    keeps_ttls: bool,
}

#[derive(Debug)]
struct Function {
    compute: Compute,
    from: Vec<ColumnSpec<'static>>,
    into: Vec<ColumnSpec<'static>>,
}

impl Copier {
    /// Refuses what cannot work.
    pub(super) async fn prepare(
        cx: &TaskContext,
        from: &Table,
        into: &Table,
        copy: &TableCopy,
    ) -> Result<Self, TaskError> {
        if from.name == into.name {
            return Err(CopyError::Itself { table: from.name.clone() }.into());
        }
        let mapping = Mapping::of(from, into, &copy.choice)?;
        let texts = Texts::of(from, into, &mapping);
        let copier = Self {
            functions: functions(cx, from, &mapping, &texts, &copy.functions).await?,
            mapping,
            texts,
            into: into.name.clone(),
            from: from.name.clone(),
            skips_null_keys: copy.skips_null_keys,
            keeps_ttls: copy.keeps_ttls,
        };
        copier.check_ttls(from)?;
        Ok(copier)
    }

    /// Where all cells expire, all elements of collections do.
    fn check_ttls(&self, from: &Table) -> Result<(), CopyError> {
        let filled = self.mapping.cells.iter().chain(&self.mapping.collections);
        let mut sources = filled.flat_map(|filled| self.mapping.sources(filled.from));
        match sources.find(|column| column.is_multi_cell()) {
            Some(column) if self.keeps_ttls && from.default_ttl_s > 0 => {
                Err(CopyError::CollectionTtl { table: from.name.clone(), column: column.name.clone() })
            }
            _ => Ok(()),
        }
    }

    /// What the row is to be; `None` where it is left out.
    pub(super) fn image(&self, row: &RawRow) -> Result<Option<Image>, TaskError> {
        let computed = self.computed(row)?;
        let reading = Reading {
            mapping: &self.mapping,
            times: &self.texts.times,
            into: &self.into,
            row,
            computed: &computed,
        };
        let column = reading.collection_that_may_expire().filter(|_| self.keeps_ttls);
        if let Some(column) = column {
            return Err(
                CopyError::CollectionTtl { table: self.from.clone(), column: column.to_owned() }.into()
            );
        }
        match reading.image() {
            Err(CopyError::NullKey { .. }) if self.skips_null_keys => Ok(None),
            image => Ok(Some(image?)),
        }
    }

    /// The values of all functions; none of one that takes columns of a row where there is no row.
    fn computed(&self, row: &RawRow) -> Result<Vec<Vec<Option<Vec<u8>>>>, TaskError> {
        let has_row = !is_static_only(&self.mapping, row);
        let values = |(function, inputs): (&Function, &Vec<usize>)| {
            let is_of_row =
                |read: &usize| matches!(self.mapping.reads[*read].kind, Kind::Clustering | Kind::Regular);
            if !has_row && inputs.iter().any(is_of_row) {
                return Ok(Vec::new());
            }
            let from: Vec<_> = inputs.iter().map(|read| row.cells[*read].clone()).collect();
            let values = function.compute.call(&function.from, &from, &function.into)?;
            Ok(values.into_iter().map(Cell::into_value).collect())
        };
        self.functions.iter().zip(&self.mapping.inputs).map(values).collect()
    }

    pub(super) async fn write(&self, cx: &TaskContext, image: Image) -> TaskResult {
        let Image { keys, cells, collections, is_static_only } = image;
        let (writes, update, many) = if is_static_only {
            (writes::of_statics(cells), &self.texts.statics, &self.texts.static_collections)
        } else {
            (writes::of_row(cells), &self.texts.cells, &self.texts.collections)
        };
        for write in writes {
            self.send(cx, &keys, write, update.as_ref()).await?;
        }
        let Some(update) = many else { return Ok(()) };
        let values: Vec<_> = update.columns.iter().map(|at| Cell::value(collections[*at].as_ref())).collect();
        if values.iter().all(|value| *value == Cell::Unset) {
            return Ok(());
        }
        let ttl = if self.keeps_ttls { Cell::int(0) } else { Cell::Unset };
        self.update(cx, update, &keys, [Cell::Unset, ttl], values).await
    }

    async fn send(
        &self,
        cx: &TaskContext,
        keys: &[Vec<u8>],
        write: Write,
        update: Option<&Update>,
    ) -> TaskResult {
        let Write { time, cells, makes_row } = write;
        let expires_s = time.and_then(|time| time.expires_s);
        let left_s = expires_s.map(|expires_s| expires_s - now_s());
        // It has expired since it was read.
        if left_s.is_some_and(|left_s| left_s <= 0) && self.keeps_ttls {
            return Ok(());
        }
        // Without a write time it has that of the claim.
        let written = time.map_or(Cell::Unset, |time| Cell::bigint(time.written_us));
        let ttl = match left_s {
            _ if !self.keeps_ttls => Cell::Unset,
            Some(left_s) => Cell::int(i32::try_from(left_s)?),
            None => Cell::int(0),
        };
        let mut values = vec![Cell::Unset; self.mapping.cells.len()];
        for (at, value) in cells {
            values[at] = Cell::Value(value);
        }
        if makes_row {
            let keys = keys.iter().map(|key| Cell::value(Some(key)));
            let all = keys.chain(values).chain([written, ttl]).collect();
            return cx.execute(&self.texts.insert, Cells(all)).await;
        }
        let Some(update) = update else { return Ok(()) };
        let values = update.columns.iter().map(|at| values[*at].clone()).collect();
        self.update(cx, update, keys, [written, ttl], values).await
    }

    async fn update(
        &self,
        cx: &TaskContext,
        update: &Update,
        keys: &[Vec<u8>],
        using: [Cell; 2],
        values: Vec<Cell>,
    ) -> TaskResult {
        let keys = keys.iter().take(update.keys).map(|key| Cell::value(Some(key)));
        let all = using.into_iter().chain(values).chain(keys).collect();
        cx.execute(&update.text, Cells(all)).await
    }
}

/// With the types of what they take and return.
async fn functions(
    cx: &TaskContext,
    table: &Table,
    mapping: &Mapping,
    texts: &Texts,
    computes: &[Compute],
) -> Result<Vec<Function>, TaskError> {
    let read = cx.prepare(&table.select(&texts.reads)).await?;
    let read = read.get_current_result_set_col_specs();
    let shape = cx.prepare(&texts.shape).await?;
    let shape = shape.get_variable_col_specs();
    let mut functions = Vec::new();
    for (work, (compute, inputs)) in computes.iter().zip(&mapping.inputs).enumerate() {
        // Behind the token.
        let from: Vec<_> = inputs.iter().filter_map(|at| read.get().iter().nth(1 + at)).cloned().collect();
        compute
            .check(&from)
            .map_err(|source| CopyError::Types { table: table.name.clone(), source: source.into() })?;
        let place = |filled: &super::mapping::Filled| match filled.from {
            Origin::Computed { work: other, nth } if other == work => Some(nth),
            _ => None,
        };
        let mut into: Vec<_> = mapping
            .filled()
            .zip(shape.iter())
            .filter_map(|(filled, spec)| Some((place(filled)?, spec.clone())))
            .collect();
        into.sort_by_key(|(nth, _)| *nth);
        functions.push(Function {
            compute: compute.clone(),
            from,
            into: into.into_iter().map(|(_, spec)| spec).collect(),
        });
    }
    Ok(functions)
}
