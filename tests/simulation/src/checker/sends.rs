//! What is sent, started, answered and has its effect.

use kandra_migrate::__internals::Coordinator;

use super::STARTS_MAX;
use crate::catalogue::{CATALOGUE, StepSpec, Work};
use crate::coverage::Seen;
use crate::database::Request;
use crate::port::node_of;
use crate::world::World;

impl World {
    /// A run sends a statement.
    pub(crate) fn check_send(&mut self, request: &Request, step: &StepSpec) {
        let run = request.run;
        if !self.checker.intents.contains(&(self.checker.epoch_of(run), step.id)) {
            let detail = format!("{} sends {} without", self.name(run), step.name);
            self.violate("what is sent was recorded as begun", detail);
        }
        if !matches!(step.work, Work::Code { .. }) {
            self.check_starts(run, step);
        }
        if self.database.effects.contains_key(&(step.id, request.write)) {
            self.count(Seen::RanTwice);
        }
        let holds = self.checker.holder() == Some(run);
        let pin = self.checker.raw.versions.get(&step.version).and_then(|row| row.pin_us);
        let expected = if step.is_pinned() { pin } else { None };
        if holds && (request.timestamp_us != expected || step.is_pinned() && pin.is_none()) {
            let detail = format!("{} has {:?}, its claim {pin:?}", step.name, request.timestamp_us);
            self.violate("each attempt of a claim writes with the claim's time", detail);
        }
        if !self.scenario.timing_holds() {
            return;
        }
        if !holds {
            let detail = format!("{} sends {} after it lost the lease", self.name(run), step.name);
            self.violate("only the holder sends", detail);
        }
        if step.is_schema() {
            self.check_node(request, step);
        }
        let earlier = self.database.pending.iter().find(|pending| {
            let earlier = &self.database.statements[**pending];
            let same_start = request.start > 0
                && (earlier.run, earlier.step, earlier.start) == (run, step.id, request.start);
            !earlier.written_off && !same_start
        });
        if let Some(earlier) = earlier.copied() {
            let of = self.database.statements[earlier].run;
            let detail = format!(
                "{} sends {} while #{earlier} of {} may still land",
                self.name(run),
                step.name,
                self.name(of)
            );
            self.violate("nothing is sent while something earlier may still land", detail);
        }
    }

    /// The node of a schema statement is in the journal before it is sent, so that a successor can ask it.
    fn check_node(&mut self, request: &Request, step: &StepSpec) {
        let row = self.checker.raw.steps.get(&(step.version, step.n));
        let named = row.and_then(|row| row.coordinator.clone());
        let named = named.and_then(|named| node_of(&Coordinator(named)));
        if request.node.is_none() || request.node != named {
            let detail = format!("{} goes to {:?}, its begin names {named:?}", step.name, request.node);
            self.violate("a schema statement goes to the node that its begin names", detail);
        }
        let Some(node) = request.node else { return };
        let group = *self.checker.groups.entry(request.run).or_insert(node);
        if group != node {
            let detail = format!("{} goes to {node}, the one before went to {group}", step.name);
            self.violate("schema statements go to one node until nodes agree", detail);
        }
    }

    /// The nodes that are up have one schema: so much they know.
    pub(crate) fn check_agreed(&mut self, run: usize, known: Vec<u32>) {
        self.checker.spread.extend(known);
        self.checker.groups.remove(&run);
    }

    fn check_starts(&mut self, run: usize, step: &StepSpec) {
        // A former holder's start waits at its guard, or is a violation of its own.
        if self.checker.holder() != Some(run) {
            return;
        }
        let starts = self.checker.start(step.id);
        if starts > STARTS_MAX {
            let detail = format!("{} starts {} for the {starts}th time", self.name(run), step.name);
            self.violate("ambiguous starts are bounded", detail);
        }
    }

    /// A run starts a code task.
    pub(crate) fn check_start(&mut self, run: usize, step: &StepSpec) {
        self.checker.returned.remove(&(run, step.id));
        self.check_starts(run, step);
    }

    /// A code task returns success.
    pub(crate) fn check_return(&mut self, run: usize, step: &StepSpec) {
        self.note(|world| format!("{} of {} returns success", step.name, world.name(run)));
        self.checker.returned.insert((run, step.id));
    }

    /// A code task returns an error.
    pub(crate) fn check_failure(&mut self, step: u32) {
        self.checker.failed.insert(step);
        // Below zero where a checkpoint has cleared the count since this start: the task's next try in the process is none.
        *self.checker.open_starts.entry(step).or_default() -= 1;
    }

    /// A run hears a definite answer to a statement.
    pub(crate) fn check_answer(&mut self, statement: usize, refused: bool) {
        let step = CATALOGUE.step(self.database.statements[statement].step);
        let code = matches!(step.work, Work::Code { .. });
        self.note(|_| format!("    #{statement} is answered: {}", if refused { "refused" } else { "done" }));
        if refused && !code {
            self.check_failure(step.id);
        }
    }

    /// A statement has its effect.
    pub(crate) fn check_landing(&mut self, step: u32, write: u8) {
        let step = CATALOGUE.step(step);
        let count = self.database.effects.get(&(step.id, write)).copied().unwrap_or_default();
        if step.is_once() && count > 1 {
            let detail = format!("{} (write {write}) landed {count} times", step.name);
            self.violate("what is marked once has its effect at most once", detail);
        }
    }
}
