//! What a command has found or done, for people.

use std::fmt::Write as _;

use super::answer::{Answer, Changed, is_edited, is_paused, is_pending};
use super::paint::{Paint, Painter};
use super::table::{self, Cell};
use crate::human::{human, utc};
use crate::report::{
    AuditEvent, Drift, LintFinding, MigrationReport, MigrationStatus, Outcome, PlannedMigration, Report,
    Status,
};

/// The text for stdout.
pub(super) fn render(answer: &Answer, painter: Painter) -> String {
    match answer {
        Answer::Status(status) => render_status(status, painter),
        Answer::Plan { migrations, as_cql: false } => plan(migrations, painter),
        Answer::Plan { migrations, as_cql: true } => script(migrations),
        Answer::Verified(report) => verified(report, painter),
        Answer::Linted { migrations, findings } => linted(*migrations, findings, painter),
        Answer::Compared { report, drift } => verified(report, painter) + &compared(drift, painter),
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
    add(&mut text, format_args!("{} applied, ", count(MigrationStatus::is_completed)));
    add(&mut text, format_args!("{} pending", count(is_pending)));
    match count(|migration| migration.deferred) {
        0 => text.push('\n'),
        deferred => add(&mut text, format_args!(", {deferred} deferred\n")),
    }
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
    if migration.deferred {
        state.push_str(", deferred");
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
        let deferred = if migration.deferred { ", deferred" } else { "" };
        add(&mut text, format_args!("{title} ({}){deferred}\n", migration.location));
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
        let found = migration.steps.iter().filter_map(|step| Some((step.number, step.found.as_ref()?)));
        for (number, found) in found {
            add(
                &mut text,
                format_args!("  {} step {number}: {found}\n", painter.paint(Paint::Attention, "found:")),
            );
        }
        for finding in &migration.findings {
            add(&mut text, format_args!("  {} {finding}\n", painter.paint(Paint::Attention, "lint:")));
        }
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

fn linted(migrations: usize, findings: &[LintFinding], painter: Painter) -> String {
    if findings.is_empty() {
        return format!(
            "{}: nothing found in {migrations} migrations\n",
            painter.paint(Paint::Good, "sound")
        );
    }
    let mut text = String::new();
    for finding in findings {
        add(&mut text, format_args!("{finding}\n"));
    }
    text
}

fn verified(report: &Report, painter: Painter) -> String {
    let deferred = deferred(report);
    if report.pending.is_empty() {
        let current = painter.paint(Paint::Good, "current");
        return format!("{current}: everything is applied, as it is here{deferred}\n");
    }
    format!("{} pending: {}{deferred}\n", report.pending.len(), names(&report.pending))
}

/// What a service does not wait for.
fn deferred(report: &Report) -> String {
    match report.deferred.len() {
        0 => String::new(),
        count => format!("; {count} deferred: {}", names(&report.deferred)),
    }
}

/// Below its first lines, what could be sent as it is printed.
fn compared(drift: &Drift, painter: Painter) -> String {
    let mut text = String::new();
    let version = drift.version.unwrap_or_default();
    match drift.differences.len() {
        0 if drift.compared => {
            let current = painter.paint(Paint::Good, "no drift");
            add(&mut text, format_args!("{current}: the schema is as version {version} left it\n"));
        }
        0 => add(&mut text, format_args!("{}", painter.paint(Paint::Attention, "drift unknown"))),
        count => {
            let drifted = painter.paint(Paint::Bad, "drift");
            add(&mut text, format_args!("{drifted}: {count} not as version {version} left it\n"));
        }
    }
    if let Some(remark) = &drift.remark {
        let start = if drift.compared { "" } else { ": " };
        add(&mut text, format_args!("{start}{remark}\n"));
    }
    for difference in &drift.differences {
        add(&mut text, format_args!("\n-- {}: {}\n", difference.object, difference.what));
        for cql in &difference.cql {
            let end = if cql.starts_with("--") { "" } else { ";" };
            add(&mut text, format_args!("{cql}{end}\n"));
        }
    }
    text
}

fn waited(report: &Report, painter: Painter) -> String {
    if report.outcome == Outcome::Pending {
        return format!("still pending after {}: {}\n", human(report.waited), names(&report.pending));
    }
    format!("{}: everything is applied{}\n", painter.paint(Paint::Good, "current"), deferred(report))
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
