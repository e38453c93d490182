//! Why a table was not copied, or not as it should have been.

use thiserror::Error;

/// Why a copy of a table was refused, failed or found to be no copy. A task finds it behind its
/// [`TaskError`](crate::TaskError); that of a row is the source of [`BackfillError::Row`](crate::BackfillError::Row).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CopyError {
    /// Another key needs another table.
    #[error("a copy of {table} into itself")]
    Itself {
        /// The table.
        table: String,
    },
    /// There is no such column.
    #[error("a copy that names the column `{column}`, and {table} has none")]
    NoColumn {
        /// The table that is copied, or the one that it is copied into.
        table: String,
        /// As it was given, folded unless it was in quotes.
        column: String,
    },
    /// A column has no place to go to.
    #[error(
        "{column} of {from} is not in {into}: add it there, or say `.rename(\"{column}\", \"…\")` or \
         `.except(\"{column}\")`"
    )]
    NotInTarget {
        /// The table that is copied.
        from: String,
        /// The table that it is copied into.
        into: String,
        /// The column.
        column: String,
    },
    /// Nothing fills a column of the key.
    #[error(
        "{column} is in the primary key of {into}, and nothing of {from} fills it: say `.rename(\"…\", \"{column}\")` or \
         `.compute(\"{column}\", …)`"
    )]
    KeyNotFilled {
        /// The table that is copied.
        from: String,
        /// The table that it is copied into.
        into: String,
        /// The column.
        column: String,
    },
    /// Two values for one column.
    #[error("{column} of {into} is filled from two columns")]
    FilledTwice {
        /// The table that is copied into.
        into: String,
        /// The column.
        column: String,
    },
    /// A value of one type is none of the other.
    #[error(
        "{column} of {into} is {into_type}, and would be filled from a {from_type}: say `.compute(\"{column}\", …)`"
    )]
    Type {
        /// The table that is copied into.
        into: String,
        /// Its column.
        column: String,
        /// What that is.
        into_type: String,
        /// What it would be filled from.
        from_type: String,
    },
    /// What is written to it twice is there twice.
    #[error(
        "{column} of {into} is a list that is not frozen: copied again after a crash, it would have its elements twice. \
         Make it a frozen list there, or leave it out with `.except(\"{column}\")`"
    )]
    List {
        /// The table that is copied into.
        into: String,
        /// Its column.
        column: String,
    },
    /// The columns that a function takes are of other types.
    #[error("what is read of {table} is of other types than the function of `compute` takes: {source}")]
    Types {
        /// The table that is copied.
        table: String,
        /// Which.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The TTLs of a collection's elements cannot be read.
    #[error(
        "{table} has rows that expire, and when the elements of {column} do cannot be read: say `.without_ttls()` to copy all \
         of it for good, or leave the column out with `.except(\"{column}\")`"
    )]
    CollectionTtl {
        /// The table that is copied.
        table: String,
        /// A collection or user-defined type that is not frozen.
        column: String,
    },
    /// A key has no null in it.
    #[error(
        "it has nothing for {column}, which is in the primary key of {into}: say `.skip_null_keys()` to leave such rows out"
    )]
    NullKey {
        /// The table that is copied into.
        into: String,
        /// Its column.
        column: String,
    },
    /// Not as many rows.
    #[error(
        "{from} has {from_rows} rows to copy, and {into} has {into_rows}: rows with one key became one row, or something \
         else writes to one of the two"
    )]
    Count {
        /// The table that was copied.
        from: String,
        /// Its rows, without those that are left out.
        from_rows: u64,
        /// The table that it was copied into.
        into: String,
        /// Its rows.
        into_rows: u64,
    },
    /// A row was not copied.
    #[error("it is not in {into}")]
    Missing {
        /// The table that was copied into.
        into: String,
    },
    /// A row is another one.
    #[error("it has another {column} in {into}, which is not newer")]
    Differs {
        /// The table that was copied into.
        into: String,
        /// The first column that differs.
        column: String,
    },
}
