//! A table copied into one with another key.

mod compute;
mod copier;
mod error;
mod image;
mod mapping;
mod texts;
mod verify;
mod writes;

use std::sync::Arc;

use scylla::deserialize::row::DeserializeRow;
use scylla::serialize::row::SerializeRow;

pub use error::CopyError;

use super::Backfill;
use super::cells::RawRow;
use super::names::{identifier, identifiers};
use super::row::Tokened;
use super::table::Table;
use crate::task::{TaskContext, TaskError, TaskResult};
use compute::Compute;
use copier::Copier;
use mapping::Choice;

/// A copy of all rows of a table into another one of the keyspace. Made by [`Backfill::copy_into`], with whose settings,
/// checkpoint and retries it works.
///
/// ```
/// # use kandra_migrate::prelude::*;
/// fn copy(cx: &TaskContext) -> kandra_migrate::TableCopy {
///     cx.backfill("users")
///         .rows_per_second(5_000)
///         .copy_into("users_by_email")
///         .rename("mail", "email")
///         .compute("domain", "mail", |(mail,): (String,)| {
///             Ok((mail.split_once('@').map(|(_, domain)| domain.to_owned()),))
///         })
///         .skip_null_keys()
/// }
///
/// fn up() -> impl IntoPlan {
///     [
///         cql("CREATE TABLE ${keyspace}.users_by_email (email text PRIMARY KEY, id bigint, name text, domain text)"),
///         code("copy", |cx| async move { copy(&cx).run().await }).idempotent(),
///         code("verify", |cx| async move { copy(&cx).verify(10_000).await }).idempotent(),
///     ]
/// }
/// # let _ = up().into_plan();
/// ```
///
/// **Columns** keep their names, unless it is said otherwise. A column that the other table does not have, one of another
/// type, and a column of its key that nothing fills are errors before the first row is read.
///
/// **Write times are kept**, and so is what is left of each **TTL**; a cell that has none lives for ever in the other
/// table too. So nothing that an application has written to the other table is overwritten by something older, however far
/// clocks are apart, if it writes both tables from before the copy on. Cells of a row that were written together are
/// copied by one statement; cells of other times need one each. What a database does not tell is written with the time of
/// the version's claim, and without a TTL: sets, maps and user-defined types that are not frozen, and rows that have
/// nothing but their key. Sets and maps are added to, so that nothing is deleted. Where rows expire they are an error, since
/// they would be there for ever: say [`without_ttls`](TableCopy::without_ttls) or [`except`](TableCopy::except). And since
/// write times are kept, what was deleted from the other table hides what is copied: empty it with `TRUNCATE` to copy
/// anew.
///
/// **Lists** that are not frozen are copied into frozen ones alone; **counters** are refused.
///
/// **Rows with one key** in the other table become one row, of which each cell has the newest value;
/// [`verify`](TableCopy::verify) finds that.
///
/// **Static columns** may be copied into static or plain ones. Of a partition that is there for its static columns alone
/// these are copied, and no row is made.
///
/// # A table anew
///
/// Another key, or another type of a column of the key, while an application goes on, takes three releases:
///
/// 1. a version that creates `users_2`, and an application that writes both tables;
/// 2. once nobody writes `users` alone any more: a version that copies and verifies, and an application that reads `users_2`;
/// 3. once nobody reads `users` any more: a version that drops it, and an application that writes `users_2` alone.
///
/// A table cannot get another name. [`Backfill::rewrite`] says how to change the type of a plain column; a user-defined
/// type can only grow (`ALTER TYPE … ADD`), so another shape of it is another type, and a column of that.
#[derive(Debug, Clone)]
#[must_use = "a copy does nothing until `run`"]
pub struct TableCopy {
    backfill: Backfill,
    into: String,
    choice: Choice,
    functions: Vec<Compute>,
    skips_null_keys: bool,
    keeps_ttls: bool,
}

impl TableCopy {
    pub(super) fn new(backfill: Backfill, into: &str) -> Self {
        Self {
            backfill,
            into: into.to_owned(),
            choice: Choice::default(),
            functions: Vec::new(),
            skips_null_keys: false,
            keeps_ttls: true,
        }
    }

    /// Leaves columns out; their names are as in a statement, with commas.
    pub fn except(mut self, columns: &str) -> Self {
        self.choice.except.extend(identifiers(columns));
        self
    }

    /// A column has another name in the other table.
    pub fn rename(mut self, from: &str, to: &str) -> Self {
        self.choice.renames.push((identifier(from), identifier(to)));
        self
    }

    /// Fills columns of the other table with what the function makes of columns of this one; that goes before a column of
    /// the same name. Null is no value: nothing is written.
    ///
    /// What is computed is as new as the newest value that it comes from, and has the shortest of their TTLs.
    pub fn compute<T, V, F>(mut self, columns: &str, from: &str, work: F) -> Self
    where
        T: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
        V: SerializeRow,
        F: Fn(T) -> Result<V, TaskError> + Send + Sync + 'static,
    {
        self.choice.computed.push((identifiers(columns), identifiers(from)));
        self.functions.push(Compute::new(work));
        self
    }

    /// Leaves out rows that have nothing for a column of the other table's key. Otherwise they are an error.
    pub fn skip_null_keys(mut self) -> Self {
        self.skips_null_keys = true;
        self
    }

    /// Copies without TTLs: what is copied has the default TTL of the other table, if that has one.
    pub fn without_ttls(mut self) -> Self {
        self.keeps_ttls = false;
        self
    }

    /// Copies.
    ///
    /// # Errors
    /// See [`CopyError`] and [`BackfillError`](crate::BackfillError).
    pub async fn run(mut self) -> TaskResult {
        let (from, _, copier) = self.begin().await?;
        let name = format!("{}>{}", from.name, copier.into);
        self.backfill = self.backfill.named_if_not(&name);
        let reads = copier.texts.reads.clone();
        let copier = Arc::new(copier);
        let row = move |cx: TaskContext, Tokened { row, .. }: Tokened<RawRow>| {
            let copier = Arc::clone(&copier);
            async move {
                if let Some(image) = copier.image(&row)? {
                    copier.write(&cx, image).await?;
                }
                Ok(1)
            }
        };
        self.backfill.each_row(from, &reads, row).await.map(drop)
    }

    /// Looks whether the copy is one: by counting the rows of both tables, and by comparing so many rows, from all over
    /// the table, with what there is of them in the other one. `u64::MAX` compares all. It keeps no place, so that a task
    /// that is resumed begins again.
    ///
    /// An application may write meanwhile. A row that differs is read again, up to three times; a cell that is newer in
    /// the other table is no difference, but one that was deleted there alone is, and an element of a collection that was
    /// added there alone. Where the counts differ, this table is counted again, and what is between its two counts is
    /// right. So what one table alone has is found if it is more than is inserted into both meanwhile, and where much is
    /// both inserted and deleted, counts can differ without a fault. Partitions without rows are not compared.
    ///
    /// # Errors
    /// [`CopyError::Count`], and [`CopyError::Missing`] or [`CopyError::Differs`] behind
    /// [`BackfillError::Row`](crate::BackfillError::Row), which names the row.
    pub async fn verify(self, rows: u64) -> TaskResult {
        let (from, into, copier) = self.begin().await?;
        verify::verify(self, from, into, copier, rows).await
    }

    async fn begin(&self) -> Result<(Table, Table, Copier), TaskError> {
        let from = self.backfill.begin().await?;
        let cx = self.backfill.context();
        let into = Table::read(&cx, &self.into).await?;
        let copier = Copier::prepare(&cx, &from, &into, self).await?;
        Ok((from, into, copier))
    }
}
