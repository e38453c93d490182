//! What a command has found or done, for people.

use std::fmt::Write as _;

use super::answer::{Answer, Changed, is_edited, is_paused, is_pending};
use super::paint::{Paint, Painter};
use super::table::{self, Cell};
use crate::human::{human, utc};
use crate::report::{
    AuditEvent, MigrationReport, MigrationStatus, Outcome, PlannedMigration, Report, Status,
};

/// The text for stdout.
pub(super) fn render(answer: &Answer, painter: Painter) -> String {
    match answer {
        Answer::Status(status) => render_status(status, painter),
        Answer::Plan { migrations, as_cql: false } => plan(migrations, painter),
        Answer::Plan { migrations, as_cql: true } => script(migrations),
        Answer::Verified(report) => verified(report, painter),
        Answer::Ran(report) => format!("{report}\n"),
        Answer::Waited(report) => waited(report, painter),
        Answer::Changes { changes, outcome } => match outcome {
            Changed::Made => format!("done: {}\n", changes.join("\ndone: ")),
            Changed::OnlyShown | Changed::Declined => "nothing was changed\n".to_owned(),
        },
        Answer::Events(events) => events.iter().map(|event| render_event(event, painter)).collect(),
    }
}

fn render_status(status: &Status, painter: Painter) -> String {
    let mut text = match &status.holder {
        Some(holder) => format!("lease: held by {}\n", painter.paint(Paint::Attention, holder)),
        None => "lease: free\n".to_owned(),
    };
    if let Some(until) = status.hold_until_ms {
        let reason = status.hold_reason.as_deref().unwrap_or("no reason given");
        add(&mut text, format_args!("hold: until {} ({reason})\n", utc(until)));
    }
    if let Some(asked) = &status.asked {
        add(&mut text, format_args!("asked: {asked}\n"));
    }
    let heading = ["VERSION", "NAME", "STATE", "APPLIED", "TOOK", "BY"];
    let mut rows: Vec<Vec<Cell>> =
        vec![heading.iter().map(|title| Cell::new(*title).painted(Paint::Heading)).collect()];
    rows[0][0] = rows[0][0].clone().right();
    rows.extend(status.migrations.iter().map(status_row));
    text.push_str(&table::render(&rows, painter));
    for migration in &status.migrations {
        details(&mut text, migration, painter);
    }
    let count = |is: fn(&MigrationStatus) -> bool| status.migrations.iter().filter(|m| is(m)).count();
    add(
        &mut text,
        format_args!("{} applied, {} pending\n", count(MigrationStatus::is_completed), count(is_pending)),
    );
    text
}

fn status_row(migration: &MigrationStatus) -> Vec<Cell> {
    let mut state = migration.state.to_lowercase().replace('_', " ");
    let mut paint = match migration.state {
        "COMPLETED" => Paint::Good,
        "QUEUED" => Paint::Plain,
        "PAUSED" | "ROLLBACK_PAUSED" => Paint::Bad,
        _ => Paint::Attention,
    };
    if migration.state == "QUEUED" && !migration.steps.is_empty() {
        (state, paint) = ("failed".to_owned(), Paint::Bad);
    }
    if is_edited(migration) {
        state.push_str(", edited since");
        paint = Paint::Bad;
    }
    if !migration.known {
        state.push_str(", unknown here");
        paint = if paint == Paint::Good { Paint::Attention } else { paint };
    }
    vec![
        Cell::number(migration.version),
        Cell::new(&migration.name),
        Cell::new(state).painted(paint),
        Cell::new(migration.applied_at_ms.map(utc).unwrap_or_default()),
        Cell::new(migration.took.map(human).unwrap_or_default()).right(),
        Cell::new(migration.applied_by.clone().unwrap_or_default()).painted(Paint::Dim),
    ]
}

/// Where a version that is not completed stands, and why.
fn details(text: &mut String, migration: &MigrationStatus, painter: Painter) {
    if migration.steps.is_empty() && migration.error.is_none() {
        return;
    }
    add(text, format_args!("\nversion {} {}", migration.version, migration.name));
    if is_paused(migration) {
        let reason = migration.error.as_deref().unwrap_or("no reason given");
        add(text, format_args!(" is {}: {reason}", painter.paint(Paint::Bad, "paused")));
    }
    text.push('\n');
    for step in &migration.steps {
        let (state, paint) = match step.state {
            "INTENT" => ("begun", Paint::Attention),
            "DONE" => ("done", Paint::Good),
            "FAILED" => ("failed", Paint::Bad),
            other => (other, Paint::Plain),
        };
        add(text, format_args!("  step {} ({}): {}", step.number, step.task, painter.paint(paint, state)));
        if step.attempts > 1 {
            add(text, format_args!(", {} times", step.attempts));
        }
        if let Some(checkpoint) = &step.checkpoint {
            add(text, format_args!(", at checkpoint {checkpoint}"));
        }
        // Why a version is paused is often the error of its step.
        if let Some(error) = step.error.as_ref().filter(|error| migration.error.as_ref() != Some(error)) {
            add(text, format_args!(": {error}"));
        }
        text.push('\n');
    }
}

fn plan(migrations: &[PlannedMigration], painter: Painter) -> String {
    if migrations.is_empty() {
        return "nothing is pending\n".to_owned();
    }
    let mut text = String::new();
    for migration in migrations {
        let title = format!("{} {}", migration.version, migration.name);
        let title = painter.paint(Paint::Heading, &title);
        add(&mut text, format_args!("{title} ({})\n", migration.location));
        let rows = migration.steps.iter().map(|step| {
            let one_line = |cql: &String| cql.split_whitespace().collect::<Vec<_>>().join(" ");
            vec![
                Cell::default(),
                Cell::number(step.number),
                Cell::new(step.kind),
                Cell::new(step.repeat).painted(Paint::Dim),
                Cell::new(step.cql.as_ref().map_or_else(|| step.task.clone(), one_line)),
            ]
        });
        text.push_str(&table::render(&rows.collect::<Vec<_>>(), painter));
    }
    text
}

/// A script: statements as they are sent, all else as comments.
fn script(migrations: &[PlannedMigration]) -> String {
    let mut text = String::new();
    for migration in migrations {
        let (version, name, steps) = (migration.version, &migration.name, migration.steps.len());
        for step in &migration.steps {
            add(
                &mut text,
                format_args!(
                    "-- {version} {name}, step {} of {steps}, {} [{}]",
                    step.number, step.kind, step.repeat
                ),
            );
            match &step.cql {
                Some(cql) => add(&mut text, format_args!("\n{cql};\n")),
                None => add(&mut text, format_args!(": {}\n", step.task)),
            }
        }
    }
    text
}

fn verified(report: &Report, painter: Painter) -> String {
    if report.pending.is_empty() {
        return format!("{}: everything is applied, as it is here\n", painter.paint(Paint::Good, "current"));
    }
    format!("{} pending: {}\n", report.pending.len(), names(&report.pending))
}

fn waited(report: &Report, painter: Painter) -> String {
    match report.outcome {
        Outcome::Pending => {
            format!("still pending after {}: {}\n", human(report.waited), names(&report.pending))
        }
        _ => format!("{}: everything is applied\n", painter.paint(Paint::Good, "current")),
    }
}

fn names(migrations: &[MigrationReport]) -> String {
    let names: Vec<_> = migrations.iter().map(|m| format!("{} {}", m.version, m.name)).collect();
    names.join(", ")
}

fn render_event(event: &AuditEvent, painter: Painter) -> String {
    let mut text = format!(
        "{:>5}  {}  {}  {}\n",
        event.revision,
        utc(event.at_ms),
        event.transitions.join(", "),
        painter.paint(Paint::Dim, &event.actor)
    );
    if let Some(reason) = &event.reason {
        add(&mut text, format_args!("       reason: {reason}\n"));
    }
    if let Some(error) = &event.error {
        add(&mut text, format_args!("       {} {error}\n", painter.paint(Paint::Bad, "error:")));
    }
    text
}

fn add(text: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(what);
}
