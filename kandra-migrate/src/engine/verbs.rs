//! What each verb of an operator does in each state, or why it is refused. Pure.

use uuid::Uuid;

use super::catalog::{Catalog, Entry};
use crate::error::Problem;
use crate::ledger::{Claim, Command, Ledger, StepRow, StepState, Transition, VersionState};

/// What an operator asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verb {
    /// The version is stopped before its next step, or not begun.
    Pause(i64),
    /// A paused version goes on; a pause that was not acted on, and a hold, are taken back.
    Resume,
    /// Nothing is begun for so many milliseconds.
    Hold {
        /// How many.
        ms: i64,
    },
    /// The step in doubt has had its effect.
    MarkDone(i64),
    /// The step in doubt, or that failed, is run again.
    Rerun(i64),
    /// A claim that nothing will ever finish is taken back.
    Abandon(i64),
    /// The binary's text of a completed version is accepted.
    Restamp(i64),
    /// All versions up to this one were applied before there was a ledger.
    Baseline(i64),
}

/// What the person who says a verb goes by. Where it is no longer so, the verb is refused and changes nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expected {
    /// The step that is to be marked done or run again, from 1.
    pub step: Option<i64>,
    /// The fencing token that the ledger had when it was looked at; the inner `None` where there was no ledger.
    pub op: Option<Option<Uuid>>,
}

impl Expected {
    /// Refuses an order that is about another step.
    pub(super) fn check_step(self, verb: &Verb, order: &Order) -> Result<(), Problem> {
        let Some(step) = self.step else { return Ok(()) };
        let found = match order {
            Order::Edit(edits) => edits.iter().find_map(|edit| match edit {
                Transition::MarkDone { n, .. } | Transition::Rerun { n, .. } => Some(n + 1),
                _ => None,
            }),
            Order::Command(_) => None,
        };
        match found {
            Some(found) if found == step => Ok(()),
            Some(found) => {
                Err(verb.refused(format!("it would be about step {found}, not about step {step}")))
            }
            None => Err(verb.refused("it is not about a step")),
        }
    }

    /// Refuses what was shown before the ledger changed.
    pub(super) fn check_op(self, verb: &Verb, op: Option<Uuid>) -> Result<(), Problem> {
        if self.op.is_none_or(|expected| expected == op) {
            return Ok(());
        }
        Err(verb.refused("the ledger has changed since what it would do was shown: look again"))
    }
}

/// What carries a verb out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    /// Written while somebody else may hold the lease.
    Command(Command),
    /// Written as the holder.
    Edit(Vec<Transition>),
}

/// Where a version stands, for a verb.
enum Stand<'a> {
    Unknown,
    Queued,
    /// Its claim is released, since this step failed.
    Failed(Option<&'a StepRow>),
    Running(Option<&'a StepRow>),
    /// With the step whose outcome is in doubt.
    Paused(Option<&'a StepRow>),
    Completed,
    RolledBack,
}

impl Verb {
    /// The name, as an operator types it.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Pause(_) => "pause",
            Self::Resume => "resume",
            Self::Hold { .. } => "hold",
            Self::MarkDone(_) => "mark-done",
            Self::Rerun(_) => "rerun",
            Self::Abandon(_) => "abandon",
            Self::Restamp(_) => "restamp",
            Self::Baseline(_) => "baseline",
        }
    }

    /// From which version on the journal is needed.
    pub(crate) const fn journal_from(&self) -> Option<i64> {
        match self {
            Self::MarkDone(version)
            | Self::Rerun(version)
            | Self::Abandon(version)
            | Self::Pause(version) => Some(*version),
            Self::Baseline(_) | Self::Resume => Some(1),
            Self::Hold { .. } | Self::Restamp(_) => None,
        }
    }

    /// What carries it out in this state.
    pub(crate) fn order(&self, ledger: &Ledger, catalog: &Catalog, server_ms: i64) -> Result<Order, Problem> {
        match *self {
            Self::Pause(version) => self.pause(version, ledger, catalog).map(Order::Command),
            Self::Resume => self.resume(ledger).map(Order::Command),
            Self::Hold { ms } => Ok(Order::Command(Command::Hold { until_ms: server_ms.saturating_add(ms) })),
            Self::MarkDone(version) => {
                let n = self.step_in_doubt(version, ledger, catalog)?.n;
                Ok(Order::Edit(vec![Transition::MarkDone { version, n }]))
            }
            Self::Rerun(version) => {
                let n = self.step_in_doubt(version, ledger, catalog)?.n;
                Ok(Order::Edit(vec![Transition::Rerun { version, n }]))
            }
            Self::Abandon(version) => self.abandon(version, ledger, catalog),
            Self::Restamp(version) => self.restamp(version, ledger, catalog),
            Self::Baseline(version) => self.baseline(version, ledger, catalog),
        }
    }

    /// The refusal of this verb.
    pub(crate) fn refused(&self, why: impl Into<String>) -> Problem {
        Problem::VerbRefused { verb: self.name(), why: why.into() }
    }

    fn pause(&self, version: i64, ledger: &Ledger, catalog: &Catalog) -> Result<Command, Problem> {
        match stand(version, ledger, catalog) {
            Stand::Queued | Stand::Failed(_) | Stand::Running(_) => Ok(Command::Pause { version }),
            Stand::Paused(_) => Err(self.refused(format!("version {version} is paused already"))),
            other => Err(self.not_in(version, &other)),
        }
    }

    fn resume(&self, ledger: &Ledger) -> Result<Command, Problem> {
        let paused = ledger.versions().find(|row| row.state == VersionState::Paused);
        let Some(row) = paused else {
            let waiting = ledger.head().is_some_and(|head| head.cmd.is_some() || head.hold_until.is_some());
            return if waiting {
                Ok(Command::Resume { version: None })
            } else {
                Err(self.refused("nothing is paused, and nothing is on hold"))
            };
        };
        let version = row.version;
        match in_doubt(version, ledger).filter(|step| step.flags.starts_with("once")) {
            Some(step) => Err(self.refused(format!(
                "step {} ({}) of version {version} is marked once and its outcome is unknown: find out whether it took \
                 effect, then say mark-done or rerun",
                step.n + 1,
                step.task
            ))),
            None => Ok(Command::Resume { version: Some(version) }),
        }
    }

    fn step_in_doubt<'a>(
        &self,
        version: i64,
        ledger: &'a Ledger,
        catalog: &Catalog,
    ) -> Result<&'a StepRow, Problem> {
        match stand(version, ledger, catalog) {
            Stand::Failed(Some(step)) | Stand::Running(Some(step)) | Stand::Paused(Some(step)) => Ok(step),
            Stand::Paused(None) => Err(self.refused(format!(
                "no step of version {version} is in doubt: it was paused between two steps; say resume"
            ))),
            other => Err(self.not_in(version, &other)),
        }
    }

    fn abandon(&self, version: i64, ledger: &Ledger, catalog: &Catalog) -> Result<Order, Problem> {
        match stand(version, ledger, catalog) {
            Stand::Failed(_) | Stand::Running(_) | Stand::Paused(_) => {
                Ok(Order::Edit(vec![Transition::Abandon { version }]))
            }
            other => Err(self.not_in(version, &other)),
        }
    }

    fn restamp(&self, version: i64, ledger: &Ledger, catalog: &Catalog) -> Result<Order, Problem> {
        let Some(row) = ledger.version(version).filter(|row| row.state == VersionState::Completed) else {
            return Err(self.refused(format!(
                "version {version} is {}, and only what is completed has a checksum to restamp",
                ledger.version_state(version)
            )));
        };
        let Some(entry) = catalog.get(version) else {
            return Err(
                self.refused(format!("version {version} is not in this binary, which has its new text"))
            );
        };
        let (name, checksum) = (entry.name().to_owned(), entry.migration.checksum().to_owned());
        if row.checksum == checksum && row.name == name {
            return Err(self.refused(format!("version {version} has that name and checksum already")));
        }
        Ok(Order::Edit(vec![Transition::Restamp { version, name, checksum }]))
    }

    fn baseline(&self, version: i64, ledger: &Ledger, catalog: &Catalog) -> Result<Order, Problem> {
        if catalog.get(version).is_none() {
            return Err(self.refused(format!("version {version} is not in this binary")));
        }
        let open: Vec<&Entry> =
            catalog.pending(ledger).filter(|entry| entry.version().get() <= version).collect();
        if let Some(begun) = open.iter().find(|entry| {
            let version = entry.version().get();
            ledger.version(version).is_some() || ledger.steps_of(version).next().is_some()
        }) {
            return Err(self.refused(format!(
                "version {} was begun here: finish it, or say mark-done for its step",
                begun.version()
            )));
        }
        if open.is_empty() {
            return Err(self.refused(format!("all versions up to {version} are completed already")));
        }
        let baseline = |entry: &&Entry| {
            Transition::Baseline(Claim {
                version: entry.version().get(),
                name: entry.name().to_owned(),
                checksum: entry.migration.checksum().to_owned(),
                plan_digest: String::new(),
                out_of_order: false,
            })
        };
        Ok(Order::Edit(open.iter().map(baseline).collect()))
    }

    fn not_in(&self, version: i64, stand: &Stand<'_>) -> Problem {
        let name = self.name();
        self.refused(match stand {
            Stand::Unknown => format!("neither the ledger nor this binary has a version {version}"),
            Stand::Queued => format!("version {version} was not begun: there is nothing to {name}"),
            Stand::Completed => format!("version {version} is completed"),
            Stand::RolledBack => format!("version {version} is rolled back"),
            Stand::Running(_) => {
                format!("no step of version {version} is in doubt: the next run goes on with it")
            }
            Stand::Failed(_) => {
                format!("no step of version {version} has failed: the next run goes on with it")
            }
            Stand::Paused(_) => format!("version {version} is paused"),
        })
    }
}

fn stand<'a>(version: i64, ledger: &'a Ledger, catalog: &Catalog) -> Stand<'a> {
    match ledger.version_state(version) {
        VersionState::Running => Stand::Running(in_doubt(version, ledger)),
        VersionState::Paused => Stand::Paused(in_doubt(version, ledger)),
        VersionState::Completed => Stand::Completed,
        VersionState::RollbackRunning | VersionState::RollbackPaused | VersionState::RollbackCompleted => {
            Stand::RolledBack
        }
        VersionState::Queued => {
            let failed = ledger.steps_of(version).find(|row| row.state == StepState::Failed);
            match ledger.steps_of(version).next() {
                Some(_) => Stand::Failed(failed),
                None if catalog.get(version).is_some() => Stand::Queued,
                None => Stand::Unknown,
            }
        }
    }
}

/// The step of unknown outcome.
fn in_doubt(version: i64, ledger: &Ledger) -> Option<&StepRow> {
    ledger.steps_of(version).find(|row| row.state == StepState::Intent)
}
