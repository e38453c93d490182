//! Bounded waiting.

use std::time::{Duration, Instant};

/// What ends at all ends within that, on a machine with much else to do.
const WAIT_SECS_MAX: u64 = 300;
const POLL_MS: u64 = 50;

/// Asks until there is an answer.
///
/// # Panics
/// Where there is none in time.
pub async fn eventually<T, F>(what: &str, mut ask: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let deadline = Instant::now() + Duration::from_secs(WAIT_SECS_MAX);
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "not within {WAIT_SECS_MAX} s: {what}");
        tokio::time::sleep(Duration::from_millis(POLL_MS)).await;
    }
}

/// The result of something that must end.
///
/// # Panics
/// Where it does not in time.
pub async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    let ended = tokio::time::timeout(Duration::from_secs(WAIT_SECS_MAX), work).await;
    ended.unwrap_or_else(|_| panic!("not within {WAIT_SECS_MAX} s: {what}"))
}
