//! Returns when a schema statement is answered.
//!
//! With the driver's defaults, a schema statement's future goes on after the answer: it waits for agreement by a
//! coarser poll than ours, then refreshes the session's metadata, neither within the statement's timeout. The setting
//! is the whole session's, which is not ours to change.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::Poll;

use scylla::errors::{ExecutionError, RequestAttemptError, RequestError};
use scylla::observability::history::{AttemptId, HistoryListener, RequestId, SpeculativeId};
use scylla::policies::retry::RetryDecision;
use scylla::response::query_result::QueryResult;
use scylla::statement::unprepared::Statement;

/// Whether the statement that has it as its listener was answered without an error.
#[derive(Debug, Default)]
pub(crate) struct Answered(AtomicBool);

impl Answered {
    /// Sends, and drops what the driver does after a successful answer.
    pub(crate) async fn first<F>(
        mut statement: Statement,
        send: impl FnOnce(Statement) -> F,
    ) -> Result<(), ExecutionError>
    where
        F: Future<Output = Result<QueryResult, ExecutionError>>,
    {
        let answered = Arc::new(Self::default());
        statement.set_history_listener(answered.clone());
        let mut request = pin!(send(statement));
        // The listener is called from within this very poll, so there is nothing else to wake for.
        std::future::poll_fn(|context| match request.as_mut().poll(context) {
            Poll::Ready(result) => Poll::Ready(result.map(drop)),
            Poll::Pending if answered.0.load(SeqCst) => Poll::Ready(Ok(())),
            Poll::Pending => Poll::Pending,
        })
        .await
    }
}

impl HistoryListener for Answered {
    fn log_attempt_success(&self, _: AttemptId) {
        self.0.store(true, SeqCst);
    }

    // One request with one attempt: there are no ids to be told apart.
    fn log_request_start(&self) -> RequestId {
        RequestId(0)
    }

    fn log_new_speculative_fiber(&self, _: RequestId) -> SpeculativeId {
        SpeculativeId(0)
    }

    fn log_attempt_start(&self, _: RequestId, _: Option<SpeculativeId>, _: SocketAddr) -> AttemptId {
        AttemptId(0)
    }

    fn log_request_success(&self, _: RequestId) {}

    fn log_request_error(&self, _: RequestId, _: &RequestError) {}

    fn log_attempt_error(&self, _: AttemptId, _: &RequestAttemptError, _: &RetryDecision) {}
}
