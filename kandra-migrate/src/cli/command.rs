//! Carrying out what was typed.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use scylla::client::session::Session;
use scylla::statement::SerialConsistency;

use super::answer::{Answer, Changed};
use super::args::{Command, EditArgs, Format, Line, MaybeReason, RunArgs, StepArgs};
use super::exit::{self, Exit};
use super::output::{print, say};
use super::paint::{Paint, Painter};
use super::progress::Display;
use super::signals::Signals;
use super::{Cli, Connection, Opening, Source, connect, json, prompt, text};
use crate::cql::Value;
use crate::engine::{Expected, Verb, Wait};
use crate::error::{Error, Idiom};
use crate::registry::Registry;
use crate::report::Literals;
use crate::runner::{Deferred, Runner};

/// Why a command has no answer.
enum Failure {
    /// What was typed does not do.
    Usage(String),
    Failed(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// What all commands work with.
struct Desk<'a, 'r> {
    registry: &'r Registry,
    configure: &'a dyn Fn(Runner<'r>) -> Runner<'r>,
    session: Arc<Session>,
    keyspace: Option<String>,
    ledger_keyspace: Option<String>,
    serial: Option<SerialConsistency>,
    variables: &'a [(String, String)],
    program: &'a str,
    signals: &'a Signals,
    display: Display,
}

/// Where the session comes from, and what is known of it before it is opened.
struct Door<'r> {
    opening: Opening<'r>,
    keyspace: Option<String>,
    user: Option<String>,
}

pub(super) async fn carry_out(cli: Cli<'_>, line: Line) -> ExitCode {
    let signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            say(&format!("error: signals cannot be listened to: {error}"));
            return ExitCode::from(Exit::Failure.code());
        }
    };
    let display = Display::new();
    let result = answer(cli, &line, &signals, &display).await;
    display.clear();
    let exit = match result {
        Ok(answer) => answered(&answer, &line),
        Err(Failure::Failed(error)) => failed(&error, &line),
        Err(Failure::Usage(text)) => exit::usage(&line.program, &text),
    };
    ExitCode::from(signals.exit_code().unwrap_or(exit.code()))
}

async fn answer(cli: Cli<'_>, line: &Line, signals: &Signals, display: &Display) -> Result<Answer, Failure> {
    if matches!(line.command, Command::Lint) {
        return Ok(lint(cli.registry)?);
    }
    let door = match cli.source {
        Source::Options(connect) => {
            let connection = Connection::from_args(&line.connection).map_err(Failure::Usage)?;
            let keyspace = connection.keyspace().map(str::to_owned);
            let user = connection.user().map(str::to_owned);
            Door { opening: connect(connection), keyspace, user }
        }
        Source::Application(session) => Door { opening: session(), keyspace: None, user: None },
    };
    let timeout = line.common.connect_timeout;
    let session = connect::open(door.opening, timeout, door.user.as_deref()).await?;
    let desk = Desk {
        registry: cli.registry,
        configure: cli.configure.as_ref(),
        session,
        keyspace: line.common.keyspace.clone().or(door.keyspace).or(cli.keyspace),
        ledger_keyspace: line.common.ledger_keyspace.clone(),
        serial: line.common.serial_consistency.map(SerialConsistency::from),
        variables: &line.common.var,
        program: &line.program,
        signals,
        display: display.clone(),
    };
    if desk.runner().keyspace_name().is_none() {
        return Err(Failure::Usage("no keyspace: say --keyspace, or name it in the URL".to_owned()));
    }
    Ok(desk.carry_out(&line.command).await?)
}

impl<'r> Desk<'_, 'r> {
    fn runner(&self) -> Runner<'r> {
        let runner = Runner::new(Arc::clone(&self.session), self.registry)
            .start_jitter(Duration::ZERO)
            .application(self.program);
        let mut runner = (self.configure)(runner);
        if let Some(keyspace) = &self.keyspace {
            runner = runner.keyspace(keyspace);
        }
        if let Some(keyspace) = &self.ledger_keyspace {
            runner = runner.ledger_keyspace(keyspace);
        }
        if let Some(level) = self.serial {
            runner = runner.serial_consistency(level);
        }
        for (name, value) in self.variables {
            runner = runner.variable(name, Value::parse(value));
        }
        if let Some((application, user)) = runner.application_name().zip(person()) {
            let both = format!("{application}, {user}");
            runner = runner.application(both);
        }
        runner
    }

    async fn carry_out(&self, command: &Command) -> Result<Answer, Error> {
        match command {
            Command::Status { .. } => self.runner().status().await.map(Answer::Status),
            Command::Plan { cql, to, .. } => self.plan(*cql, *to).await,
            Command::Verify { drift, .. } => self.verify(*drift).await,
            Command::Lint => lint(self.registry),
            Command::Run(args) => self.run(args).await,
            Command::Wait { timeout } => self.wait(*timeout).await,
            Command::Pause { version, why } => self.give(&Verb::Pause(*version), why).await,
            Command::Resume { why } => self.give(&Verb::Resume, why).await,
            Command::Hold { time, why } => {
                let ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
                self.give(&Verb::Hold { ms }, why).await
            }
            Command::MarkDone(StepArgs { edit, step }) => {
                self.edit(&Verb::MarkDone(edit.version), *step, edit).await
            }
            Command::Rerun(StepArgs { edit, step }) => {
                self.edit(&Verb::Rerun(edit.version), *step, edit).await
            }
            Command::Abandon(args) => self.edit(&Verb::Abandon(args.version), None, args).await,
            Command::Restamp(args) => self.edit(&Verb::Restamp(args.version), None, args).await,
            Command::Baseline(args) => self.edit(&Verb::Baseline(args.version), None, args).await,
            Command::Events { limit } => self.runner().control().events(*limit).await.map(Answer::Events),
        }
    }

    async fn plan(&self, cql: bool, to: Option<i64>) -> Result<Answer, Error> {
        let literals = if cql { Literals::Shown } else { Literals::Masked };
        let mut migrations = self.runner().planned(literals).await?;
        migrations.retain(|migration| to.is_none_or(|to| migration.version.get() <= to));
        Ok(Answer::Plan { migrations, as_cql: cql })
    }

    async fn verify(&self, drift: bool) -> Result<Answer, Error> {
        let report = self.runner().verify().await?;
        if !drift {
            return Ok(Answer::Verified(report));
        }
        self.runner().drift().await.map(|drift| Answer::Compared { report, drift })
    }

    async fn run(&self, args: &RunArgs) -> Result<Answer, Error> {
        self.signals.be_graceful();
        let mut runner = self.runner().on_progress(self.display.observer()).shutdown_on(self.signals.stop());
        if let Some(time) = args.wait {
            runner = runner.wait(if time.is_zero() { Wait::Fail } else { Wait::UpTo(time) });
        }
        if let Some(time) = args.lease {
            runner = runner.lease(time);
        }
        if let Some(time) = args.statement_timeout {
            runner = runner.statement_timeout(time);
        }
        if let Some(time) = args.start_jitter {
            runner = runner.start_jitter(time);
        }
        if let Some(replication) = &args.create_keyspace {
            runner = runner.create_keyspace(replication);
        }
        let deferred = if args.deferred { Deferred::Applied } else { Deferred::Left };
        runner.run_up_to(args.to, deferred).await.map(Answer::Ran)
    }

    async fn wait(&self, timeout: Duration) -> Result<Answer, Error> {
        let runner = self.runner().on_progress(self.display.observer()).wait(Wait::UpTo(timeout));
        runner.wait_until_applied().await.map(Answer::Waited)
    }

    /// A command: a live run obeys it.
    async fn give(&self, verb: &Verb, why: &MaybeReason) -> Result<Answer, Error> {
        let control = self.runner().control();
        let (changes, _) = control.preview(verb, Expected::default()).await?;
        // Who it was is in the audit trail anyhow.
        control.carry_out(verb, why.reason.as_deref().unwrap_or("no reason given")).await?;
        Ok(Answer::Changes { changes, outcome: Changed::Made })
    }

    /// An edit: what it changes is shown before, and a person is asked. What has changed meanwhile is not edited.
    async fn edit(&self, verb: &Verb, step: Option<i64>, args: &EditArgs) -> Result<Answer, Error> {
        let runner = self.runner();
        let keyspace = runner.keyspace_name().unwrap_or_default();
        let control = runner.control();
        let (changes, seen) = control.preview(verb, Expected { step, op: None }).await?;
        say(&format!("{} in keyspace {keyspace}:", verb.name()));
        for change in &changes {
            say(&format!("  {change}"));
        }
        let outcome = if args.dry_run {
            Changed::OnlyShown
        } else if !args.yes && prompt::is_possible() && !prompt::agrees("Do it?").await {
            Changed::Declined
        } else {
            control.carry_out_on(verb, seen, &args.reason).await?;
            Changed::Made
        };
        Ok(Answer::Changes { changes, outcome })
    }
}

fn lint(registry: &Registry) -> Result<Answer, Error> {
    Ok(Answer::Linted { migrations: registry.migrations()?.len(), findings: registry.lint()? })
}

/// Who is at the keyboard.
fn person() -> Option<String> {
    let name = |variable| std::env::var(variable).ok().filter(|name| !name.is_empty());
    name("USER").or_else(|| name("LOGNAME"))
}

fn answered(answer: &Answer, line: &Line) -> Exit {
    let exit = answer.exit(line.command.wants_exit_code());
    let written = match line.common.format {
        Format::Text => print(&text::render(answer, Painter::of(&std::io::stdout()))),
        Format::Json => print(&json::answer(line.command.name(), exit, answer)),
    };
    if let Err(error) = written {
        say(&format!("error: stdout cannot be written: {error}"));
        return Exit::Failure;
    }
    if line.common.format == Format::Text {
        for remark in answer.remarks(line.command.name(), &line.prefix) {
            say(&remark);
        }
    }
    exit
}

pub(super) fn failed(error: &Error, line: &Line) -> Exit {
    let exit = Exit::of_error(error);
    let idiom = Idiom::CommandLine(&line.prefix);
    let label = Painter::of(&std::io::stderr()).paint(Paint::Bad, "error:");
    match line.common.format {
        Format::Text => say(&format!("{label} {}", error.explain_in(idiom))),
        Format::Json => {
            say(&format!("{label} {error}"));
            if let Err(error) = print(&json::error(line.command.name(), exit, error, idiom)) {
                say(&format!("{label} stdout cannot be written: {error}"));
            }
        }
    }
    exit
}
