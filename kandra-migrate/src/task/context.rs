//! What a code task works with.

/// What a code task works with.
#[derive(Debug, Clone)]
pub struct TaskContext;
