//! Where a plan's statements are going to be sent.

use crate::cql::{CqlError, Statement, Variables};

/// Where statements are going to be sent, and what their variables stand for there.
#[derive(Debug, Clone)]
pub struct Destination {
    /// The keyspace that is migrated.
    pub(crate) keyspace: String,
    /// The session's own keyspace, which names without one are of.
    pub(crate) session_keyspace: Option<String>,
    /// `None` where no database is known: variables then stay as they are.
    variables: Option<Variables>,
}

impl Destination {
    /// A keyspace, through a session that has this one as its own.
    #[must_use]
    pub fn new(keyspace: impl Into<String>, session_keyspace: Option<String>) -> Self {
        let keyspace = keyspace.into();
        let variables = Some(Variables::keyspace(&keyspace));
        Self { keyspace, session_keyspace, variables }
    }

    /// With these variables besides `${keyspace}`.
    pub(crate) fn with(mut self, variables: Variables) -> Self {
        self.variables = Some(variables.with("keyspace", self.keyspace.as_str()));
        self
    }

    /// All of them, `${keyspace}` included.
    pub(crate) fn variables(&self) -> Variables {
        self.variables.clone().unwrap_or_default()
    }

    /// None that is known: for checks without a database.
    pub(crate) fn unknown() -> Self {
        Self { keyspace: "${keyspace}".to_owned(), session_keyspace: None, variables: None }
    }

    /// What is sent there.
    pub(crate) fn render(&self, statement: Statement) -> Result<Statement, CqlError> {
        match &self.variables {
            Some(variables) => statement.render(variables),
            None => Ok(statement),
        }
    }

    /// Whether a name without a keyspace is one of the keyspace that is migrated. Where that cannot be known, the lint
    /// has a rule for it.
    pub(crate) fn is_session_keyspace(&self) -> bool {
        self.variables.is_none() || self.session_keyspace.as_ref() == Some(&self.keyspace)
    }
}
