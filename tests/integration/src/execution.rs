//! What a step leaves behind each time that it is executed.

use std::sync::OnceLock;

use kandra_migrate::{TaskContext, TaskResult};
use uuid::Uuid;

/// The step that does not end in this process.
static HANGING: OnceLock<String> = OnceLock::new();

/// Lets this step hang in this process, once it has left its trace.
pub fn hang_in(step: &str) {
    HANGING.get_or_init(|| step.to_owned());
}

/// Leaves a row for this execution, another one each time.
///
/// # Errors
/// Where it cannot be written.
pub async fn record(cx: &TaskContext, step: &str) -> TaskResult {
    let values = (step, Uuid::new_v4(), cx.attempt());
    cx.execute("INSERT INTO ${keyspace}.executions (step, id, attempt) VALUES (?, ?, ?)", values).await?;
    if HANGING.get().is_some_and(|hanging| hanging == step) {
        std::future::pending::<()>().await;
    }
    Ok(())
}
