//! What a command has found or done, for machines: fields are added, and none is renamed or removed, without a new
//! `schema_version`.

use std::time::Duration;

use serde::Serialize;

use super::answer::{Answer, Changed, is_pending};
use super::exit::Exit;
use crate::error::{Error, Idiom};
use crate::human::utc;
use crate::report::{
    AuditEvent, Drift, LintFinding, MigrationReport, MigrationStatus, Outcome, PlannedMigration, Report,
    Status, StepStatus,
};

const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    command: &'a str,
    /// Whether the exit code is 0.
    ok: bool,
    exit_code: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorView>,
    #[serde(flatten)]
    body: Option<Body<'a>>,
}

#[derive(Serialize)]
struct ErrorView {
    code: &'static str,
    message: String,
    version: Option<i64>,
    retryable: bool,
    /// What to do, as text.
    next: String,
    /// The commands of that text.
    next_commands: Vec<String>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Body<'a> {
    Status(StatusView<'a>),
    Plan { migrations: Vec<PlannedView<'a>> },
    Lint { migrations: usize, findings: Vec<FindingView<'a>> },
    Report(ReportView<'a>),
    Compared(ComparedView<'a>),
    Changes { changes: &'a [String], outcome: &'static str },
    Events { events: Vec<EventView<'a>> },
}

#[derive(Serialize)]
struct StatusView<'a> {
    holder: Option<&'a str>,
    epoch: i64,
    hold_until: Option<String>,
    hold_reason: Option<&'a str>,
    asked: Option<&'a str>,
    pending: usize,
    deferred: usize,
    migrations: Vec<MigrationView<'a>>,
}

#[derive(Serialize)]
struct MigrationView<'a> {
    version: i64,
    name: &'a str,
    state: &'static str,
    known: bool,
    deferred: bool,
    unchanged: Option<bool>,
    applied_at: Option<String>,
    took_ms: Option<u64>,
    applied_by: Option<&'a str>,
    error: Option<&'a str>,
    steps: Vec<StepView<'a>>,
}

#[derive(Serialize)]
struct StepView<'a> {
    number: i64,
    task: &'a str,
    state: &'static str,
    attempts: i64,
    checkpoint: Option<&'a str>,
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct PlannedView<'a> {
    version: i64,
    name: &'a str,
    location: &'a str,
    deferred: bool,
    steps: Vec<PlannedStepView<'a>>,
    findings: &'a [String],
}

#[derive(Serialize)]
struct PlannedStepView<'a> {
    number: i64,
    task: &'a str,
    kind: &'static str,
    repeat: &'static str,
    cql: Option<&'a str>,
    /// What there is of its effect already.
    found: Option<&'a str>,
}

#[derive(Serialize)]
struct FindingView<'a> {
    rule: &'static str,
    version: i64,
    name: &'a str,
    step: i64,
    task: &'a str,
    location: &'a str,
    statement: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct ReportView<'a> {
    outcome: Option<&'static str>,
    applied: Vec<AppliedView<'a>>,
    pending: Vec<PendingView<'a>>,
    deferred: Vec<PendingView<'a>>,
    waited_ms: u64,
    holder: Option<&'a str>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct ComparedView<'a> {
    #[serde(flatten)]
    report: ReportView<'a>,
    drift: DriftView<'a>,
}

#[derive(Serialize)]
struct DriftView<'a> {
    version: Option<i64>,
    compared: bool,
    remark: Option<&'a str>,
    differences: Vec<DifferenceView<'a>>,
}

#[derive(Serialize)]
struct DifferenceView<'a> {
    object: &'a str,
    what: &'a str,
    cql: &'a [String],
}

#[derive(Serialize)]
struct AppliedView<'a> {
    version: i64,
    name: &'a str,
    took_ms: u64,
}

#[derive(Serialize)]
struct PendingView<'a> {
    version: i64,
    name: &'a str,
}

#[derive(Serialize)]
struct EventView<'a> {
    revision: i64,
    at: String,
    actor: &'a str,
    transitions: &'a [String],
    reason: Option<&'a str>,
    error: Option<&'a str>,
}

/// The document of an answer.
pub(super) fn answer(command: &str, exit: Exit, answer: &Answer) -> String {
    let body = match answer {
        Answer::Status(status) => Body::Status(StatusView::of(status)),
        Answer::Plan { migrations, .. } => {
            Body::Plan { migrations: migrations.iter().map(PlannedView::of).collect() }
        }
        Answer::Linted { migrations, findings } => {
            Body::Lint { migrations: *migrations, findings: findings.iter().map(FindingView::of).collect() }
        }
        Answer::Verified(report) | Answer::Ran(report) | Answer::Waited(report) => {
            Body::Report(ReportView::of(report, true))
        }
        Answer::Compared { report, drift } => {
            Body::Compared(ComparedView { report: ReportView::of(report, true), drift: DriftView::of(drift) })
        }
        Answer::Changes { changes, outcome } => Body::Changes {
            changes,
            outcome: match outcome {
                Changed::Made => "made",
                Changed::OnlyShown => "only_shown",
                Changed::Declined => "declined",
            },
        },
        Answer::Events(events) => Body::Events { events: events.iter().map(EventView::of).collect() },
    };
    document(command, exit, None, Some(body))
}

/// The document of an error, with what the run had done before.
pub(super) fn error(command: &str, exit: Exit, error: &Error, idiom: Idiom<'_>) -> String {
    let view = ErrorView {
        code: error.code().as_str(),
        message: error.message(),
        version: error.version().map(crate::Version::get),
        retryable: error.retryable(),
        next: error.next().text(idiom),
        next_commands: error.next().calls(idiom),
    };
    let body = error.report().map(|report| Body::Report(ReportView::of(report, false)));
    document(command, exit, Some(view), body)
}

fn document(command: &str, exit: Exit, error: Option<ErrorView>, body: Option<Body<'_>>) -> String {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        command,
        ok: exit == Exit::Success,
        exit_code: exit.code(),
        error,
        body,
    };
    let mut text = serde_json::to_string_pretty(&document).expect("texts, numbers and lists are JSON");
    text.push('\n');
    text
}

impl<'a> StatusView<'a> {
    fn of(status: &'a Status) -> Self {
        Self {
            holder: status.holder.as_deref(),
            epoch: status.epoch,
            hold_until: status.hold_until_ms.map(rfc3339),
            hold_reason: status.hold_reason.as_deref(),
            asked: status.asked.as_deref(),
            pending: status.migrations.iter().filter(|migration| is_pending(migration)).count(),
            deferred: status.migrations.iter().filter(|migration| migration.deferred).count(),
            migrations: status.migrations.iter().map(MigrationView::of).collect(),
        }
    }
}

impl<'a> MigrationView<'a> {
    fn of(migration: &'a MigrationStatus) -> Self {
        Self {
            version: migration.version,
            name: &migration.name,
            state: migration.state,
            known: migration.known,
            deferred: migration.deferred,
            unchanged: migration.unchanged,
            applied_at: migration.applied_at_ms.map(rfc3339),
            took_ms: migration.took.map(ms),
            applied_by: migration.applied_by.as_deref(),
            error: migration.error.as_deref(),
            steps: migration.steps.iter().map(StepView::of).collect(),
        }
    }
}

impl<'a> StepView<'a> {
    fn of(step: &'a StepStatus) -> Self {
        Self {
            number: step.number,
            task: &step.task,
            state: step.state,
            attempts: step.attempts,
            checkpoint: step.checkpoint.as_deref(),
            error: step.error.as_deref(),
        }
    }
}

impl<'a> PlannedView<'a> {
    fn of(migration: &'a PlannedMigration) -> Self {
        let steps = migration.steps.iter().map(|step| PlannedStepView {
            number: step.number,
            task: &step.task,
            kind: step.kind,
            repeat: step.repeat,
            cql: step.cql.as_deref(),
            found: step.found.as_deref(),
        });
        Self {
            version: migration.version.get(),
            name: &migration.name,
            location: &migration.location,
            deferred: migration.deferred,
            steps: steps.collect(),
            findings: &migration.findings,
        }
    }
}

impl<'a> DriftView<'a> {
    fn of(drift: &'a Drift) -> Self {
        let differences = drift.differences.iter().map(|difference| DifferenceView {
            object: &difference.object,
            what: &difference.what,
            cql: &difference.cql,
        });
        Self {
            version: drift.version,
            compared: drift.compared,
            remark: drift.remark.as_deref(),
            differences: differences.collect(),
        }
    }
}

impl<'a> FindingView<'a> {
    fn of(finding: &'a LintFinding) -> Self {
        Self {
            rule: finding.rule.code(),
            version: finding.version.get(),
            name: &finding.name,
            step: finding.step,
            task: &finding.task,
            location: &finding.location,
            statement: &finding.statement,
            message: &finding.message,
        }
    }
}

impl<'a> ReportView<'a> {
    /// A run that failed has no outcome but its error.
    fn of(report: &'a Report, ended_well: bool) -> Self {
        let outcome = match report.outcome {
            Outcome::AlreadyCurrent if !report.pending.is_empty() => "pending",
            Outcome::AlreadyCurrent => "already_current",
            Outcome::Migrated => "migrated",
            Outcome::WaitedFor(_) => "waited_for",
            Outcome::Pending => "pending",
        };
        let applied = report.applied.iter().map(|migration: &MigrationReport| AppliedView {
            version: migration.version.get(),
            name: &migration.name,
            took_ms: ms(migration.took),
        });
        Self {
            outcome: ended_well.then_some(outcome),
            applied: applied.collect(),
            pending: PendingView::all(&report.pending),
            deferred: PendingView::all(&report.deferred),
            waited_ms: ms(report.waited),
            holder: report.holder.as_deref(),
            warnings: &report.warnings,
        }
    }
}

impl<'a> PendingView<'a> {
    fn all(migrations: &'a [MigrationReport]) -> Vec<Self> {
        let view =
            |migration: &'a MigrationReport| Self { version: migration.version.get(), name: &migration.name };
        migrations.iter().map(view).collect()
    }
}

impl<'a> EventView<'a> {
    fn of(event: &'a AuditEvent) -> Self {
        Self {
            revision: event.revision,
            at: rfc3339(event.at_ms),
            actor: &event.actor,
            transitions: &event.transitions,
            reason: event.reason.as_deref(),
            error: event.error.as_deref(),
        }
    }
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// To the second, in UTC.
fn rfc3339(ms: i64) -> String {
    utc(ms).replace(' ', "T")
}
