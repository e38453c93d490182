//! The database that is migrated: nodes with their schema, statements under way, and the effects that they had.

use std::collections::{BTreeMap, BTreeSet};

use kandra_migrate::__internals::{Agreed, SendError};

use crate::catalogue::{CATALOGUE, StepSpec, Work};
use crate::coverage::Seen;
use crate::ledger::cause;
use crate::scenario::Poison;
use crate::time::{MS, Nanos, SECOND};
use crate::world::{Answering, World};

pub(crate) const NODES: usize = 3;

/// Whether a node's process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeState {
    Up,
    /// It stands still, and goes on where it was.
    Stopped,
    Down,
}

/// A node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) state: NodeState,
    since: Nanos,
    boot: u32,
    /// The schema steps whose effect it knows.
    schema: BTreeSet<u32>,
    /// Statements that wait until it goes on.
    stuck: Vec<usize>,
}

/// How long peers and clients take a stopped node for one that is up.
const STOPPED_SEEN_AFTER: Nanos = 4 * SECOND;

/// Where a statement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It may still have its effect.
    Pending,
    Landed,
    Dead,
}

/// A statement that was sent.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub(crate) run: usize,
    /// The epoch in which its run held the lease.
    pub(crate) epoch: i64,
    pub(crate) step: u32,
    /// Which of a code task's writes.
    pub(crate) write: u8,
    /// Which start of a code task it is part of.
    pub(crate) start: u64,
    pub(crate) progress: Progress,
    /// Its node was asked, did not answer in time, and was not waited for longer.
    pub(crate) written_off: bool,
    node: Option<(usize, u32)>,
}

/// What a run wants to be done.
pub(crate) struct Request {
    pub(crate) run: usize,
    pub(crate) step: u32,
    pub(crate) write: u8,
    pub(crate) start: u64,
    /// The journal's coordinator, for a schema statement.
    pub(crate) node: Option<usize>,
    pub(crate) timestamp_us: Option<i64>,
    /// In the world's time.
    pub(crate) timeout: Nanos,
}

/// The database.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) nodes: Vec<Node>,
    pub(crate) statements: Vec<Statement>,
    /// Indices of those that may still land.
    pub(crate) pending: Vec<usize>,
    /// How often each write of each step has landed.
    pub(crate) effects: BTreeMap<(u32, u8), u32>,
}

impl Database {
    pub(crate) fn new() -> Self {
        let node =
            |_| Node { state: NodeState::Up, since: 0, boot: 0, schema: BTreeSet::new(), stuck: Vec::new() };
        Self {
            nodes: (0..NODES).map(node).collect(),
            statements: Vec::new(),
            pending: Vec::new(),
            effects: BTreeMap::new(),
        }
    }

    /// Whether all of a step's effect is somewhere in the database, to stay.
    pub(crate) fn has_effect(&self, step: &StepSpec) -> bool {
        if step.is_schema() {
            return self.nodes.iter().any(|node| node.schema.contains(&step.id));
        }
        (0..step.writes()).all(|write| self.effects.contains_key(&(step.id, write)))
    }

    fn is_up(&self, node: usize) -> bool {
        self.nodes[node].state == NodeState::Up
    }

    fn settle(&mut self, statement: usize, progress: Progress) {
        self.statements[statement].progress = progress;
        self.pending.retain(|pending| *pending != statement);
    }

    /// Whether a node may still be at work on a schema statement.
    pub(crate) fn is_busy(&self, node: usize) -> bool {
        let of_node = |pending: &usize| self.statements[*pending].node.is_some_and(|(at, _)| at == node);
        self.pending.iter().any(of_node)
    }

    /// Whether all nodes that are seen to be up have one schema.
    pub(crate) fn agrees(&self, now: Nanos) -> bool {
        let seen_up = |node: &&Node| match node.state {
            NodeState::Up => true,
            NodeState::Stopped => now < node.since + STOPPED_SEEN_AFTER,
            NodeState::Down => false,
        };
        let mut up = self.nodes.iter().filter(seen_up);
        let first = up.next();
        up.all(|node| node.state == NodeState::Up && Some(&node.schema) == first.map(|node| &node.schema))
            && first.is_none_or(|node| node.state == NodeState::Up)
    }
}

type SendAnswer = Result<(), SendError>;

impl World {
    /// A node that is up.
    pub(crate) fn any_node(&mut self) -> Option<usize> {
        let up: Vec<_> = (0..NODES).filter(|node| self.database.is_up(*node)).collect();
        (!up.is_empty()).then(|| *self.random.pick(&up))
    }

    /// A run sends a statement.
    pub(crate) fn send(&mut self, request: &Request, to: &Answering<SendAnswer>) {
        let step = CATALOGUE.step(request.step);
        self.check_send(request, step);
        if self.faults && self.scenario.poison == Some((step.id, Poison::Deadly)) {
            self.doomed = Some(request.run);
        }
        let node = request.node.filter(|_| step.is_schema());
        let node = node.map(|node| (node, self.database.nodes[node].boot));
        let statement = self.database.statements.len();
        self.database.statements.push(Statement {
            run: request.run,
            epoch: self.checker.epoch_of(request.run),
            step: step.id,
            write: request.write,
            start: request.start,
            progress: Progress::Pending,
            written_off: false,
            node,
        });
        self.database.pending.push(statement);
        self.note(|world| {
            let at = node.map(|(node, _)| format!(" to node {node}")).unwrap_or_default();
            format!("{} sends #{statement} {} ({}){at}", world.name(request.run), step.name, request.write)
        });
        self.give_statement_up(request.timeout, to, false);
        if step.is_schema()
            && !node.is_some_and(|(node, _)| self.database.nodes[node].state != NodeState::Down)
        {
            self.refuse(statement, to, SendError::Passing(cause("connection refused")));
            return;
        }
        let poisoned = self.scenario.poison == Some((step.id, Poison::Refused));
        if poisoned || self.strikes(self.scenario.rates.statement_refused) {
            self.count(Seen::StatementRefused);
            self.refuse(statement, to, SendError::Refused(cause("the server said no")));
        } else if self.strikes(self.scenario.rates.statement_passing) {
            self.count(Seen::StatementPassing);
            self.refuse(statement, to, SendError::Passing(cause("overloaded")));
        } else if self.strikes(self.scenario.rates.statement_vanishes) {
            self.count(Seen::StatementVanished);
            self.database.settle(statement, Progress::Dead);
            self.give_statement_up_soon(request.timeout, to);
        } else if step.is_schema() {
            self.go_to_node(statement, request.timeout, to);
        } else {
            self.go_to_data(statement, request.timeout, to);
        }
    }

    /// The client's own timeout, or a connection that breaks.
    fn give_statement_up(&mut self, timeout: Nanos, to: &Answering<SendAnswer>, broken: bool) {
        let after = if broken { self.latency().min(timeout) } else { timeout };
        let to = to.clone();
        self.after(after, move |_| {
            to.answer(Err(SendError::Unknown(cause("no answer"))));
        });
    }

    fn give_statement_up_soon(&mut self, timeout: Nanos, to: &Answering<SendAnswer>) {
        let broken = self.random.per_mille(500);
        self.give_statement_up(timeout, to, broken);
    }

    fn refuse(&mut self, statement: usize, to: &Answering<SendAnswer>, error: SendError) {
        self.database.settle(statement, Progress::Dead);
        self.answer_statement(statement, to, Err(error));
    }

    fn answer_statement(&mut self, statement: usize, to: &Answering<SendAnswer>, answer: SendAnswer) {
        let (to, back) = (to.clone(), self.latency());
        self.after(back, move |world| {
            let definite = !matches!(answer, Err(SendError::Unknown(_)));
            let refused = matches!(answer, Err(SendError::Refused(_) | SendError::Passing(_)));
            if to.answer(answer) && definite {
                world.check_answer(statement, refused);
            }
        });
    }

    fn go_to_data(&mut self, statement: usize, timeout: Nanos, to: &Answering<SendAnswer>) {
        let soon = self.latency();
        if self.strikes(self.scenario.rates.statement_delayed) {
            self.count(Seen::StatementDelayed);
            let latest = self.scenario.data_lands_within;
            let late = *self.random.pick(&[latest / 4, latest / 2, latest]);
            self.after(late, move |world| world.land(statement));
            self.give_statement_up_soon(timeout, to);
        } else if self.strikes(self.scenario.rates.statement_lost) {
            self.count(Seen::StatementAnswerLost);
            self.after(soon, move |world| world.land(statement));
            self.give_statement_up_soon(timeout, to);
        } else {
            let to = to.clone();
            self.after(soon, move |world| {
                world.land(statement);
                world.answer_statement(statement, &to, Ok(()));
            });
        }
    }

    fn go_to_node(&mut self, statement: usize, timeout: Nanos, to: &Answering<SendAnswer>) {
        let soon = self.latency();
        let lost = self.strikes(self.scenario.rates.statement_lost);
        if lost {
            self.count(Seen::StatementAnswerLost);
            self.give_statement_up_soon(timeout, to);
        }
        let to = (!lost).then(|| to.clone());
        self.after(soon, move |world| world.arrive_at_node(statement, to));
    }

    fn arrive_at_node(&mut self, statement: usize, to: Option<Answering<SendAnswer>>) {
        let Some((node, boot)) = self.database.statements[statement].node else { return };
        let at = &mut self.database.nodes[node];
        if at.state == NodeState::Down || at.boot != boot {
            self.database.settle(statement, Progress::Dead);
            if let Some(to) = to {
                self.answer_statement(statement, &to, Err(SendError::Unknown(cause("connection broken"))));
            }
            return;
        }
        if at.state == NodeState::Up && self.strikes(self.scenario.rates.coordinator_stops) {
            self.trouble_node(node, NodeState::Stopped, 0);
        }
        if self.database.nodes[node].state == NodeState::Stopped {
            // Its client gives up meanwhile; nobody waits for the answer any more.
            self.database.nodes[node].stuck.push(statement);
            self.count(Seen::StatementStuck);
            self.note(|_| format!("    #{statement} is stuck in node {node}"));
            return;
        }
        let answer = self.execute(statement, node);
        if self.strikes(self.scenario.rates.coordinator_dies) {
            // Before or after it has told the others.
            let soon = self.random.below(100 * MS);
            self.trouble_node(node, NodeState::Down, soon);
        }
        if let Some(to) = to {
            self.answer_statement(statement, &to, answer);
        }
    }

    /// A node carries a schema statement out.
    fn execute(&mut self, statement: usize, node: usize) -> SendAnswer {
        let step = CATALOGUE.step(self.database.statements[statement].step);
        let Work::Schema { needs, guarded } = step.work else { return Ok(()) };
        let known = &self.database.nodes[node].schema;
        let (there, lacks) = (known.contains(&step.id), needs.is_some_and(|needed| !known.contains(&needed)));
        if there && !guarded {
            self.count(Seen::AlreadyExists);
            self.database.settle(statement, Progress::Dead);
            return Err(SendError::Refused(cause("it exists already")));
        }
        if lacks {
            self.database.settle(statement, Progress::Dead);
            return Err(SendError::Refused(cause("unconfigured table")));
        }
        self.land(statement);
        self.database.nodes[node].schema.insert(step.id);
        self.gossip(node);
        Ok(())
    }

    /// A node tells the others what it knows of the schema.
    fn gossip(&mut self, from: usize) {
        for to in (0..NODES).filter(|to| *to != from) {
            let slow = self.strikes(100);
            let after = if slow { self.random.below(3 * SECOND) } else { self.random.below(200 * MS) };
            self.after(after, move |world| {
                if world.database.is_up(from) && world.database.is_up(to) {
                    let known = world.database.nodes[from].schema.clone();
                    world.database.nodes[to].schema.extend(known);
                }
            });
        }
    }

    fn land(&mut self, statement: usize) {
        self.database.settle(statement, Progress::Landed);
        let landed = &self.database.statements[statement];
        let (step, write, run, epoch) = (landed.step, landed.write, landed.run, landed.epoch);
        *self.database.effects.entry((step, write)).or_default() += 1;
        if self.checker.head().is_some_and(|head| head.epoch != epoch) {
            self.count(Seen::StatementLandedLate);
        }
        self.note(|world| format!("    #{statement} of {} has its effect", world.name(run)));
        self.check_landing(step, write);
    }

    /// Schedules what happens to nodes.
    pub(crate) fn plan_nodes(&mut self, end: Nanos) {
        for (rate, state) in [
            (self.scenario.rates.node_stop, NodeState::Stopped),
            (self.scenario.rates.node_kill, NodeState::Down),
        ] {
            if !self.random.per_mille(rate) {
                continue;
            }
            for _ in 0..self.random.between(1, 6) {
                let (node, from) = (self.random.index(NODES), self.random.below(end));
                self.trouble_node(node, state, from - self.now.min(from));
            }
        }
    }

    /// Stops or kills a node after a time, for a time.
    fn trouble_node(&mut self, node: usize, state: NodeState, after: Nanos) {
        let long = self.random.below(20 * SECOND);
        if after == 0 {
            self.set_node(node, state);
        } else {
            self.after(after, move |world| world.set_node(node, state));
        }
        self.after(after + long, move |world| world.set_node(node, NodeState::Up));
    }

    pub(crate) fn set_node(&mut self, node: usize, state: NodeState) {
        let now = self.now;
        let at = &mut self.database.nodes[node];
        let before = at.state;
        let trouble = state != NodeState::Up;
        if before == state || trouble && (before != NodeState::Up || !self.faults) {
            return;
        }
        (at.state, at.since) = (state, now);
        let stuck = std::mem::take(&mut at.stuck);
        self.note(|_| format!("node {node} is {state:?}"));
        match state {
            NodeState::Stopped => self.count(Seen::NodeStopped),
            NodeState::Down => {
                self.count(Seen::NodeKilled);
                self.database.nodes[node].boot += 1;
            }
            NodeState::Up => {
                for statement in stuck {
                    let soon = self.random.below(50 * MS);
                    self.after(soon, move |world| world.arrive_at_node(statement, None));
                }
                for from in 0..NODES {
                    self.gossip(from);
                }
            }
        }
        if state == NodeState::Down {
            let lost: Vec<_> = self.database.pending.clone();
            for statement in lost {
                if self.database.statements[statement].node.is_some_and(|(at, _)| at == node) {
                    self.database.settle(statement, Progress::Dead);
                }
            }
        }
    }

    /// A node does not answer, and is not waited for longer.
    pub(crate) fn write_off(&mut self, node: usize) {
        for pending in &self.database.pending {
            let statement = &mut self.database.statements[*pending];
            if statement.node.is_some_and(|(at, _)| at == node) {
                statement.written_off = true;
            }
        }
    }

    /// The nodes that are up have one schema, as a run has found.
    pub(crate) fn agreed(&mut self, run: usize, with: Option<usize>) -> Agreed {
        let known = self.database.nodes.iter().filter(|node| node.state == NodeState::Up);
        let known: Vec<_> = known.flat_map(|node| node.schema.iter().copied()).collect();
        self.check_agreed(run, known);
        if with.is_none_or(|node| self.database.is_up(node)) {
            return Agreed::All;
        }
        self.count(Seen::AgreedWithoutIt);
        Agreed::WithoutIt
    }

    /// Whether one node, any that is up, knows a step's effect; `None` where no node is up.
    pub(crate) fn probe(&mut self, step: u32) -> Option<bool> {
        let node = self.any_node()?;
        Some(self.database.nodes[node].schema.contains(&step))
    }
}
