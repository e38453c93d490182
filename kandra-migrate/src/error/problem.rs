//! What can go wrong, each with its code, its text and what to do next.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use thiserror::Error;

use super::Code;
use super::next::{Call, Next, SerialLevel};
use crate::cql::quote;
use crate::files::Fault;
use crate::human::human;
use crate::ledger::{IllegalTransition, LEDGER_TABLE, LedgerError, VersionState};
use crate::migration::Version;
use crate::port::Cause;

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

fn listed(faults: &[String]) -> String {
    faults.join("; ")
}

/// What a paused version waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stuck {
    /// An operator has to say whether a step took effect.
    InDoubt,
    /// An operator has stopped it between two steps.
    Between,
    /// It was edited where it may not be.
    Edited,
}

impl Stuck {
    fn next(self, version: i64) -> Next {
        match self {
            Self::InDoubt => Next::new(
                "find out whether the step took effect, and say so; or, if its code is wrong, deploy a corrected one",
            )
            .way("it did", Call::MarkDone(version))
            .way("it did not", Call::Rerun(version)),
            Self::Between => {
                Next::new("it goes on once an operator lets it").way("let it go on", Call::Resume)
            }
            Self::Edited => Next::new(
                "deploy it again with the steps that are done as they were. Or take back by hand what they did, and let it begin anew",
            )
            .way("then begin anew", Call::Abandon(version)),
        }
    }
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
    #[error("keyspace {ledger_keyspace}, which is to have the ledger of {keyspace}, does not exist")]
    LedgerKeyspaceMissing { ledger_keyspace: String, keyspace: String },
    #[error(
        "table {elsewhere}.{LEDGER_TABLE} has the history of keyspace {keyspace}, and {table}, where it is looked for, has none"
    )]
    LedgerElsewhere { keyspace: String, table: String, elsewhere: String },
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
    TableIdRefused { table: String, statement: String },

    #[error("the server refused a statement of the ledger: {source}")]
    LedgerRefused { source: Cause },
    #[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only a command line makes sessions"))]
    #[error("the server refused the login of {user}: {message}")]
    LoginRefused { user: String, message: String },

    #[error(
        "version {version} {name} ({location}) is applied with checksum {stored}, and this binary has {ours}"
    )]
    ChecksumMismatch {
        version: Version,
        name: String,
        location: String,
        stored: String,
        ours: String,
        is_file: bool,
    },
    #[error("version {version} {name} ({location}) is not applied, and version {newest} already is")]
    BelowFrontier { version: Version, name: String, location: String, newest: i64, is_file: bool },
    #[error(
        "version {version} {name} is applied, and this binary does not have it, although it has version {newest}"
    )]
    DivergentHistory { version: i64, name: String, newest: Version },

    #[error("version {version} {name} is {state}, begun by {by}, and this binary does not have it")]
    UnknownInFlight { version: i64, name: String, state: VersionState, by: String },

    #[error("the registry has no migrations")]
    RegistryEmpty,
    #[error("two migrations have version {version}: {first} and {second}")]
    DuplicateVersion { version: Version, first: String, second: String },
    #[error("{0}")]
    Config(String),
    #[error("version {version} {name} ({location}): the plan has no tasks")]
    PlanEmpty { version: Version, name: String, location: String },

    #[error("{}", listed(.faults))]
    FileNames { faults: Vec<String> },
    #[error("{0}")]
    File(Fault),
    #[error("{path} cannot be read: {source}")]
    DirectoryUnreadable { path: String, source: std::io::Error },
    #[error("{}", listed(.differences))]
    Stale { differences: Vec<String> },
    #[error("{path} ({location}): {why}")]
    FileUse { path: String, location: String, why: String },

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
    #[error("{at}: ${{{name}}} has no value")]
    VariableMissing { at: At, name: String, excerpt: String },

    #[error("{at} failed: {source}")]
    StepFailed { at: At, cql: Option<String>, source: Cause },
    #[error(
        "{at}: IF NOT EXISTS would do nothing, since what is there has another shape: expected {expected}; found {found}"
    )]
    OtherShape { at: At, expected: String, found: String, cql: String, in_file: bool },
    #[error("{at} panicked: {message}")]
    StepPanicked { at: At, message: String },
    #[error("version {version} {name} is PAUSED: {reason}")]
    Paused { version: Version, name: String, reason: String, stuck: Stuck },
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
            Self::KeyspaceMissing { .. } | Self::LedgerKeyspaceMissing { .. } => Code::KeyspaceMissing,
            Self::LedgerElsewhere { .. } => Code::LedgerElsewhere,
            Self::LedgerShape { .. } => Code::LedgerShape,
            Self::LedgerNewer { .. } => Code::LedgerNewer,
            Self::LedgerUnreadable { .. } => Code::LedgerUnreadable,
            Self::SerialDiffers { .. } => Code::SerialDiffers,
            Self::ConditionalRefused { .. } => Code::ConditionalRefused,
            Self::NoAgreement { .. } => Code::NoAgreement,
            Self::TableIdRefused { .. } => Code::TableIdRefused,
            Self::LedgerRefused { .. } => Code::LedgerRefused,
            Self::LoginRefused { .. } => Code::LoginRefused,
            Self::ChecksumMismatch { .. } => Code::ChecksumMismatch,
            Self::BelowFrontier { .. } => Code::BelowFrontier,
            Self::DivergentHistory { .. } => Code::DivergentHistory,
            Self::UnknownInFlight { .. } => Code::UnknownInFlight,
            Self::RegistryEmpty => Code::RegistryEmpty,
            Self::DuplicateVersion { .. } => Code::DuplicateVersion,
            Self::Config(_) => Code::Config,
            Self::PlanEmpty { .. } => Code::PlanEmpty,
            Self::FileNames { .. } => Code::FileName,
            Self::File(_) => Code::FileMalformed,
            Self::DirectoryUnreadable { .. } => Code::DirectoryUnreadable,
            Self::Stale { .. } => Code::Stale,
            Self::FileUse { .. } => Code::FileUse,
            Self::Unqualified { .. } => Code::Unqualified,
            Self::CqlEmpty { .. } => Code::CqlEmpty,
            Self::CqlUse { .. } => Code::CqlUse,
            Self::CqlTwo { .. } => Code::CqlTwo,
            Self::CqlMalformed { .. } => Code::CqlMalformed,
            Self::CqlUnclassified { .. } => Code::CqlUnclassified,
            Self::CqlTooLong { .. } => Code::CqlTooLong,
            Self::VariableMissing { .. } => Code::VariableMissing,
            Self::StepFailed { .. } => Code::StepFailed,
            Self::OtherShape { .. } => Code::OtherShape,
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
            | Self::VariableMissing { at, .. }
            | Self::StepFailed { at, .. }
            | Self::OtherShape { at, .. }
            | Self::StepPanicked { at, .. } => Some(at.version),
            _ => None,
        }
    }

    /// What the one line has no room for.
    pub(crate) fn detail(&self) -> Option<&str> {
        match self {
            Self::CqlTwo { excerpt, .. }
            | Self::CqlMalformed { excerpt, .. }
            | Self::VariableMissing { excerpt, .. }
            | Self::CqlUnclassified { excerpt, .. } => Some(excerpt),
            Self::StepFailed { cql, .. } => cql.as_deref(),
            Self::File(fault) => fault.excerpt(),
            Self::OtherShape { cql, .. } => Some(cql),
            _ => None,
        }
    }

    /// What to do, and which verb does it, next.
    #[expect(clippy::too_many_lines, reason = "one arm a problem, side by side, reads best")]
    pub(crate) fn next(&self) -> Next {
        match self {
            Self::Unreachable { .. } => Next::new(
                "check that the nodes are up and reachable from here, then start again; nothing was left half-done that the next start does not finish",
            )
            .way("then", Call::Run),
            Self::QuorumLost { .. } => Next::new(
                "bring enough replicas back (`nodetool status`), then start again: the next run resumes",
            )
            .way("then", Call::Run),
            Self::Unauthorized { .. } => Next::new(
                "GRANT the missing permission to the session's user: CREATE, ALTER, DROP, SELECT and MODIFY on the keyspace; and, where another one has the ledger, SELECT and MODIFY on that, with CREATE for the first run",
            ),
            Self::KeyspaceMissing { keyspace } => Next::new(format!(
                "if {keyspace} is the right name, create that keyspace, or let the run do so, with the replication that you need. CREATE KEYSPACE {} WITH replication = {{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}};",
                quote(keyspace)
            ))
            .way("as an example", Call::RunCreatingKeyspace),
            Self::LedgerKeyspaceMissing { ledger_keyspace, .. } => Next::new(format!(
                "if {ledger_keyspace} is the right name, create that keyspace, with the replication that the ledger needs: while no quorum of it answers, nothing can be migrated. CREATE KEYSPACE {} WITH replication = {{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}};",
                quote(ledger_keyspace)
            )),
            Self::LedgerElsewhere { table, elsewhere, .. } => Next::new(format!(
                "go by that one here as well: .ledger_keyspace(\"{elsewhere}\"), or --ledger-keyspace {elsewhere} at a command line. To move to {table}, tell it by `baseline` what is applied, and drop the other table once nothing goes by it"
            )),
            Self::LedgerShape { .. } => Next::new("rename or drop that table, if it is not needed"),
            Self::LedgerNewer { .. } => Next::new("deploy the image that upgraded the ledger, or a newer one"),
            Self::LedgerUnreadable { .. } => Next::new(
                "look at the table: something other than kandra-migrate wrote to it. Restore the row, or ask for help with its content",
            ),
            Self::SerialDiffers { stored, .. } => {
                let next = Next::new(format!(
                    "use {stored} here as well: runs with different levels do not exclude each other"
                ));
                match stored.as_str() {
                    "SERIAL" => next.way("so", Call::AtSerial(SerialLevel::Serial)),
                    "LOCAL_SERIAL" => next.way("so", Call::AtSerial(SerialLevel::LocalSerial)),
                    _ => next,
                }
            }
            Self::ConditionalRefused { keyspace, .. } => Next::new(format!(
                "with ScyllaDB before 2025.4, LWT needs a keyspace without tablets: CREATE KEYSPACE {keyspace} WITH … AND tablets = {{'enabled': false}}; or upgrade"
            )),
            Self::NoAgreement { .. } => Next::new(
                "look for a node that is down or stuck (`nodetool describecluster`), then start again: the next run resumes",
            )
            .way("then", Call::Run),
            Self::TableIdRefused { statement, .. } => {
                Next::new(format!("create the table ahead of time, from one place only: {statement};"))
            }
            Self::LedgerRefused { .. } => Next::new(
                "read the server's answer; if it names a limit of the service, this keyspace cannot hold the ledger",
            ),
            Self::LoginRefused { .. } => Next::new(
                "check the user, by --user or KANDRA_USER, and its password, by --password-file or KANDRA_PASSWORD; and that the role may log in",
            ),
            Self::ChecksumMismatch { version, stored, is_file, .. } => Next::new(format!(
                "restore the migration's text and put the change into a new migration. If the change has no effect on what was applied, declare that, {}, or say it to this one ledger",
                if *is_file { format!("-- kandra: accept {stored}") } else { format!("#[migration(…, accept = [\"{stored}\"])]") }
            ))
            .way("to this one", Call::Restamp(version.get())),
            Self::BelowFrontier { newest, is_file, .. } => Next::new(format!(
                "give it a version above {newest}, or, if it may run after those, mark it: {}",
                if *is_file { "-- kandra: out-of-order" } else { "#[migration(…, out_of_order)]" }
            )),
            Self::DivergentHistory { version, .. } => Next::new(format!(
                "restore migration {version} in the code: it is applied, and its history must stay"
            )),
            Self::UnknownInFlight { version, by, .. } => {
                Next::new(format!("deploy the image of {by}, or a newer one: it finishes the version"))
                    .way("if it is not to come back, and what it did is taken back", Call::Abandon(*version))
            }
            Self::RegistryEmpty => Next::new(
                "write a #[migration(version = 1)] module, or a file of cql_dir!(\"migrations\"), in the crate in which `registry!` stands; migrations of another crate need that crate's own registry",
            ),
            Self::DuplicateVersion { .. } => Next::new("give one of them another version"),
            Self::Config(_) => Next::new("change that setting"),
            Self::PlanEmpty { .. } => Next::new("return at least one task from `up`"),
            Self::FileNames { .. } => Next::new("rename each of them, or move it out of the directory"),
            Self::File(_) => Next::new("correct the file at that line"),
            Self::DirectoryUnreadable { .. } => Next::new(
                "name the directory with the migrations, and let this process read it and its files",
            ),
            Self::Stale { .. } => Next::new(
                "rebuild. So that cargo sees new files by itself, have a build.rs beside Cargo.toml: fn main() { println!(\"cargo::rerun-if-changed=migrations\"); }",
            ),
            Self::FileUse { .. } => Next::new("correct that use of the file"),
            Self::Unqualified { .. } => Next::new("write ${keyspace}. before each of them"),
            Self::CqlEmpty { .. } => Next::new("write a statement, or take the task away"),
            Self::CqlUse { .. } => Next::new("take it away, and write ${keyspace}. before the names"),
            Self::CqlTwo { .. } => Next::new("make a task of each"),
            Self::CqlMalformed { .. } | Self::CqlUnclassified { .. } => Next::new("correct the statement"),
            Self::CqlTooLong { .. } => {
                Next::new("split it, or write the data from a code task of a migration in Rust: code(\"…\", f).idempotent()")
            }
            Self::VariableMissing { name, .. } => Next::new(format!(
                "give it one: runner.variable(\"{name}\", …), or --var {name}=… at a command line; or correct its name"
            )),
            Self::StepFailed { at, .. } | Self::StepPanicked { at, .. } => Next::new(
                "correct the cause and start again: the claim is released, and steps that are done are not repeated. A run waits a little before it tries the same text again, and a corrected one at once",
            )
            .way("to try the same text at once", Call::Rerun(at.version.get()))
            .way("if its effect is there already", Call::MarkDone(at.version.get())),
            Self::OtherShape { at, in_file, .. } => Next::new(format!(
                "bring what is there into that shape, or correct the statement, and start again: the claim is released. If what is there will do as it is, say {}, or that the step is done",
                if *in_file { "`-- kandra: allow KL10` above the statement" } else { ".allow(\"KL10\") on the task" }
            ))
            .way("it will do", Call::MarkDone(at.version.get()))
            .way("after a change by hand", Call::Rerun(at.version.get())),
            Self::Paused { version, stuck, .. } => stuck.next(version.get()),
            Self::FailedElsewhere { version, .. } => {
                Next::new("see that instance's log, correct the cause and start again")
                    .way("what happened", Call::Events)
                    .way("to try the same text at once", Call::Rerun(version.get()))
            }
            Self::BackingOff { version, .. } => Next::new(
                "correct the cause: an edited migration is tried at once, an unchanged one after that time",
            )
            .way("to try the same text at once", Call::Rerun(version.get()))
            .way("if its effect is there already", Call::MarkDone(version.get())),
            Self::VerbRefused { .. } => {
                Next::new("see where it stands, then choose the verb that fits").way("see", Call::Status)
            }
            Self::OnHold { .. } => Next::new("wait, or take the hold back").way("take it back", Call::Resume),
            Self::Held { .. } | Self::WaitedTooLong { .. } => Next::new(
                "wait for that instance; if it is gone, its lease lapses by itself and the next run takes over",
            )
            .way("see", Call::Status)
            .way("wait", Call::Wait),
            Self::Shutdown => Next::new("start again: the next run resumes").way("so", Call::Run),
            Self::Illegal(_) => Next::new("please report this, with the ledger's rows"),
        }
    }

    /// The cause itself, which a caller may want as its own type, and not the pointer that shares it.
    pub(crate) fn source(&self) -> Option<&(dyn StdError + 'static)> {
        let source = StdError::source(self)?;
        Some(source.downcast_ref::<Cause>().map_or(source, |cause| cause.as_ref()))
    }
}
