//! The crate's error: one opaque type with a stable code.

mod code;
mod convert;
mod next;
mod problem;

use std::error::Error as StdError;
use std::fmt;

pub use code::{Code, error_codes};
pub(crate) use next::Idiom;
pub(crate) use problem::{At, Problem, Stuck};

use crate::migration::Version;
use crate::report::Report;

/// Why a run, or another verb of the [`Runner`](crate::Runner), did not succeed.
///
/// `Display` is one line that begins with the [`Code`]; [`Error::explain`] is the long form, with what is applied
/// already and what to do next. The error of a task, or of the driver, is the [`source`](StdError::source).
pub struct Error(Box<Inner>);

struct Inner {
    problem: Problem,
    report: Option<Report>,
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.problem.code()
    }

    /// The version that it is about.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.0.problem.version()
    }

    /// What the run had done before; `None` for an error from before the run began.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        self.0.report.as_ref()
    }

    /// Whether the same call may succeed later without a change of the code or by an operator.
    #[must_use]
    pub fn retryable(&self) -> bool {
        matches!(
            self.code(),
            Code::Unreachable
                | Code::QuorumLost
                | Code::NoAgreement
                | Code::StepFailed
                | Code::StepPanicked
                | Code::FailedElsewhere
                | Code::BackingOff
                | Code::OnHold
                | Code::Held
                | Code::WaitedTooLong
                | Code::Shutdown
        )
    }

    /// Whether another instance holds the lease and this run did not, or no longer, wait for it.
    #[must_use]
    pub fn is_held(&self) -> bool {
        matches!(self.code(), Code::Held | Code::WaitedTooLong)
    }

    /// Whether a version is paused and an operator is needed.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.code() == Code::Paused
    }

    /// Whether the binary's migrations and the applied ones differ.
    #[must_use]
    pub fn is_mismatch(&self) -> bool {
        matches!(self.code(), Code::ChecksumMismatch | Code::BelowFrontier | Code::DivergentHistory)
    }

    /// Whether the cluster, or enough of it, did not answer.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(self.code(), Code::Unreachable | Code::QuorumLost)
    }

    /// Whether the run was asked to stop.
    #[must_use]
    pub fn is_shutdown(&self) -> bool {
        self.code() == Code::Shutdown
    }

    /// The long form: the line of `Display`, the causes, what is applied already and what to do next.
    #[must_use]
    pub fn explain(&self) -> String {
        self.explain_in(Idiom::Library)
    }

    /// The long form, with the verbs of the next step as they are said in this idiom.
    pub(crate) fn explain_in(&self, idiom: Idiom<'_>) -> String {
        let mut parts = vec![self.with_causes()];
        parts.extend(self.0.problem.detail().map(str::to_owned));
        let has_begun = |report: &&Report| !report.applied.is_empty() || !report.pending.is_empty();
        parts.extend(self.report().filter(has_begun).map(progress));
        parts.push(format!("Next: {}", self.0.problem.next().text(idiom)));
        parts.join("\n\n")
    }

    fn with_causes(&self) -> String {
        let mut lines = vec![self.to_string()];
        let mut cause = self.source();
        while let Some(error) = cause {
            let text = error.to_string();
            // Many errors have that of their cause in their own text.
            if !lines.iter().any(|line| line.contains(&text)) {
                lines.push(format!("  caused by: {text}"));
            }
            cause = error.source();
        }
        lines.join("\n")
    }

    /// What happened, without the code.
    #[cfg(feature = "cli")]
    pub(crate) fn message(&self) -> String {
        self.0.problem.to_string()
    }

    #[cfg(feature = "cli")]
    pub(crate) fn next(&self) -> next::Next {
        self.0.problem.next()
    }

    pub(crate) fn with_report(mut self, report: Report) -> Self {
        self.0.report = Some(report);
        self
    }
}

fn progress(report: &Report) -> String {
    let list = |migrations: &[crate::report::MigrationReport]| {
        let names: Vec<_> = migrations.iter().map(|m| format!("{} {}", m.version, m.name)).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    format!("Applied by this run: {}. Still pending: {}.", list(&report.applied), list(&report.pending))
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self(Box::new(Inner { problem, report: None }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code(), self.0.problem)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explain())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.problem.source()
    }
}
