//! What a verb is going to change, for the person who asks for it. Pure.

use super::verbs::Order;
use crate::human::utc;
use crate::ledger::{Command, Ledger, StepState, Transition};

impl Order {
    /// A sentence for each change.
    pub(crate) fn preview(&self, ledger: &Ledger) -> Vec<String> {
        match self {
            Self::Command(command) => vec![of_command(command)],
            Self::Edit(edits) => edits.iter().filter_map(|edit| of_edit(edit, ledger)).collect(),
        }
    }
}

fn of_command(command: &Command) -> String {
    match command {
        Command::Pause { version } => {
            format!(
                "version {version} is to pause: it is not begun, and a run that is at it stops before its next step"
            )
        }
        Command::Resume { version: Some(version) } => format!("version {version} goes on with the next run"),
        Command::Resume { version: None } => "the pause or the hold is taken back".to_owned(),
        Command::Hold { until_ms } => {
            format!("no version is begun before {}, by the server's clock", utc(*until_ms))
        }
    }
}

fn of_edit(edit: &Transition, ledger: &Ledger) -> Option<String> {
    let task = |version: &i64, n: &i64| {
        let task = ledger.step(*version, *n).map(|step| step.task.clone()).unwrap_or_default();
        format!("step {} ({task}) of version {version}", n + 1)
    };
    Some(match edit {
        Transition::MarkDone { version, n } => {
            format!("{} counts as done, and is not run again", task(version, n))
        }
        Transition::Rerun { version, n } => format!("{} is run again by the next run", task(version, n)),
        Transition::Abandon { version } => {
            let begun = ledger.steps_of(*version).count();
            let done = ledger.steps_of(*version).filter(|step| step.state == StepState::Done).count();
            format!(
                "the claim of version {version} and its journal go ({begun} of its steps begun, {done} of them done): what they did stays in the database, and the next run begins at step 1"
            )
        }
        Transition::Restamp { version, name, checksum } => {
            let before = ledger.version(*version);
            let old = |value: fn(&crate::ledger::VersionRow) -> &String| {
                before.map_or("", |row| value(row).as_str())
            };
            format!(
                "version {version} counts as applied with this binary's text: {} {} becomes {name} {checksum}",
                old(|row| &row.name),
                old(|row| &row.checksum)
            )
        }
        Transition::Baseline(claim) => {
            format!("version {} {} counts as applied, and nothing of it is run", claim.version, claim.name)
        }
        _ => return None,
    })
}
