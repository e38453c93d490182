//! A panic of a task becomes its error.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use crate::task::{TaskPanic, TaskResult};

/// The task's result; after a panic it is not polled again.
pub(super) async fn caught(task: impl Future<Output = TaskResult>) -> TaskResult {
    let mut task = pin!(task);
    std::future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| task.as_mut().poll(context)));
        polled.unwrap_or_else(|payload| Poll::Ready(Err(TaskPanic(message(payload.as_ref())).into())))
    })
    .await
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn panic_of(task: impl Future<Output = TaskResult>) -> Option<String> {
        let error = caught(task).await.expect_err("a panic");
        error.into_inner().downcast_ref::<TaskPanic>().map(|panic| panic.0.clone())
    }

    #[tokio::test]
    async fn a_panic_is_an_error_with_its_message() {
        assert_eq!(panic_of(async { panic!("no {}", "users") }).await.as_deref(), Some("no users"));
        assert_eq!(panic_of(async { panic!("static") }).await.as_deref(), Some("static"));
        let after_an_await = async {
            tokio::task::yield_now().await;
            std::panic::panic_any(7)
        };
        assert_eq!(panic_of(after_an_await).await.as_deref(), Some("no message"));
    }

    #[tokio::test]
    async fn other_results_stay() {
        assert!(caught(async { Ok(()) }).await.is_ok());
        let error = caught(async { Err("no".into()) }).await.expect_err("an error");
        assert!(error.into_inner().downcast_ref::<TaskPanic>().is_none());
    }
}
