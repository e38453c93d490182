//! What is likely to go wrong with plans, told from their text alone. Pure.

use super::steps::{Repeat, Step, Steps, Work};
use crate::cql::{Finding, LintStep, lint};

/// What the rules of the lint find in these plans, one after the other: each with its plan and step. Columns are
/// remembered from plan to plan.
pub(crate) fn findings<'a>(plans: &[&'a Steps]) -> Vec<(usize, &'a Step, Finding)> {
    let (places, steps): (Vec<_>, Vec<_>) = plans
        .iter()
        .enumerate()
        .flat_map(|(plan, steps)| steps.iter().map(move |step| (plan, step)))
        .filter_map(|(plan, step)| Some(((plan, step), marked(step)?)))
        .unzip();
    let at = |finding: Finding| {
        let (plan, step) = places[finding.step];
        (plan, step, finding)
    };
    lint(&steps).into_iter().map(at).collect()
}

fn marked(step: &Step) -> Option<LintStep<'_>> {
    let Work::Cql { statement, .. } = &step.work else { return None };
    Some(LintStep {
        statement,
        point_of_no_return: step.point_of_no_return,
        once: step.marked == Some(Repeat::Once),
        idempotent: step.marked == Some(Repeat::Idempotent),
        allowed: &step.allowed,
        in_file: step.in_file,
    })
}
