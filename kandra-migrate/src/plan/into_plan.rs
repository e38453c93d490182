//! What `up()` may return.

use super::{Plan, Task};

/// What the `up` function of a migration may return: a [`Task`], an array or `Vec` of them, or a [`Plan`].
#[diagnostic::on_unimplemented(
    message = "`up` must return a plan, and `{Self}` is none",
    label = "not a plan",
    note = "a plan is a task (`cql(…)`, `code(…).idempotent()`, `code(…).once()`), an array or Vec of tasks, or a `Plan`",
    note = "if it is `()`: take away the `;` after the last expression of `up`; if it is `CodeNeedsIdempotentOrOnce`: say `.idempotent()` or `.once()`"
)]
pub trait IntoPlan {
    /// The plan.
    fn into_plan(self) -> Plan;
}

impl IntoPlan for Plan {
    fn into_plan(self) -> Plan {
        self
    }
}

impl IntoPlan for Task {
    fn into_plan(self) -> Plan {
        Plan::new([self])
    }
}

impl IntoPlan for Vec<Task> {
    fn into_plan(self) -> Plan {
        Plan::new(self)
    }
}

impl<const N: usize> IntoPlan for [Task; N] {
    fn into_plan(self) -> Plan {
        Plan::new(self)
    }
}
