//! What an operator can do, as a library.

use std::time::Duration;

use crate::boxed::boxed;
use crate::clock::{Dice, SystemClock};
use crate::engine::{Env, Expected, Identity, Operator, Verb};
use crate::error::Error;
use crate::executor::CqlExecutor;
use crate::report::AuditEvent;
use crate::runner::{Parts, Runner, info};
use crate::store::CqlStore;

/// The verbs of an operator, each with a reason that stays in the audit trail. Made by
/// [`Runner::control`](crate::Runner::control).
///
/// *Commands* (`pause`, `resume`, `hold`) are written while somebody else may hold the lease: a live holder obeys
/// before its next step. *Edits* (all others) need the lease: they are refused while a live run holds it, with its
/// name, and wait for the lapse of one that is dead.
///
/// What each does in each state of its version; where it is refused, it says why ([`KM0056`](crate::Code::VerbRefused))
/// and changes nothing:
///
/// | | not begun | failed | running | paused | completed |
/// |---|---|---|---|---|---|
/// | `pause` | is not begun | is not begun | stops before its next step | refused | refused |
/// | `resume` | takes a pause back | takes a pause back | refused | goes on; refused for a `once` step in doubt | refused |
/// | `mark_done` | refused | the failed step counts as done | of a dead run: the step in doubt counts as done | so too, and goes on | refused |
/// | `rerun` | refused | is tried again at once | of a dead run: the step in doubt is run again | so too, and goes on | refused |
/// | `abandon` | refused | its journal goes | of a dead run: claim and journal go | so too | refused |
/// | `restamp` | refused | refused | refused | refused | has the binary's name and checksum |
/// | `baseline` | counts as completed | refused | refused | refused | stays |
#[derive(Debug)]
pub struct Control<'r> {
    runner: Runner<'r>,
}

impl<'r> Control<'r> {
    pub(crate) fn new(runner: Runner<'r>) -> Self {
        Self { runner }
    }

    /// Stops a version before its next step, or keeps it from being begun, until [`Control::resume`].
    pub async fn pause(&self, version: i64, reason: &str) -> Result<(), Error> {
        self.carry_out(&Verb::Pause(version), reason).await
    }

    /// Lets a paused version go on; takes back a pause that was not acted on, and a hold.
    pub async fn resume(&self, reason: &str) -> Result<(), Error> {
        self.carry_out(&Verb::Resume, reason).await
    }

    /// Keeps everything that is not begun from being begun, for so long by the server's clock.
    pub async fn hold(&self, time: Duration, reason: &str) -> Result<(), Error> {
        let ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        self.carry_out(&Verb::Hold { ms }, reason).await
    }

    /// Says that the step in doubt of this version has had its effect.
    pub async fn mark_done(&self, version: i64, reason: &str) -> Result<(), Error> {
        self.carry_out(&Verb::MarkDone(version), reason).await
    }

    /// Like [`Control::mark_done`], of this step, from 1: refused where another one is in doubt or has failed.
    pub async fn mark_step_done(&self, version: i64, step: i64, reason: &str) -> Result<(), Error> {
        let expected = Expected { step: Some(step), op: None };
        self.carry_out_on(&Verb::MarkDone(version), expected, reason).await
    }

    /// Says that the step in doubt of this version, or the one that failed, is to be run again.
    pub async fn rerun(&self, version: i64, reason: &str) -> Result<(), Error> {
        self.carry_out(&Verb::Rerun(version), reason).await
    }

    /// Like [`Control::rerun`], of this step, from 1: refused where another one is in doubt or has failed.
    pub async fn rerun_step(&self, version: i64, step: i64, reason: &str) -> Result<(), Error> {
        let expected = Expected { step: Some(step), op: None };
        self.carry_out_on(&Verb::Rerun(version), expected, reason).await
    }

    /// Takes back a claim that nothing will ever finish, and its journal. What its steps have done stays done.
    pub async fn abandon(&self, version: i64, reason: &str) -> Result<(), Error> {
        self.carry_out(&Verb::Abandon(version), reason).await
    }

    /// Accepts the binary's text of a completed version: an edit without effect on what was applied.
    pub async fn restamp(&self, version: i64, reason: &str) -> Result<(), Error> {
        self.carry_out(&Verb::Restamp(version), reason).await
    }

    /// Says that all versions up to this one were applied before there was a ledger.
    pub async fn baseline(&self, version: i64, reason: &str) -> Result<(), Error> {
        self.carry_out(&Verb::Baseline(version), reason).await
    }

    /// The newest entries of the audit trail, at most so many, oldest first.
    pub async fn events(&self, rows_max: u16) -> Result<Vec<AuditEvent>, Error> {
        let parts = self.runner.parts()?;
        let dice = Dice::system();
        let operator = self.operator(&parts, &dice, None);
        let events = operator.events(i32::from(rows_max)).await?;
        Ok(events.into_iter().map(AuditEvent::from).collect())
    }

    /// What a verb would change, and what was seen for that; or why it is refused.
    #[cfg(feature = "cli")]
    pub(crate) async fn preview(
        &self,
        verb: &Verb,
        expected: Expected,
    ) -> Result<(Vec<String>, Expected), Error> {
        let parts = self.runner.parts()?;
        let dice = Dice::system();
        Ok(self.operator(&parts, &dice, None).preview(verb, expected).await?)
    }

    pub(crate) async fn carry_out(&self, verb: &Verb, reason: &str) -> Result<(), Error> {
        self.carry_out_on(verb, Expected::default(), reason).await
    }

    /// Carries out a verb if the ledger still is as it was seen.
    pub(crate) async fn carry_out_on(
        &self,
        verb: &Verb,
        expected: Expected,
        reason: &str,
    ) -> Result<(), Error> {
        let parts = self.runner.parts()?;
        let dice = Dice::system();
        let mut operator = self.operator(&parts, &dice, Some(reason));
        Ok(boxed(operator.carry_out(verb, expected)).await?)
    }

    fn operator<'a>(
        &'a self,
        parts: &'a Parts,
        dice: &'a Dice,
        reason: Option<&str>,
    ) -> Operator<'a, CqlStore, SystemClock, CqlExecutor> {
        let env =
            Env { store: &parts.store, clock: parts.clock.as_ref(), dice, settings: self.runner.settings() };
        let identity = Identity {
            owner: dice.nonce(),
            info: info(self.runner.application_name()),
            reason: reason.map(str::to_owned),
        };
        let (keyspace, table) = (parts.destination.keyspace.clone(), parts.table.clone());
        Operator::new(env, &parts.executor, identity, &parts.catalog, keyspace, table)
    }
}
