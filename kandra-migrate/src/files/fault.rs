//! What is wrong with a file of migrations.

use std::fmt;

use crate::cql::CqlError;

/// What is wrong with a file, and where in it. Values of data and role statements are masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    path: String,
    line: usize,
    message: String,
    excerpt: String,
}

impl Fault {
    /// At the line of a comment, which is shown.
    pub(crate) fn of_comment(path: &str, line: usize, comment: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into(), excerpt: comment.to_owned() }
    }

    /// Of the file as a whole.
    pub(crate) fn of_file(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: 1, message: message.into(), excerpt: String::new() }
    }

    pub(crate) fn of_cql(path: &str, error: &CqlError) -> Self {
        let message = format!("column {}: {}", error.column(), error.kind());
        Self { path: path.to_owned(), line: error.line(), message, excerpt: error.explain() }
    }

    /// The text at its place, if there is one.
    pub(crate) fn excerpt(&self) -> Option<&str> {
        Some(self.excerpt.as_str()).filter(|excerpt| !excerpt.is_empty())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}
