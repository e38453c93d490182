//! Names of keyspaces, tables and so on.

use std::fmt;

/// A name in double quotes, so that case and keywords do not matter.
#[must_use]
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// What an unquoted name stands for.
#[must_use]
pub fn fold(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// `keyspace.name` or `name`, as the server sees it: folded or unquoted. In a template that is not rendered
/// yet, a part may be a variable as it is written, such as `${keyspace}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QualifiedName {
    /// The part before the dot.
    pub keyspace: Option<String>,
    /// The part after it.
    pub name: String,
}

impl QualifiedName {
    /// A name that says its keyspace.
    #[must_use]
    pub fn new(keyspace: &str, name: &str) -> Self {
        Self { keyspace: Some(keyspace.to_owned()), name: name.to_owned() }
    }

    /// A name that does not.
    #[must_use]
    pub fn unqualified(name: &str) -> Self {
        Self { keyspace: None, name: name.to_owned() }
    }
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(keyspace) = &self.keyspace {
            write!(f, "{keyspace}.")?;
        }
        f.write_str(&self.name)
    }
}
