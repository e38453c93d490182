//! What a migration is going to do: described first, executed by the engine afterwards.

mod destination;
mod findings;
mod into_plan;
mod steps;
mod task;
#[cfg(test)]
mod tests;

pub use destination::Destination;
pub(crate) use findings::findings;
pub use into_plan::IntoPlan;
pub(crate) use steps::{Repeat, Step, StepKind, Steps, Work};
pub(crate) use task::{Body, TaskFn, tasks_of};
pub use task::{CodeNeedsIdempotentOrOnce, OnFailure, Task, code, cql, cql_file};

/// The tasks of one migration, in the order in which they run.
#[derive(Debug, Default)]
pub struct Plan {
    pub(crate) tasks: Vec<Task>,
}

impl Plan {
    /// A plan of these tasks.
    #[must_use]
    pub fn new(tasks: impl IntoIterator<Item = Task>) -> Self {
        Self { tasks: tasks.into_iter().collect() }
    }

    /// Appends a task.
    #[must_use]
    pub fn then(mut self, task: Task) -> Self {
        self.tasks.push(task);
        self
    }
}
