//! What an error of the driver says about the effect of the statement.
//!
//! Holds for a statement that is sent once: no retries, no speculative execution.

use std::error::Error;
use std::sync::Arc;

use scylla::errors::{DbError, ExecutionError, PrepareError, RequestAttemptError};

use super::UnexpectedAnswer;
use crate::port::{Cause, SendError, StoreError};

/// What was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    /// A read: it has no effect that could be in doubt.
    Read,
    /// A write or a schema statement without a condition.
    Write,
    /// A conditional write, or one that may be conditional.
    Conditional,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It took effect, then something else failed.
    Applied,
    /// It had no effect; the same may work later.
    Passing,
    /// It had no effect and will not have one.
    Refused,
    /// So too: it does not fit the schema.
    Invalid,
    /// So too: the user lacks a permission.
    Unauthorized,
    /// So too: the server does no conditional writes there.
    ConditionalRefused,
    /// It may have had its effect, or may still have it.
    Unknown,
}

impl Outcome {
    /// From the driver's error.
    pub(crate) fn of(error: &ExecutionError, request: Request) -> Self {
        let outcome = match error {
            ExecutionError::SchemaAgreementError(_)
            | ExecutionError::MetadataError(_)
            | ExecutionError::UseKeyspaceError(_) => Self::Applied,
            ExecutionError::BadQuery(_) => Self::Refused,
            ExecutionError::EmptyPlan | ExecutionError::ConnectionPoolError(_) => Self::Passing,
            ExecutionError::PrepareError(error) => Self::of_prepare(error),
            ExecutionError::LastAttemptError(error) => Self::of_attempt(error, request),
            // A client timeout, and what later versions of the driver add.
            _ => Self::Unknown,
        };
        outcome.known_for(request)
    }

    /// Nothing was executed, whatever went wrong.
    pub(crate) fn of_prepare(error: &PrepareError) -> Self {
        match error {
            PrepareError::AllAttemptsFailed { first_attempt } => {
                match Self::of_attempt(first_attempt, Request::Read) {
                    Self::Unknown => Self::Passing,
                    outcome => outcome,
                }
            }
            _ => Self::Passing,
        }
    }

    fn of_attempt(error: &RequestAttemptError, request: Request) -> Self {
        match error {
            RequestAttemptError::SerializationError(_)
            | RequestAttemptError::CqlRequestSerialization(_)
            | RequestAttemptError::RepreparedIdChanged { .. }
            | RequestAttemptError::RepreparedIdMissingInBatch => Self::Refused,
            RequestAttemptError::UnableToAllocStreamId => Self::Passing,
            RequestAttemptError::DbError(error, message) => Self::of_server(error, message, request),
            // A broken connection, an answer that cannot be read, and what later versions of the driver add.
            _ => Self::Unknown,
        }
    }

    fn of_server(error: &DbError, message: &str, request: Request) -> Self {
        match error {
            DbError::Invalid if message.contains("LWT is not yet supported with tablets") => {
                Self::ConditionalRefused
            }
            DbError::Invalid => Self::Invalid,
            DbError::Unauthorized => Self::Unauthorized,
            DbError::SyntaxError
            | DbError::AlreadyExists { .. }
            | DbError::AuthenticationError
            | DbError::ConfigError
            | DbError::ProtocolError
            | DbError::FunctionFailure { .. } => Self::Refused,
            DbError::IsBootstrapping
            | DbError::Unprepared { .. }
            | DbError::RateLimitReached { rejected_by_coordinator: true, .. } => Self::Passing,
            // The commit of a conditional write can be answered so after its proposal was accepted.
            DbError::Unavailable { .. } if request != Request::Conditional => Self::Passing,
            _ => Self::Unknown,
        }
    }

    fn known_for(self, request: Request) -> Self {
        match (self, request) {
            (Self::Unknown | Self::Applied, Request::Read) => Self::Passing,
            (outcome, _) => outcome,
        }
    }

    /// As the engine is told of a statement of a plan; `Ok` where it took effect.
    pub(crate) fn into_send_result(self, error: impl Error + Send + Sync + 'static) -> Result<(), SendError> {
        let cause: Cause = Arc::new(error);
        Err(match self {
            Self::Applied => return Ok(()),
            Self::Unknown => SendError::Unknown(cause),
            Self::Passing => SendError::Passing(cause),
            Self::Refused | Self::Invalid | Self::Unauthorized | Self::ConditionalRefused => {
                SendError::Refused(cause)
            }
        })
    }
}

/// Whether a server answered, if only that replicas do not; otherwise nobody did.
pub(crate) fn is_from_server(error: &(dyn Error + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(ExecutionError::LastAttemptError(RequestAttemptError::DbError(..))))
}

impl StoreError {
    pub(crate) fn from_execution(error: ExecutionError, request: Request) -> Self {
        let outcome = Outcome::of(&error, request);
        let cause: Cause = Arc::new(error);
        match outcome {
            // A conditional write whose rows were not seen has no definite answer, whatever came after it.
            Outcome::Applied | Outcome::Unknown => Self::Unknown(cause),
            Outcome::Passing => Self::Passing(cause),
            Outcome::Refused => Self::Refused(cause),
            Outcome::Invalid => Self::Invalid(cause),
            Outcome::Unauthorized => Self::Unauthorized(cause),
            Outcome::ConditionalRefused => Self::ConditionalRefused(cause),
        }
    }

    pub(crate) fn from_answer(error: UnexpectedAnswer, request: Request) -> Self {
        match request {
            Request::Read => Self::Passing(Arc::new(error)),
            Request::Write | Request::Conditional => Self::Unknown(Arc::new(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use scylla::errors::{
        BadKeyspaceName, BadQuery, ConnectionPoolError, CqlResponseKind, MetadataError, OperationType,
        PeersMetadataError, SchemaAgreementError, UseKeyspaceError, WriteType,
    };
    use scylla::statement::Consistency;

    use super::*;

    fn attempt(error: RequestAttemptError) -> ExecutionError {
        ExecutionError::LastAttemptError(error)
    }

    fn server(error: DbError) -> ExecutionError {
        attempt(RequestAttemptError::DbError(error, "text of the server".to_owned()))
    }

    fn unavailable() -> DbError {
        DbError::Unavailable { consistency: Consistency::Quorum, required: 2, alive: 1 }
    }

    fn write_timeout(write_type: WriteType) -> DbError {
        DbError::WriteTimeout { consistency: Consistency::Quorum, received: 1, required: 2, write_type }
    }

    fn rate_limit(rejected_by_coordinator: bool) -> DbError {
        DbError::RateLimitReached { op_type: OperationType::Write, rejected_by_coordinator }
    }

    fn already_exists() -> DbError {
        DbError::AlreadyExists { keyspace: "shop".to_owned(), table: "users".to_owned() }
    }

    fn function_failure() -> DbError {
        DbError::FunctionFailure { keyspace: String::new(), function: String::new(), arg_types: Vec::new() }
    }

    fn unprepared() -> DbError {
        DbError::Unprepared { statement_id: Vec::new().into() }
    }

    #[test]
    fn applied_then_a_later_step_failed() {
        for error in [
            ExecutionError::SchemaAgreementError(SchemaAgreementError::Timeout(Duration::from_secs(60))),
            ExecutionError::MetadataError(MetadataError::Peers(PeersMetadataError::EmptyPeers)),
            ExecutionError::UseKeyspaceError(UseKeyspaceError::BadKeyspaceName(BadKeyspaceName::Empty)),
        ] {
            assert_eq!(Outcome::of(&error, Request::Write), Outcome::Applied, "{error}");
            assert!(Outcome::of(&error, Request::Write).into_send_result(error).is_ok());
        }
    }

    #[test]
    fn not_applied_and_will_not_be() {
        for error in [
            ExecutionError::BadQuery(BadQuery::PartitionKeyExtraction),
            attempt(RequestAttemptError::RepreparedIdMissingInBatch),
            server(DbError::SyntaxError),
            server(already_exists()),
            server(DbError::AuthenticationError),
            server(DbError::ConfigError),
            server(DbError::ProtocolError),
            server(function_failure()),
        ] {
            for request in [Request::Read, Request::Write, Request::Conditional] {
                assert_eq!(Outcome::of(&error, request), Outcome::Refused, "{error}");
            }
        }
        assert_eq!(Outcome::of(&server(DbError::Invalid), Request::Conditional), Outcome::Invalid);
        assert_eq!(Outcome::of(&server(DbError::Unauthorized), Request::Conditional), Outcome::Unauthorized);
    }

    #[test]
    fn not_applied_and_may_pass() {
        let pool = ConnectionPoolError::Initializing;
        for error in [
            ExecutionError::EmptyPlan,
            ExecutionError::ConnectionPoolError(pool.clone()),
            ExecutionError::PrepareError(PrepareError::ConnectionPoolError(pool)),
            attempt(RequestAttemptError::UnableToAllocStreamId),
            server(DbError::IsBootstrapping),
            server(unprepared()),
            server(rate_limit(true)),
        ] {
            for request in [Request::Read, Request::Write, Request::Conditional] {
                assert_eq!(Outcome::of(&error, request), Outcome::Passing, "{error}");
            }
        }
    }

    #[test]
    fn unknown() {
        let all_types =
            [WriteType::Simple, WriteType::Cas, WriteType::Batch, WriteType::Other("X".to_owned())];
        let read_timeout = DbError::ReadTimeout {
            consistency: Consistency::Quorum,
            received: 1,
            required: 2,
            data_present: false,
        };
        let others = [
            ExecutionError::RequestTimeout(Duration::from_secs(1)),
            attempt(RequestAttemptError::UnexpectedResponse(CqlResponseKind::Ready)),
            attempt(RequestAttemptError::NonfinishedPagingState),
            server(read_timeout),
            server(DbError::ServerError),
            server(DbError::TruncateError),
            server(DbError::Overloaded),
            server(rate_limit(false)),
            server(DbError::Other(0x1700)),
        ];
        for error in all_types.map(|write_type| server(write_timeout(write_type))).into_iter().chain(others) {
            assert_eq!(Outcome::of(&error, Request::Write), Outcome::Unknown, "{error}");
            assert_eq!(Outcome::of(&error, Request::Conditional), Outcome::Unknown, "{error}");
            assert_eq!(Outcome::of(&error, Request::Read), Outcome::Passing, "a read has no effect: {error}");
        }
    }

    #[test]
    fn unavailable_is_in_doubt_only_for_a_conditional_write() {
        let error = server(unavailable());
        assert_eq!(Outcome::of(&error, Request::Conditional), Outcome::Unknown);
        assert_eq!(Outcome::of(&error, Request::Write), Outcome::Passing);
        assert_eq!(Outcome::of(&error, Request::Read), Outcome::Passing);
    }

    #[test]
    fn tablets_without_conditional_writes() {
        let text = "LWT is not yet supported with tablets";
        let error = attempt(RequestAttemptError::DbError(DbError::Invalid, text.to_owned()));
        assert_eq!(Outcome::of(&error, Request::Conditional), Outcome::ConditionalRefused);
        assert!(matches!(
            StoreError::from_execution(error, Request::Conditional),
            StoreError::ConditionalRefused(_)
        ));
    }

    #[test]
    fn preparing_has_no_effect() {
        let failed = |error| {
            let first_attempt = RequestAttemptError::DbError(error, String::new());
            ExecutionError::PrepareError(PrepareError::AllAttemptsFailed { first_attempt })
        };
        assert_eq!(Outcome::of(&failed(DbError::Invalid), Request::Write), Outcome::Invalid);
        assert_eq!(Outcome::of(&failed(DbError::ServerError), Request::Conditional), Outcome::Passing);
        assert_eq!(
            Outcome::of(&failed(write_timeout(WriteType::Cas)), Request::Conditional),
            Outcome::Passing
        );
    }

    #[test]
    fn a_conditional_write_without_its_rows_is_unknown() {
        let error = UnexpectedAnswer("no rows".to_owned());
        assert!(matches!(StoreError::from_answer(error, Request::Conditional), StoreError::Unknown(_)));
        let error = ExecutionError::SchemaAgreementError(SchemaAgreementError::Timeout(Duration::ZERO));
        assert!(matches!(StoreError::from_execution(error, Request::Conditional), StoreError::Unknown(_)));
    }
}
