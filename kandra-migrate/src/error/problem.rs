//! What can go wrong, each with its code, its text and what to do next.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use thiserror::Error;

use super::Code;
use crate::ledger::{IllegalTransition, LedgerError};
use crate::migration::Version;
use crate::report::human;
use crate::store::Cause;

/// A step of a migration, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) version: Version,
    pub(crate) name: String,
    /// From 1.
    pub(crate) step: i64,
    pub(crate) steps: usize,
    pub(crate) task: String,
    /// `file:line`.
    pub(crate) location: String,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, name, step, steps, task, location } = self;
        write!(f, "version {version} {name}, step {step} of {steps} ({location}, {task})")
    }
}

fn times(count: i64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

#[derive(Debug, Error)]
pub(crate) enum Problem {
    #[error("the cluster did not answer within {}: {source}", human(*.waited))]
    Unreachable { waited: Duration, source: Cause },
    #[error("not enough replicas answered within {}: {source}", human(*.waited))]
    QuorumLost { waited: Duration, source: Cause },
    #[error("the session's user may not {what}: {source}")]
    Unauthorized { what: String, source: Cause },
    #[error("keyspace {keyspace} does not exist")]
    KeyspaceMissing { keyspace: String },
    #[error("table {table} is not the ledger of kandra-migrate: {difference}")]
    LedgerShape { table: String, difference: String },
    #[error("table {table}: {source}")]
    LedgerNewer { table: String, source: LedgerError },
    #[error("table {table}: {source}")]
    LedgerUnreadable { table: String, source: LedgerError },
    #[error("the ledger is written with serial consistency {stored}, and this runner is set to {ours}")]
    SerialDiffers { stored: String, ours: &'static str },
    #[error("the server refuses conditional writes (LWT) in keyspace {keyspace}: {source}")]
    ConditionalRefused { keyspace: String, source: Cause },
    #[error("{context}: {source}")]
    NoAgreement { context: String, source: Cause },
    #[error(
        "the server does not take the id of table {table}, so that instances that create it at once may make two of it"
    )]
    TableIdRefused { table: String },

    #[error("the server refused a statement of the ledger: {source}")]
    LedgerRefused { source: Cause },

    #[error(
        "version {version} {name} ({location}) is applied with checksum {stored}, and this binary has {ours}"
    )]
    ChecksumMismatch { version: Version, name: String, location: String, stored: String, ours: String },
    #[error("version {version} {name} ({location}) is not applied, and version {newest} already is")]
    BelowFrontier { version: Version, name: String, location: String, newest: i64 },
    #[error(
        "version {version} {name} is applied, and this binary does not have it, although it has version {newest}"
    )]
    DivergentHistory { version: i64, name: String, newest: Version },

    #[error("the registry has no migrations")]
    RegistryEmpty,
    #[error("two migrations have version {version}: {first} and {second}")]
    DuplicateVersion { version: Version, first: String, second: String },
    #[error("{0}")]
    Config(String),
    #[error("version {version} {name} ({location}): the plan has no tasks")]
    PlanEmpty { version: Version, name: String, location: String },

    #[error("{at}: {objects} without a keyspace, and the session's keyspace is {session}, not {keyspace}")]
    Unqualified { at: At, objects: String, session: String, keyspace: String },
    #[error("{at}: no statement in it")]
    CqlEmpty { at: At },
    #[error("{at}: USE would switch the keyspace of the whole session")]
    CqlUse { at: At },
    #[error("{at}: two statements, and a cql task is one")]
    CqlTwo { at: At, excerpt: String },
    #[error("{at}: {message}")]
    CqlMalformed { at: At, message: String, excerpt: String },
    #[error("{at}: {message}")]
    CqlUnclassified { at: At, message: String, excerpt: String },
    #[error("{at}: a statement of {bytes} bytes, and at most {bytes_max} are sent")]
    CqlTooLong { at: At, bytes: usize, bytes_max: usize },

    #[error("{at} failed: {source}")]
    StepFailed { at: At, cql: Option<String>, source: Cause },
    #[error("{at} panicked: {message}")]
    StepPanicked { at: At, message: String },
    #[error("version {version} {name} is PAUSED: {reason}")]
    Paused { version: Version, name: String, reason: String },
    #[error("version {version} {name} failed on {holder}: {reason}")]
    FailedElsewhere { version: Version, name: String, holder: String, reason: String },

    #[error("version {version} {name} has failed {} and is left alone for another {}: {reason}", times(*.failures), human(*.left))]
    BackingOff { version: Version, name: String, failures: i64, left: Duration, reason: String },

    #[error("nothing is begun for another {}, by an operator's hold: {reason}", human(*.left))]
    OnHold { left: Duration, reason: String },

    #[error("{verb} is refused: {why}")]
    VerbRefused { verb: &'static str, why: String },

    #[error("{holder} is migrating")]
    Held { holder: String },
    #[error("waited {} for {holder}, which is still migrating", human(*.waited))]
    WaitedTooLong { holder: String, waited: Duration },
    #[error("the run was asked to stop before everything was applied")]
    Shutdown,
    #[error("a bug of kandra-migrate: {0}")]
    Illegal(#[from] IllegalTransition),
}

impl Problem {
    pub(crate) fn code(&self) -> Code {
        match self {
            Self::Unreachable { .. } => Code::Unreachable,
            Self::QuorumLost { .. } => Code::QuorumLost,
            Self::Unauthorized { .. } => Code::Unauthorized,
            Self::KeyspaceMissing { .. } => Code::KeyspaceMissing,
            Self::LedgerShape { .. } => Code::LedgerShape,
            Self::LedgerNewer { .. } => Code::LedgerNewer,
            Self::LedgerUnreadable { .. } => Code::LedgerUnreadable,
            Self::SerialDiffers { .. } => Code::SerialDiffers,
            Self::ConditionalRefused { .. } => Code::ConditionalRefused,
            Self::NoAgreement { .. } => Code::NoAgreement,
            Self::TableIdRefused { .. } => Code::TableIdRefused,
            Self::LedgerRefused { .. } => Code::LedgerRefused,
            Self::ChecksumMismatch { .. } => Code::ChecksumMismatch,
            Self::BelowFrontier { .. } => Code::BelowFrontier,
            Self::DivergentHistory { .. } => Code::DivergentHistory,
            Self::RegistryEmpty => Code::RegistryEmpty,
            Self::DuplicateVersion { .. } => Code::DuplicateVersion,
            Self::Config(_) => Code::Config,
            Self::PlanEmpty { .. } => Code::PlanEmpty,
            Self::Unqualified { .. } => Code::Unqualified,
            Self::CqlEmpty { .. } => Code::CqlEmpty,
            Self::CqlUse { .. } => Code::CqlUse,
            Self::CqlTwo { .. } => Code::CqlTwo,
            Self::CqlMalformed { .. } => Code::CqlMalformed,
            Self::CqlUnclassified { .. } => Code::CqlUnclassified,
            Self::CqlTooLong { .. } => Code::CqlTooLong,
            Self::StepFailed { .. } => Code::StepFailed,
            Self::StepPanicked { .. } => Code::StepPanicked,
            Self::Paused { .. } => Code::Paused,
            Self::FailedElsewhere { .. } => Code::FailedElsewhere,
            Self::BackingOff { .. } => Code::BackingOff,
            Self::OnHold { .. } => Code::OnHold,
            Self::VerbRefused { .. } => Code::VerbRefused,
            Self::Held { .. } => Code::Held,
            Self::WaitedTooLong { .. } => Code::WaitedTooLong,
            Self::Shutdown => Code::Shutdown,
            Self::Illegal(_) => Code::Internal,
        }
    }

    pub(crate) fn version(&self) -> Option<Version> {
        match self {
            Self::ChecksumMismatch { version, .. }
            | Self::BelowFrontier { version, .. }
            | Self::DuplicateVersion { version, .. }
            | Self::PlanEmpty { version, .. }
            | Self::Paused { version, .. }
            | Self::BackingOff { version, .. }
            | Self::FailedElsewhere { version, .. } => Some(*version),
            Self::Unqualified { at, .. }
            | Self::CqlEmpty { at }
            | Self::CqlUse { at }
            | Self::CqlTwo { at, .. }
            | Self::CqlMalformed { at, .. }
            | Self::CqlUnclassified { at, .. }
            | Self::CqlTooLong { at, .. }
            | Self::StepFailed { at, .. }
            | Self::StepPanicked { at, .. } => Some(at.version),
            _ => None,
        }
    }

    /// What the one line has no room for.
    pub(crate) fn detail(&self) -> Option<&str> {
        match self {
            Self::CqlTwo { excerpt, .. }
            | Self::CqlMalformed { excerpt, .. }
            | Self::CqlUnclassified { excerpt, .. } => Some(excerpt),
            Self::StepFailed { cql, .. } => cql.as_deref(),
            _ => None,
        }
    }

    /// What to type, or to do, next.
    pub(crate) fn next(&self) -> String {
        match self {
            Self::Unreachable { .. } => {
                "check that the nodes are up and reachable from here, then start again; nothing was left half-done that the next start does not finish".to_owned()
            }
            Self::QuorumLost { .. } => {
                "bring enough replicas back (`nodetool status`), then start again: the next run resumes".to_owned()
            }
            Self::Unauthorized { .. } => {
                "GRANT the missing permission (CREATE, ALTER, DROP, SELECT and MODIFY on the keyspace) to the session's user".to_owned()
            }
            Self::KeyspaceMissing { keyspace } => format!(
                "CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}}; or set `.create_keyspace(…)` on the runner"
            ),
            Self::LedgerShape { .. } => "rename or drop that table, if it is not needed".to_owned(),
            Self::LedgerNewer { .. } => "deploy the image that upgraded the ledger, or a newer one".to_owned(),
            Self::LedgerUnreadable { .. } => {
                "look at the table: something other than kandra-migrate wrote to it. Restore the row, or ask for help with its content".to_owned()
            }
            Self::SerialDiffers { stored, .. } => format!(
                "set `.serial_consistency(…)` of this runner to {stored}: runs with different levels do not exclude each other"
            ),
            Self::ConditionalRefused { keyspace, .. } => format!(
                "with ScyllaDB before 2025.4, LWT needs a keyspace without tablets: CREATE KEYSPACE {keyspace} WITH … AND tablets = {{'enabled': false}}; or upgrade"
            ),
            Self::NoAgreement { .. } => {
                "look for a node that is down or stuck (`nodetool describecluster`), then start again: the next run resumes".to_owned()
            }
            Self::TableIdRefused { table } => format!(
                "create {table} ahead of time, from one place only; the statement is in the docs of kandra_migrate::ledger_table"
            ),
            Self::LedgerRefused { .. } => {
                "read the server's answer; if it names a limit of the service, this keyspace cannot hold the ledger".to_owned()
            }
            Self::ChecksumMismatch { stored, .. } => format!(
                "restore the migration's text and put the change into a new migration. If the change has no effect on what was applied, declare that: #[migration(…, accept = [\"{stored}\"])]"
            ),
            Self::BelowFrontier { newest, .. } => format!(
                "give it a version above {newest}, or, if it may run after those, mark it: #[migration(…, out_of_order)]"
            ),
            Self::DivergentHistory { version, .. } => {
                format!("restore migration {version} in the code: it is applied, and its history must stay")
            }
            Self::RegistryEmpty => {
                "write a #[migration(version = 1)] module in the crate in which `registry!` stands; migrations of another crate need that crate's own registry".to_owned()
            }
            Self::DuplicateVersion { .. } => "give one of them another version".to_owned(),
            Self::Config(_) => "change the runner's settings".to_owned(),
            Self::PlanEmpty { .. } => "return at least one task from `up`".to_owned(),
            Self::Unqualified { .. } => "write ${keyspace}. before each of them".to_owned(),
            Self::CqlEmpty { .. } => "write a statement, or take the task away".to_owned(),
            Self::CqlUse { .. } => "take it away, and write ${keyspace}. before the names".to_owned(),
            Self::CqlTwo { .. } => "make a task of each".to_owned(),
            Self::CqlMalformed { .. } | Self::CqlUnclassified { .. } => "correct the statement".to_owned(),
            Self::CqlTooLong { .. } => {
                "split it, or write the data from a code task: code(\"…\", f).idempotent()".to_owned()
            }
            Self::StepFailed { .. } | Self::StepPanicked { .. } => {
                "the claim is released: correct the cause and start again; steps that are done are not repeated".to_owned()
            }
            Self::Paused { version, .. } => format!(
                "find out whether the step took effect, then deploy a corrected version {version}, or decide by hand"
            ),
            Self::FailedElsewhere { .. } => "see that instance's log; correct the cause and start again".to_owned(),
            Self::BackingOff { .. } => {
                "correct the cause: an edited migration is tried at once, an unchanged one after that time".to_owned()
            }
            Self::VerbRefused { .. } => "look at the status, then choose the verb that fits it".to_owned(),
            Self::OnHold { .. } => "wait, or take the hold back with resume".to_owned(),
            Self::Held { .. } | Self::WaitedTooLong { .. } => {
                "wait for that instance; if it is gone, its lease lapses by itself and the next start takes over".to_owned()
            }
            Self::Shutdown => "start again: the next run resumes".to_owned(),
            Self::Illegal(_) => "please report this, with the ledger's rows".to_owned(),
        }
    }

    pub(crate) fn source(&self) -> Option<&(dyn StdError + 'static)> {
        StdError::source(self)
    }
}
