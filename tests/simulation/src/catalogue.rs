//! The migrations that simulations run: for each version a number of plans, and edits of each.
//!
//! A migration has a function for its plan, not a closure, so that all of them are made ahead of time.

use std::collections::HashMap;
use std::sync::LazyLock;

use kandra_migrate::__private::Source;
use kandra_migrate::{Migration, Plan, Task, TaskContext, code, cql};

use crate::random::Random;

/// The keyspace that is migrated.
pub(crate) const KEYSPACE: &str = "shop";

pub(crate) const VERSIONS: usize = 5;
pub(crate) const PLANS: usize = 16;
/// One in so many plans is that of a version which a start does not wait for.
const PLANS_PER_DEFERRED: usize = 4;
const EDITS: usize = 4;
const STEPS_MAX: u64 = 4;
const WRITES_MAX: u64 = 3;

/// How a migration differs from its first text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edit {
    None,
    /// One step more at the end.
    Longer,
    /// Another last step.
    OtherEnd,
    /// Another first step.
    OtherBegin,
}

impl Edit {
    pub(crate) const ALL: [Self; EDITS] = [Self::None, Self::Longer, Self::OtherEnd, Self::OtherBegin];
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// A schema statement; `needs` is the step that makes what it changes.
    Schema { needs: Option<u32>, guarded: bool },
    /// A data statement that can be sent twice.
    Insert,
    /// A data statement that cannot.
    Count,
    /// A code task of so many writes.
    Code { writes: u8, once: bool, checkpoints: bool },
}

/// A step, as the world knows it.
#[derive(Debug, Clone)]
pub(crate) struct StepSpec {
    pub(crate) id: u32,
    pub(crate) version: i64,
    pub(crate) n: i64,
    /// The task's name in the journal; unique.
    pub(crate) name: String,
    pub(crate) work: Work,
    pub(crate) text: String,
    retries: u32,
}

impl StepSpec {
    pub(crate) fn is_once(&self) -> bool {
        matches!(self.work, Work::Count | Work::Code { once: true, .. })
    }

    pub(crate) fn is_schema(&self) -> bool {
        matches!(self.work, Work::Schema { .. })
    }

    pub(crate) fn is_pinned(&self) -> bool {
        matches!(self.work, Work::Insert | Work::Code { .. })
    }

    /// How many effects it has.
    pub(crate) fn writes(&self) -> u8 {
        match self.work {
            Work::Code { writes, .. } => writes,
            _ => 1,
        }
    }

    fn task(&self) -> Task {
        let task = match self.work {
            Work::Code { once, .. } => {
                let task = code(self.name.clone(), async |_: TaskContext| Ok(()));
                if once { task.once() } else { task.idempotent() }
            }
            _ => cql(self.text.clone()).named(self.name.clone()),
        };
        task.retries(self.retries)
    }
}

/// All plans, by version, plan and edit.
pub(crate) struct Catalogue {
    steps: Vec<StepSpec>,
    /// Indices into `steps`.
    plans: Vec<Vec<usize>>,
    migrations: Vec<Migration>,
    /// By statement, by a task's name and by the name of a schema object.
    names: HashMap<String, usize>,
}

pub(crate) static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::new);

impl Catalogue {
    /// The migration of a version, with one of its plans.
    pub(crate) fn migration(&self, version: usize, plan: usize, edit: Edit) -> &Migration {
        &self.migrations[index(version, plan, edit)]
    }

    /// The steps of a migration, found by its checksum.
    pub(crate) fn steps_of(&self, checksum: &str) -> Option<impl Iterator<Item = &StepSpec>> {
        let found = self.migrations.iter().position(|migration| migration.checksum() == checksum)?;
        Some(self.plans[found].iter().map(|step| &self.steps[*step]))
    }

    /// The step with this statement, task or object.
    pub(crate) fn find(&self, name: &str) -> Option<&StepSpec> {
        self.names.get(name).map(|step| &self.steps[*step])
    }

    pub(crate) fn step(&self, id: u32) -> &StepSpec {
        &self.steps[id as usize]
    }

    fn new() -> Self {
        let mut catalogue =
            Self { steps: Vec::new(), plans: Vec::new(), migrations: Vec::new(), names: HashMap::new() };
        for version in 1..=VERSIONS {
            for plan in 0..PLANS {
                catalogue.add(version, plan);
            }
        }
        catalogue
    }

    fn add(&mut self, version: usize, plan: usize) {
        let mut random = Random::new((version * PLANS + plan) as u64);
        let count = random.between(1, STEPS_MAX);
        let first: Vec<_> = (0..count).map(|n| self.step_of(&mut random, version, plan, n, "")).collect();
        for edit in Edit::ALL {
            let mut steps = first.clone();
            let last = count - 1;
            match edit {
                Edit::None => {}
                Edit::Longer => steps.push(self.step_of(&mut random, version, plan, count, "l")),
                Edit::OtherEnd => {
                    steps[last as usize] = self.step_of(&mut random, version, plan, last, "e");
                }
                // A later step may stand on the first; then only the text around the plan is another.
                Edit::OtherBegin if self.is_needed(first[0]) => {}
                Edit::OtherBegin => steps[0] = self.step_of(&mut random, version, plan, 0, "b"),
            }
            let checksum = format!("k1:{version}.{plan}.{edit:?}");
            self.migrations.push(Migration::new(Source {
                version: version as i64,
                name: Box::leak(format!("m{version}").into_boxed_str()),
                checksum: Box::leak(checksum.into_boxed_str()),
                also: &[],
                accept: &[],
                reaches_outside: None,
                out_of_order: false,
                after_start: plan.is_multiple_of(PLANS_PER_DEFERRED),
                file: "m.rs",
                line: 1,
                module_path: "simulation::m",
                files: &[],
                plan: PLAN_OF[self.plans.len()],
            }));
            self.plans.push(steps);
        }
    }

    fn is_needed(&self, step: usize) -> bool {
        let stands_on = |other: &StepSpec| matches!(other.work, Work::Schema { needs: Some(id), .. } if id as usize == step);
        self.steps.iter().any(stands_on)
    }

    fn step_of(&mut self, random: &mut Random, version: usize, plan: usize, n: u64, mark: &str) -> usize {
        let object = format!("s{version}_{plan}_{n}{mark}");
        let table = format!("CREATE TABLE {KEYSPACE}.{object} (id int PRIMARY KEY, v int)");
        let earlier = self.steps.last().filter(|step| {
            step.is_schema() && step.version == version as i64 && step.name.starts_with("CREATE TABLE")
        });
        let (work, text) = match (random.below(8), earlier) {
            (0 | 1, Some(needed)) if n > 0 && mark.is_empty() => {
                let on = needed.name.rsplit(' ').next().unwrap_or_default();
                let text = format!("CREATE INDEX {object} ON {KEYSPACE}.{on} (v)");
                (Work::Schema { needs: Some(needed.id), guarded: false }, text)
            }
            (0..=2, _) => (Work::Schema { needs: None, guarded: false }, table),
            (3, _) => {
                let text = table.replacen("TABLE", "TABLE IF NOT EXISTS", 1);
                (Work::Schema { needs: None, guarded: true }, text)
            }
            (4, _) => (Work::Insert, format!("INSERT INTO {KEYSPACE}.rows (id, v) VALUES ('{object}', 1)")),
            (5, _) => (Work::Count, format!("UPDATE {KEYSPACE}.counts SET v = v + 1 WHERE id = '{object}'")),
            (6, _) => {
                let once = random.per_mille(300);
                let writes = random.between(1, WRITES_MAX) as u8;
                (Work::Code { writes, once, checkpoints: random.per_mille(500) }, String::new())
            }
            _ => (Work::Code { writes: 2, once: false, checkpoints: true }, String::new()),
        };
        let verb = match work {
            Work::Schema { needs: Some(_), .. } => "CREATE INDEX",
            Work::Schema { .. } => "CREATE TABLE",
            Work::Insert => "INSERT",
            Work::Count => "UPDATE",
            Work::Code { .. } => "code",
        };
        let index = self.steps.len();
        let name = format!("{verb} {object}");
        for key in [&name, &text, &object].into_iter().filter(|key| !key.is_empty()) {
            self.names.insert(key.clone(), index);
        }
        let retries = if random.per_mille(200) { 2 } else { 0 };
        let spec =
            StepSpec { id: index as u32, version: version as i64, n: n as i64, name, work, text, retries };
        self.steps.push(spec);
        index
    }
}

fn index(version: usize, plan: usize, edit: Edit) -> usize {
    ((version - 1) * PLANS + plan) * EDITS + edit as usize
}

/// The plan with this index.
fn plan<const INDEX: usize>() -> Plan {
    let catalogue = &*CATALOGUE;
    Plan::new(catalogue.plans[INDEX].iter().map(|step| catalogue.steps[*step].task()))
}

macro_rules! plans {
    ($($tens:literal)*) => {
        &[$(
            plan::<{ 10 * $tens }>, plan::<{ 10 * $tens + 1 }>, plan::<{ 10 * $tens + 2 }>,
            plan::<{ 10 * $tens + 3 }>, plan::<{ 10 * $tens + 4 }>, plan::<{ 10 * $tens + 5 }>,
            plan::<{ 10 * $tens + 6 }>, plan::<{ 10 * $tens + 7 }>, plan::<{ 10 * $tens + 8 }>,
            plan::<{ 10 * $tens + 9 }>,
        )*]
    };
}

const PLAN_OF: &[fn() -> Plan; VERSIONS * PLANS * EDITS] =
    plans!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
