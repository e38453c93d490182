//! Problems from what stores and statements answer.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use super::Problem;
use crate::cql;
use crate::ledger::LedgerError;
use crate::port::{Cause, SendError, StoreError};

impl Problem {
    /// From a store that gave no answer, or a no.
    pub(crate) fn of_store(error: StoreError) -> Self {
        match error {
            StoreError::Unknown(source) | StoreError::Passing(source) => Self::no_answer(source),
            StoreError::Unauthorized(source) => {
                Self::Unauthorized { what: "read and write the ledger".to_owned(), source }
            }
            StoreError::ConditionalRefused(source) => {
                Self::ConditionalRefused { keyspace: String::new(), source }
            }
            StoreError::Refused(source) | StoreError::Invalid(source) => Self::LedgerRefused { source },
        }
    }

    /// From a statement of our own that gave no answer, or a no.
    pub(crate) fn of_send(error: SendError, what: &str) -> Self {
        match error {
            SendError::Unknown(source) | SendError::Passing(source) => Self::no_answer(source),
            SendError::Refused(source) => Self::Unauthorized { what: what.to_owned(), source },
        }
    }

    fn no_answer(source: Cause) -> Self {
        if crate::driver::is_from_server(source.as_ref()) {
            Self::QuorumLost { waited: Duration::ZERO, source }
        } else {
            Self::Unreachable { waited: Duration::ZERO, source }
        }
    }

    /// From rows that this binary does not read.
    pub(crate) fn of_ledger(source: LedgerError) -> Self {
        let table = String::new();
        match source {
            LedgerError::NewerFormat { .. } => Self::LedgerNewer { table, source },
            LedgerError::Unreadable { .. } => Self::LedgerUnreadable { table, source },
        }
    }

    /// With the names that the place of the error does not know, and how long was waited.
    pub(crate) fn located(mut self, in_keyspace: &str, in_table: &str) -> Self {
        match &mut self {
            Self::LedgerNewer { table, .. } | Self::LedgerUnreadable { table, .. } => {
                in_table.clone_into(table);
            }
            Self::ConditionalRefused { keyspace, .. } => in_keyspace.clone_into(keyspace),
            _ => {}
        }
        self
    }

    /// With how long was waited for an answer.
    pub(crate) fn after(mut self, time: Duration) -> Self {
        if let Self::Unreachable { waited, .. } | Self::QuorumLost { waited, .. } = &mut self {
            *waited = time;
        }
        self
    }

    pub(crate) fn no_agreement(context: &str, source: impl StdError + Send + Sync + 'static) -> Self {
        Self::NoAgreement { context: context.to_owned(), source: Arc::new(source) }
    }

    /// The error as the journal keeps it, and with it every instance that waited: with its causes, literals masked.
    pub(crate) fn for_journal(&self) -> String {
        let mut text = match self {
            Self::StepFailed { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        let mut cause = match self {
            Self::StepFailed { source, .. } => source.source(),
            other => other.source(),
        };
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        if let Self::StepFailed { cql: Some(statement), .. } = self {
            text.push_str("; statement: ");
            text.push_str(&cql::mask(statement));
        }
        text
    }
}
