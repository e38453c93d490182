//! What operators write while somebody else may hold the lease.

use uuid::Uuid;

use super::cell::Key;
use super::event::Event;
use super::history::Ledger;
use super::row::Head;
use super::transaction::{Condition, Mutation, Transaction, Writer, changed};

/// What a holder is to do before its next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandKind {
    /// Stop before the next step of a version.
    Pause,
    /// Go on with a paused version.
    Resume,
}

impl CommandKind {
    /// The stored name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
        }
    }
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// The holder stops before the next step of this version; nobody begins it.
    Pause {
        /// The version.
        version: i64,
    },
    /// A paused version goes on; a pause that nobody has acted on, and a hold, are taken back.
    Resume {
        /// The paused version, if one is.
        version: Option<i64>,
    },
    /// No version is claimed before a time of the server's clock.
    Hold {
        /// The time, in milliseconds since the epoch.
        until_ms: i64,
    },
}

impl Head {
    /// The command that no holder has acted on yet.
    #[must_use]
    pub fn command(&self) -> Option<CommandKind> {
        [CommandKind::Pause, CommandKind::Resume]
            .into_iter()
            .find(|kind| self.cmd.as_deref() == Some(kind.name()))
    }

    /// Whether this version is to be paused before its next step.
    #[must_use]
    pub fn pauses(&self, version: i64) -> bool {
        self.command() == Some(CommandKind::Pause) && self.cmd_version == Some(version)
    }

    /// Whether this version, paused, is to go on.
    #[must_use]
    pub fn resumes(&self, version: i64) -> bool {
        self.command() == Some(CommandKind::Resume) && self.cmd_version == Some(version)
    }

    /// Who gave the command, and why.
    #[must_use]
    pub fn command_text(&self) -> String {
        let by = self.cmd_by.as_deref().unwrap_or("an operator");
        let reason = self.cmd_reason.as_deref().unwrap_or("no reason given");
        format!("by {by}: {reason}")
    }
}

impl Ledger {
    /// The write that gives a command. It keeps the fencing token, so that the holder keeps its lease, and changes the
    /// command's, so that the holder's next write is rejected and it looks. `None` where there is no head yet.
    #[must_use]
    pub fn command(
        &self,
        writer: &Writer,
        nonce: Uuid,
        command: &Command,
        reason: &str,
    ) -> Option<Transaction> {
        let seen = self.head()?;
        let mut head = seen.clone();
        head.rev += 1;
        head.cmd_op = Some(nonce);
        (head.cmd_by, head.cmd_reason) = (Some(writer.info.clone()), Some(reason.to_owned()));
        let text = match command {
            Command::Pause { version } => {
                (head.cmd, head.cmd_version) = (Some(CommandKind::Pause.name().to_owned()), Some(*version));
                format!("pause asked for {version}")
            }
            Command::Resume { version } => {
                head.cmd = version.map(|_| CommandKind::Resume.name().to_owned());
                head.cmd_version = *version;
                (head.hold_until, head.hold_reason) = (None, None);
                match version {
                    Some(version) => format!("resume asked for {version}"),
                    None => "resume asked for".to_owned(),
                }
            }
            Command::Hold { until_ms } => {
                (head.hold_until, head.hold_reason) = (Some(*until_ms), Some(reason.to_owned()));
                format!("hold until {until_ms}")
            }
        };
        let event = Event {
            rev: head.rev,
            at: writer.wall_ms,
            actor: writer.info.clone(),
            text,
            error: None,
            reason: Some(reason.to_owned()),
        };
        let mutations = vec![
            Mutation::Put(Key::HEAD, changed(Some(&seen.to_cells()), head.to_cells())),
            Mutation::Put(Key::event(head.rev), event.to_cells()),
        ];
        let condition = Condition { op: Some(seen.op), cmd_op: seen.cmd_op, absent: None };
        let next = Self { head: Some(head), ..self.clone() };
        Some(Transaction { op: seen.op, condition, mutations, next })
    }
}
