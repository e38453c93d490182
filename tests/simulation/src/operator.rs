//! An operator who gives commands at random moments.

use std::sync::Arc;

use kandra_migrate::__internals::{Command, Dice, Expected, Ledger, Transaction, Verb, Writer};

use crate::catalogue::CATALOGUE;
use crate::coverage::Seen;
use crate::time::{MS, Nanos, SECOND, server_ms};
use crate::world::{Event, World};

/// How often a command is given anew that was overtaken by another write.
const TRIES_MAX: u32 = 6;

impl World {
    /// Schedules the commands.
    pub(crate) fn plan_operator(&mut self, end: Nanos) {
        if !self.random.per_mille(self.scenario.rates.operator) {
            return;
        }
        for _ in 0..self.random.between(1, 5) {
            let at = self.random.below(end);
            self.at(at, Event::World(Box::new(|world| world.command(None, TRIES_MAX))));
        }
        for _ in 0..self.random.below(6) {
            let at = self.random.below(end);
            self.at(at, Event::Edit);
        }
        if self.random.per_mille(700) {
            self.at(end, Event::World(Box::new(|world| world.command_resume(TRIES_MAX))));
        }
    }

    fn command_resume(&mut self, tries: u32) {
        let version = self.checker.paused();
        self.command(Some(Command::Resume { version }), tries);
    }

    /// Gives this command, or any.
    fn command(&mut self, command: Option<Command>, tries: u32) {
        // Rows that the engine has written and cannot read are found elsewhere.
        let Ok(ledger) = Ledger::from_rows(self.ledger.store.rows()) else { return };
        let command = command.unwrap_or_else(|| self.any_command());
        let dice = Dice::seeded(self.random.bits());
        let writer = Writer {
            owner: dice.nonce(),
            info: "operator".to_owned(),
            wall_ms: server_ms(self.now),
            reason: None,
        };
        let Some(write) = ledger.command(&writer, dice.nonce(), &command, "a drill") else { return };
        self.note(|_| format!("the operator says {command:?}"));
        let write = Arc::new(write);
        let arrives = self.latency();
        if self.random.per_mille(100) {
            let (again, late) = (Arc::clone(&write), arrives + self.random.below(5 * SECOND));
            self.after(late, move |world| {
                world.command_arrives(&again);
            });
        }
        self.after(arrives, move |world| {
            if !world.command_arrives(&write) && tries > 1 {
                let pause = world.random.below(300 * MS);
                world.after(pause, move |world| world.command(Some(command), tries - 1));
            }
        });
    }

    /// An edit of what is there, by an operator who has looked at it: whether a step has had its effect, and at which
    /// state of the ledger.
    pub(crate) fn any_edit(&mut self) -> Option<(Verb, Expected)> {
        let ledger = Ledger::from_rows(self.ledger.store.rows()).ok()?;
        let versions = self.scenario.binaries[0].len() as u64;
        let any = self.random.between(1, versions) as i64;
        let begun = self.checker.begun_version().filter(|_| self.random.per_mille(900));
        let version = begun.unwrap_or(any);
        let (verb, step) = match self.random.below(8) {
            0 => (Verb::Restamp(any), None),
            1 => (Verb::Baseline(any), None),
            2 => (Verb::Abandon(version), None),
            _ => match self.step_in_doubt(version) {
                Some((n, true)) => (Verb::MarkDone(version), Some(n + 1)),
                Some((n, false)) => (Verb::Rerun(version), Some(n + 1)),
                None => (Verb::Rerun(version), None),
            },
        };
        let op = Some(ledger.head().map(|head| head.op));
        Some((verb, Expected { step, op }))
    }

    /// The step that an edit is about, and whether any of its effect is there, or may still come.
    fn step_in_doubt(&self, version: i64) -> Option<(i64, bool)> {
        let (n, task) = self.checker.step_in_doubt(version)?;
        let step = CATALOGUE.find(&task)?;
        let pending = self.database.pending.iter().any(|at| self.database.statements[*at].step == step.id);
        Some((n, pending || self.database.has_any_effect(step)))
    }

    fn any_command(&mut self) -> Command {
        let versions = self.scenario.binaries[0].len() as u64;
        let version = self.random.between(1, versions) as i64;
        match self.random.below(4) {
            0 => Command::Resume { version: self.checker.paused() },
            1 => {
                let long = self.random.between(2000, 40_000) as i64;
                Command::Hold { until_ms: server_ms(self.now) + long }
            }
            // Most often the version that is being worked on.
            2 => Command::Pause { version: self.checker.in_flight().unwrap_or(version) },
            _ => Command::Pause { version },
        }
    }

    /// False where it was overtaken.
    fn command_arrives(&mut self, write: &Transaction) -> bool {
        if !self.ledger_answers() {
            return false;
        }
        self.ledger.store.set_server_ms(server_ms(self.now));
        let applied = self.ledger.store.apply_now(write).applied;
        if applied {
            self.count(Seen::Command);
            self.note(|_| "    the command is applied".to_owned());
            self.check_command();
        }
        applied
    }
}
