//! Why a backfill failed.

use thiserror::Error;

use super::range::TokenRange;
use crate::task::TaskError;

/// Why a backfill was refused or failed. A task finds it behind its [`TaskError`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BackfillError {
    /// There is no such table.
    #[error("a backfill of {keyspace}.{table}, and there is no such table")]
    NoTable {
        /// The keyspace that is migrated.
        keyspace: String,
        /// As it was given.
        table: String,
    },
    /// A view is filled by the server.
    #[error("a backfill of {view}, which is a materialized view: backfill its table {table}")]
    View {
        /// The view.
        view: String,
        /// The table that it is made from.
        table: String,
    },
    /// A count cannot be written twice.
    #[error(
        "a backfill of {table}, which has counters: an update of one cannot be sent again, nor with a write time. \
         Copy its counts into a plain table from a task that is marked `.once()`"
    )]
    Counters {
        /// The table.
        table: String,
    },
    /// There is no such column.
    #[error("a rewrite of {table}, which has no column `{column}`")]
    NoColumn {
        /// The table.
        table: String,
        /// As it was given, folded unless it was in quotes.
        column: String,
    },
    /// The key of a row stays what it is.
    #[error(
        "a rewrite of {column}, which is in the primary key of {table}: copy the rows into a table with another key, with \
         `copy_into`"
    )]
    KeyColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// What is written to it twice is there twice.
    #[error(
        "a rewrite of {column} of {table}, a list that is not frozen: written again after a crash, it would have its \
         elements twice. Add a column of a frozen list, or a set"
    )]
    List {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// The columns that are read are not of the types that the function takes.
    #[error("what is read of {table} is of other types than the function takes: {source}")]
    Types {
        /// The table.
        table: String,
        /// Which.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The tokens of the cluster are not those of Murmur3.
    #[error("a backfill needs the Murmur3Partitioner; this cluster has {partitioner}")]
    Partitioner {
        /// The cluster's.
        partitioner: String,
    },
    /// A setting that cannot work.
    #[error("a backfill with {setting} {value}; it may be from 1 to {max}")]
    Setting {
        /// Which.
        setting: &'static str,
        /// What it was set to.
        value: i64,
        /// The largest.
        max: i64,
    },
    /// Two backfills of one task cannot be told apart.
    #[error(
        "two backfills of one task are called `{name}`: give one of them another name with `.named(\"…\")`"
    )]
    SameName {
        /// That of its table, unless another one was given.
        name: String,
    },
    /// A name that cannot be in a checkpoint.
    #[error("`{name}` as the name of a backfill; it may have no space and no `=`")]
    Name {
        /// As it was given.
        name: String,
    },
    /// The task has a checkpoint, and no backfill saved it.
    #[error(
        "a backfill keeps its place in the task's checkpoint, and that has `{checkpoint}`: move what saves it to a task of \
         its own"
    )]
    OtherCheckpoint {
        /// What is stored.
        checkpoint: String,
    },
    /// The task's function failed for a row.
    #[error("{table}, the row with {key}: {source}")]
    Row {
        /// The table.
        table: String,
        /// The row's partition key, or its token where values are not to be shown.
        key: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A range failed, after all retries.
    #[error("{table}, tokens {range}, attempt {attempts}: {source}")]
    Range {
        /// The table.
        table: String,
        /// Which rows: those with these tokens.
        range: TokenRange,
        /// How often it was tried.
        attempts: u32,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl BackfillError {
    pub(super) fn range(table: &str, range: TokenRange, attempts: u32, error: TaskError) -> TaskError {
        match error.into_inner().downcast::<Self>() {
            // It names a row, which is more.
            Ok(error) => (*error).into(),
            Err(source) => Self::Range { table: table.to_owned(), range, attempts, source }.into(),
        }
    }
}
