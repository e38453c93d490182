//! What can be typed.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use scylla::statement::SerialConsistency;

use crate::duration;

const EXIT_CODES: &str = "\
Exit codes:
  0 it worked           4 the migrations here and the applied ones differ
  1 a failure           5 another instance, or a hold, is in the way; it passes
  2 wrong usage         6 an operator is needed
  3 something pending   7 the cluster does not answer
  130 after Ctrl-C, 143 after SIGTERM";

/// What the command line is asked for, of where things come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// Where the files with the migrations are, and where the database is.
    Directory,
    /// Where the database is.
    Url,
    /// Nothing: the application has both.
    Nothing,
}

/// A command line that was understood.
#[derive(Debug)]
pub(super) struct Line {
    /// The directory with the migrations.
    pub(super) directory: PathBuf,
    pub(super) connection: ConnectionArgs,
    pub(super) common: Common,
    pub(super) command: Command,
    /// The program and the options that each further command needs, ready to be typed.
    pub(super) prefix: String,
    /// The program's name.
    pub(super) program: String,
}

/// Shows, applies and repairs the schema migrations that are compiled into this binary
#[derive(Debug, Parser)]
#[command(after_help = EXIT_CODES, disable_help_subcommand = true, subcommand_required = true)]
#[command(arg_required_else_help = true)]
struct Raw<C: Args> {
    #[command(flatten)]
    connection: C,
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Connection")]
pub(super) struct ConnectionArgs {
    /// The database: cassandra://[user@]host[:port][,host…][/keyspace]
    #[arg(long, global = true, env = "KANDRA_URL", hide_env_values = true)]
    pub(super) url: Option<String>,
    /// The user to log in as
    #[arg(long, global = true, env = "KANDRA_USER", hide_env_values = true)]
    pub(super) user: Option<String>,
    /// A file with the user's password, which can be in `KANDRA_PASSWORD` instead
    #[arg(long, global = true, value_name = "FILE", env = "KANDRA_PASSWORD_FILE", hide_env_values = true)]
    pub(super) password_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct NoConnectionArgs {}

#[derive(Debug, Default, Args)]
struct DirectoryArgs {
    /// The directory with the migrations: `V0001__name.cql`, …
    #[arg(long, global = true, value_name = "DIRECTORY", default_value = "migrations", env = "KANDRA_DIR")]
    #[arg(hide_env_values = true)]
    dir: PathBuf,
    #[command(flatten)]
    connection: ConnectionArgs,
}

impl From<ConnectionArgs> for DirectoryArgs {
    fn from(connection: ConnectionArgs) -> Self {
        Self { connection, ..Self::default() }
    }
}

impl From<NoConnectionArgs> for DirectoryArgs {
    fn from(_: NoConnectionArgs) -> Self {
        Self::default()
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Common {
    /// The keyspace to migrate
    #[arg(long, global = true, env = "KANDRA_KEYSPACE", hide_env_values = true)]
    pub(super) keyspace: Option<String>,
    /// The keyspace that has the ledger, where that is not the one that is migrated
    #[arg(
        long,
        global = true,
        value_name = "KEYSPACE",
        env = "KANDRA_LEDGER_KEYSPACE",
        hide_env_values = true
    )]
    pub(super) ledger_keyspace: Option<String>,
    /// What ${NAME} stands for in statements: a name or text, or a literal such as 5, true, '5' and {'a': 1}
    #[arg(long, global = true, value_name = "NAME=VALUE", value_parser = variable)]
    pub(super) var: Vec<(String, String)>,
    /// How long connecting may take
    #[arg(long, global = true, value_name = "TIME", default_value = "30s", value_parser = duration::parse)]
    pub(super) connect_timeout: Duration,
    /// The serial consistency that the keyspace's ledger is written with
    #[arg(long, global = true, value_name = "LEVEL")]
    pub(super) serial_consistency: Option<Serial>,
    /// How stdout is written: text for people, or one JSON document
    #[arg(long, global = true, default_value = "text")]
    pub(super) format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Serial {
    Serial,
    LocalSerial,
}

impl From<Serial> for SerialConsistency {
    fn from(level: Serial) -> Self {
        match level {
            Serial::Serial => Self::Serial,
            Serial::LocalSerial => Self::LocalSerial,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show where the keyspace stands: each version, who is at it, holds and pauses
    Status {
        /// Exit with 6 if an operator is needed, 4 if an applied one was edited, 3 if something is pending
        #[arg(long)]
        exit_code: bool,
    },
    /// Show what `run` would do now, step by step
    Plan {
        /// Print the statements in full, with the values that are masked everywhere else
        #[arg(long)]
        cql: bool,
        /// Up to and including this version
        #[arg(long, value_name = "VERSION")]
        to: Option<i64>,
        /// Exit with 3 if something is pending
        #[arg(long)]
        exit_code: bool,
    },
    /// Compare the migrations of this binary with the applied ones
    Verify {
        /// Compare the schema too with what the last version left, and print the CQL that would lead back; exit with 4 if
        /// they differ
        #[arg(long)]
        drift: bool,
        /// Exit with 3 if something is pending
        #[arg(long)]
        exit_code: bool,
    },
    /// Look for what is likely to go wrong in the statements; exits with 1 if there is something. Asks no database
    Lint,
    /// Apply what is pending, or wait until another instance has
    Run(RunArgs),
    /// Wait until everything that this binary needs is applied, without ever applying it
    Wait {
        /// How long
        #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration::parse)]
        timeout: Duration,
    },
    /// Stop a version before its next step, or keep it from being begun
    Pause {
        /// The version of a migration
        version: i64,
        #[command(flatten)]
        why: MaybeReason,
    },
    /// Let a paused version go on; take a pause or a hold back
    Resume {
        #[command(flatten)]
        why: MaybeReason,
    },
    /// Keep every version that is not begun from being begun, for so long
    Hold {
        /// How long: 30s, 5m, 2h, 1d
        #[arg(value_parser = duration::parse)]
        time: Duration,
        #[command(flatten)]
        why: MaybeReason,
    },
    /// Say that the step in doubt, or that failed, has had its effect
    MarkDone(StepArgs),
    /// Say that the step in doubt, or that failed, is to be run again
    Rerun(StepArgs),
    /// Take back a claim that nothing will ever finish; what its steps did stays
    Abandon(EditArgs),
    /// Accept this binary's text of an applied version
    Restamp(EditArgs),
    /// Say that all versions up to this one were applied before there was a ledger
    Baseline(EditArgs),
    /// Show the audit trail: who did what, when and why
    Events {
        /// The newest so many
        #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
        limit: u16,
    },
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Up to and including this version
    #[arg(long, value_name = "VERSION")]
    pub(super) to: Option<i64>,
    /// Also the versions that are marked after-start, and those behind them
    #[arg(long)]
    pub(super) deferred: bool,
    /// How long to wait for another instance, or for a hold to end; 0 does not wait [default: 10m, with --deferred 1d]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(super) wait: Option<Duration>,
    /// How long the lease outlives this process, if that is killed [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(super) lease: Option<Duration>,
    /// When the outcome of a statement counts as unknown [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(super) statement_timeout: Option<Duration>,
    /// The longest random pause before the lease is taken; spreads a fleet that starts at once [default: 0s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(super) start_jitter: Option<Duration>,
    /// Create the keyspace if it is missing, with this replication
    #[arg(long, value_name = "REPLICATION")]
    pub(super) create_keyspace: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct EditArgs {
    /// The version of a migration
    pub(super) version: i64,
    /// Why, for the audit trail
    #[arg(long, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(super) reason: String,
    /// Do not ask; without a terminal nothing is asked
    #[arg(long, short)]
    pub(super) yes: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

#[derive(Debug, Args)]
pub(super) struct StepArgs {
    #[command(flatten)]
    pub(super) edit: EditArgs,
    /// Only if this is the step, from 1, that is in doubt or has failed
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(i64).range(1..))]
    pub(super) step: Option<i64>,
}

#[derive(Debug, Args)]
pub(super) struct MaybeReason {
    /// Why, for the audit trail, which has who and when anyhow
    #[arg(long, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(super) reason: Option<String>,
}

impl Command {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Status { .. } => "status",
            Self::Plan { .. } => "plan",
            Self::Verify { .. } => "verify",
            Self::Lint => "lint",
            Self::Run(_) => "run",
            Self::Wait { .. } => "wait",
            Self::Pause { .. } => "pause",
            Self::Resume { .. } => "resume",
            Self::Hold { .. } => "hold",
            Self::MarkDone(_) => "mark-done",
            Self::Rerun(_) => "rerun",
            Self::Abandon(_) => "abandon",
            Self::Restamp(_) => "restamp",
            Self::Baseline(_) => "baseline",
            Self::Events { .. } => "events",
        }
    }
}

impl Command {
    /// Whether the exit code is to say what was found.
    pub(super) const fn wants_exit_code(&self) -> bool {
        match self {
            Self::Status { exit_code } | Self::Plan { exit_code, .. } | Self::Verify { exit_code, .. } => {
                *exit_code
            }
            _ => false,
        }
    }
}

/// Reads a command line.
pub(super) fn parse(arguments: Vec<OsString>, asks: Asks) -> Result<Line, clap::Error> {
    let typed = arguments.first().map_or_else(|| "migrate".into(), |program| program.to_string_lossy());
    let typed = typed.into_owned();
    let program = Path::new(&typed).file_name().unwrap_or(OsStr::new(&typed)).to_string_lossy().into_owned();
    let (matches, from, common, command) = match asks {
        Asks::Directory => {
            read::<DirectoryArgs>(of_directory(command::<DirectoryArgs>(&program)), arguments)?
        }
        Asks::Url => read::<ConnectionArgs>(command::<ConnectionArgs>(&program), arguments)?,
        Asks::Nothing => read::<NoConnectionArgs>(command::<NoConnectionArgs>(&program), arguments)?,
    };
    let prefix = prefix(&typed, &matches, &from, &common);
    let DirectoryArgs { dir: directory, connection } = from;
    Ok(Line { directory, connection, common, command, prefix, program })
}

fn command<C: Args>(program: &str) -> clap::Command {
    Raw::<C>::command().name(program.to_owned()).bin_name(program)
}

/// A program of its own, and not an application that has migrations.
fn of_directory(command: clap::Command) -> clap::Command {
    command
        .version(env!("CARGO_PKG_VERSION"))
        .about("Shows, applies and repairs the schema migrations that are CQL files of a directory")
}

fn read<C: Args + Into<DirectoryArgs>>(
    mut clap: clap::Command,
    arguments: Vec<OsString>,
) -> Result<(ArgMatches, DirectoryArgs, Common, Command), clap::Error> {
    let matches = clap.try_get_matches_from_mut(arguments)?;
    let raw = Raw::<C>::from_arg_matches(&matches).map_err(|error| error.format(&mut clap))?;
    Ok((matches, raw.connection.into(), raw.common, raw.command))
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it is written NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// What a further command begins with, so that it reaches the same keyspace: what is in the environment stays there.
fn prefix(typed: &str, matches: &ArgMatches, from: &DirectoryArgs, common: &Common) -> String {
    let serial = common.serial_consistency.and_then(|level| level.to_possible_value());
    let path = |path: &Path| path.display().to_string();
    let options = [
        ("dir", Some(path(&from.dir))),
        ("url", from.connection.url.clone()),
        ("user", from.connection.user.clone()),
        ("password_file", from.connection.password_file.as_deref().map(path)),
        ("keyspace", common.keyspace.clone()),
        ("ledger_keyspace", common.ledger_keyspace.clone()),
        ("serial_consistency", serial.map(|value| value.get_name().to_owned())),
    ];
    let mut prefix = typed.to_owned();
    for (id, value) in options {
        let Some(value) = value.filter(|_| is_typed(matches, id)) else { continue };
        prefix = format!("{prefix} --{} {}", id.replace('_', "-"), quoted(&value));
    }
    // What a variable stands for may be secret.
    for (name, _) in &common.var {
        prefix = format!("{prefix} --var {}", quoted(&format!("{name}=…")));
    }
    prefix
}

fn is_typed(matches: &ArgMatches, id: &str) -> bool {
    // Not each of them exists where the application makes the session.
    matches.try_contains_id(id).unwrap_or_default()
        && matches.value_source(id) == Some(ValueSource::CommandLine)
}

/// As a shell takes it.
fn quoted(value: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_.,:/@%+=[]".contains(char);
    if !value.is_empty() && value.chars().all(|char| is_plain(char) && !"[]".contains(char)) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(arguments: &[&str]) -> Result<Line, clap::Error> {
        parse(arguments.iter().map(OsString::from).collect(), Asks::Url)
    }

    #[test]
    fn the_definitions_are_sound() {
        Raw::<ConnectionArgs>::command().debug_assert();
        Raw::<NoConnectionArgs>::command().debug_assert();
        Raw::<DirectoryArgs>::command().debug_assert();
    }

    #[test]
    fn a_further_command_reaches_the_same_keyspace() {
        let of = |options: &[&str]| {
            let arguments = [&["./bin/shop", "rerun", "3", "--reason", "r"], options].concat();
            line(&arguments).unwrap().prefix
        };
        assert_eq!(of(&["--url", "cassandra://a,b:1/shop"]), "./bin/shop --url cassandra://a,b:1/shop");
        let both = ["--keyspace", "shop", "--ledger-keyspace", "ops"];
        assert_eq!(of(&both), "./bin/shop --keyspace shop --ledger-keyspace ops");
        let arguments = ["kandra", "--dir", "my files", "run", "--var", "a=b c"].map(OsString::from);
        let line = parse(arguments.to_vec(), Asks::Directory).unwrap();
        assert_eq!(line.prefix, "kandra --dir 'my files' --var 'a=…'");
        assert_eq!(line.directory, Path::new("my files"));
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("cassandra://[::1]"), "'cassandra://[::1]'");
    }

    #[test]
    fn edits_want_a_reason() {
        for verb in ["mark-done", "rerun", "abandon", "restamp", "baseline"] {
            assert!(line(&["shop", verb, "3"]).is_err(), "{verb}");
            assert!(line(&["shop", verb, "3", "--reason", ""]).is_err(), "{verb}");
            assert!(line(&["shop", verb, "3", "--reason", "seen"]).is_ok(), "{verb}");
        }
    }

    #[test]
    fn an_application_with_its_own_session_has_no_url() {
        let arguments = ["shop", "status", "--url", "cassandra://a/b"].map(OsString::from);
        assert!(parse(arguments.to_vec(), Asks::Nothing).is_err());
        assert!(parse(arguments.to_vec(), Asks::Url).is_ok());
    }
}
