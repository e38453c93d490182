//! What a conditional write says; one write may say several things at once.

/// One change of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transition {
    /// The lease is taken, from nobody or from a holder that let it lapse.
    Acquire(Takeover),
    /// The lease is kept.
    Renew,
    /// A version is claimed.
    Claim(Claim),
    /// A version in flight goes on with an edited text: its attempts and failures start anew.
    Repair(Claim),
    /// A step begins, or begins again.
    Intent(Intent),
    /// A task was stopped on request, with nothing of it under way: this was no ambiguous start.
    Stop {
        /// The version.
        version: i64,
        /// The step's ordinal.
        n: i64,
    },
    /// A code task has come this far.
    Checkpoint {
        /// The version.
        version: i64,
        /// The step's ordinal.
        n: i64,
        /// The task's own text.
        position: String,
    },
    /// A step's effect is there.
    Done {
        /// The version.
        version: i64,
        /// The step's ordinal.
        n: i64,
    },
    /// All steps of a version are done.
    Complete {
        /// The version.
        version: i64,
        /// How long this run worked on it, in milliseconds.
        execution_ms: i64,
        /// The digest over all completed versions, this one included.
        frontier: String,
        /// What the keyspace's schema is now; `None` where it could not be read.
        schema: Option<SchemaRecord>,
    },
    /// A step failed definitely: the claim and the lease are released.
    Fail {
        /// The version.
        version: i64,
        /// The step's ordinal.
        n: i64,
        /// The error's text.
        error: String,
    },
    /// A version needs an operator: the lease is released, the claim stays.
    Pause {
        /// The version.
        version: i64,
        /// The step's ordinal.
        n: i64,
        /// Why.
        error: String,
    },
    /// The lease is given back.
    Release,
    /// A paused version goes on: its attempts and failures start anew.
    Unpause {
        /// The version.
        version: i64,
    },
    /// An operator says that a step has had its effect.
    MarkDone {
        /// The version.
        version: i64,
        /// The step's ordinal.
        n: i64,
    },
    /// An operator says that a step is to be run again.
    Rerun {
        /// The version.
        version: i64,
        /// The step's ordinal.
        n: i64,
    },
    /// An operator takes a claim back, with its journal, that nothing will ever finish.
    Abandon {
        /// The version.
        version: i64,
    },
    /// An operator accepts the binary's text of a completed version.
    Restamp {
        /// The version.
        version: i64,
        /// The name that it now has.
        name: String,
        /// The checksum that it now has.
        checksum: String,
    },
    /// An operator says that a version was applied before there was a ledger.
    Baseline(Claim),
    /// The frontier after edits.
    Advance {
        /// The digest over all completed versions.
        frontier: String,
    },
    /// An operator's command was acted on.
    ClearCommand,
    /// A remark for the audit trail.
    Note(String),
}

/// How the lease was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Takeover {
    /// The holder that let it lapse.
    pub from: Option<String>,
    /// The new holder's lease in milliseconds.
    pub lease_ms: i64,
    /// Its interval between renewals in milliseconds.
    pub heartbeat_ms: i64,
    /// The serial consistency of its conditional statements.
    pub serial_cl: &'static str,
}

/// What is kept of a keyspace's schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaRecord {
    /// The digest over the text, with the format before it: `s1:…`.
    pub digest: String,
    /// The text; `None` where it is too long to be kept.
    pub text: Option<String>,
}

/// A claim of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The version.
    pub version: i64,
    /// The migration's name.
    pub name: String,
    /// Its checksum.
    pub checksum: String,
    /// The digest over the plan's steps.
    pub plan_digest: String,
    /// Whether a higher version is completed already.
    pub out_of_order: bool,
}

/// The begin of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// The version.
    pub version: i64,
    /// The step's ordinal.
    pub n: i64,
    /// The task's name.
    pub task: String,
    /// `schema`, `data` or `code`.
    pub step_kind: &'static str,
    /// `probe`, `idempotent` or `once`, and then perhaps `point-of-no-return`.
    pub flags: String,
    /// The digest of what is sent.
    pub digest: String,
    /// The CQL that takes it back.
    pub undo: Option<String>,
    /// The node that it is going to be sent to.
    pub coordinator: Option<String>,
}

impl Transition {
    /// Whether this begins a step. Such a part of a write is never re-issued once an operator's command has arrived.
    #[must_use]
    pub fn begins_step(&self) -> bool {
        matches!(self, Self::Intent(_) | Self::Claim(_) | Self::Repair(_) | Self::Unpause { .. })
    }

    /// One line for the audit trail: a verb, then the version and the step's number as people count them.
    #[must_use]
    pub fn describe(&self) -> Option<String> {
        Some(match self {
            Self::Acquire(Takeover { from: None, .. }) => "acquired".to_owned(),
            Self::Acquire(Takeover { from: Some(holder), .. }) => format!("taken over from {holder}"),
            Self::Renew | Self::Checkpoint { .. } | Self::Advance { .. } | Self::ClearCommand => return None,
            Self::Claim(claim) => format!("claimed {} {}", claim.version, claim.name),
            Self::Repair(claim) => format!("repaired {} {}", claim.version, claim.name),
            Self::Intent(intent) => format!("begun {}/{} {}", intent.version, intent.n + 1, intent.task),
            Self::Stop { version, n } => format!("stopped {version}/{}", n + 1),
            Self::Done { version, n } => format!("done {version}/{}", n + 1),
            Self::Complete { version, .. } => format!("completed {version}"),
            Self::Fail { version, n, .. } => format!("failed {version}/{}", n + 1),
            Self::Pause { version, n, .. } => format!("paused {version}/{}", n + 1),
            Self::Release => "released".to_owned(),
            Self::Unpause { version } => format!("resumed {version}"),
            Self::MarkDone { version, n } => format!("marked done {version}/{}", n + 1),
            Self::Rerun { version, n } => format!("to be rerun {version}/{}", n + 1),
            Self::Abandon { version } => format!("abandoned {version}"),
            Self::Restamp { version, checksum, .. } => format!("restamped {version} {checksum}"),
            Self::Baseline(claim) => format!("baselined {} {}", claim.version, claim.name),
            Self::Note(text) => text.clone(),
        })
    }

    /// The error that goes with it into the audit trail.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Fail { error, .. } | Self::Pause { error, .. } => Some(error),
            _ => None,
        }
    }
}
