//! The binary's migrations, as the engine sees them.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Problem;
use crate::ledger::{Claim, Ledger, VersionRow, frontier};
use crate::migration::{Migration, Version};
use crate::plan::{Destination, Step, Steps};

/// The binary's migrations by version.
#[derive(Debug)]
pub struct Catalog {
    entries: BTreeMap<i64, Entry>,
    /// Versions of the binary above the one that this run goes up to.
    beyond: BTreeSet<i64>,
    /// Whether the first version that is deferred, and not completed, is where the run ends.
    stops: bool,
}

/// One migration; its plan is compiled only once it is known to be pending.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) migration: &'static Migration,
    steps: Option<Steps>,
}

impl Entry {
    pub(crate) fn version(&self) -> Version {
        self.migration.version()
    }

    pub(crate) fn name(&self) -> &str {
        self.migration.name()
    }

    /// The compiled plan.
    ///
    /// # Panics
    /// Where the version was not pending when the plans were compiled: a bug of the engine.
    pub(crate) fn steps(&self) -> &Steps {
        self.steps.as_ref().expect("pending plans are compiled before the lease is asked for")
    }

    pub(crate) fn step(&self, n: i64) -> &Step {
        self.steps().get(n)
    }

    pub(crate) fn claim(&self, ledger: &Ledger) -> Claim {
        let version = self.version().get();
        Claim {
            version,
            name: self.name().to_owned(),
            checksum: self.migration.checksum().to_owned(),
            plan_digest: self.steps().digest(),
            out_of_order: ledger.newest_completed().is_some_and(|newest| newest > version),
        }
    }
}

impl Catalog {
    /// Of these migrations, up to and including a version.
    #[must_use]
    pub fn new(migrations: &[&'static Migration], up_to: Option<i64>) -> Self {
        let wanted = |migration: &&Migration| up_to.is_none_or(|last| migration.version().get() <= last);
        let (wanted, beyond): (Vec<_>, Vec<_>) = migrations.iter().copied().partition(wanted);
        let entry =
            |migration: &'static Migration| (migration.version().get(), Entry { migration, steps: None });
        Self {
            entries: wanted.into_iter().map(entry).collect(),
            beyond: beyond.into_iter().map(|migration| migration.version().get()).collect(),
            stops: false,
        }
    }

    /// The same, of a run that ends before the first version that is deferred and not completed.
    #[must_use]
    pub fn before_deferred(self) -> Self {
        Self { stops: true, ..self }
    }

    /// Whether the binary has this version, though this run may not go up to it.
    pub(crate) fn knows(&self, version: i64) -> bool {
        self.entries.contains_key(&version) || self.beyond.contains(&version)
    }

    pub(crate) fn get(&self, version: i64) -> Option<&Entry> {
        self.entries.get(&version)
    }

    pub(crate) fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.values()
    }

    pub(crate) fn newest(&self) -> Option<Version> {
        self.entries.values().next_back().map(Entry::version)
    }

    /// What is not completed, ascending: pending or deferred.
    pub(crate) fn open<'a>(&'a self, ledger: &'a Ledger) -> impl Iterator<Item = &'a Entry> {
        self.entries().filter(|entry| !ledger.is_completed(entry.version().get()))
    }

    /// What a run has to apply, ascending.
    pub(crate) fn pending<'a>(&'a self, ledger: &'a Ledger) -> impl Iterator<Item = &'a Entry> {
        self.open(ledger).take_while(|entry| !self.ends_before(entry))
    }

    /// What a run leaves: the first version that is deferred, and all behind it.
    pub(crate) fn deferred<'a>(&'a self, ledger: &'a Ledger) -> impl Iterator<Item = &'a Entry> {
        self.open(ledger).skip_while(|entry| !self.ends_before(entry))
    }

    fn ends_before(&self, entry: &Entry) -> bool {
        self.stops && entry.migration.is_after_start()
    }

    /// Compiles the plans of all pending versions, so that an error in the last of them is found before the first
    /// statement is sent. One in what is deferred holds no start up.
    pub(crate) fn compile(&mut self, ledger: &Ledger, destination: &Destination) -> Result<(), Problem> {
        for (version, entry) in &mut self.entries {
            if ledger.is_completed(*version) {
                continue;
            }
            if self.stops && entry.migration.is_after_start() {
                break;
            }
            if entry.steps.is_none() {
                entry.steps = Some(Steps::compile(entry.migration, destination)?);
            }
        }
        Ok(())
    }

    /// The digest that the ledger's head has when just this binary's migrations are completed.
    #[must_use]
    pub fn frontier(&self) -> String {
        frontier_of_entries(self.entries())
    }

    /// What is deferred where the ledger's head has this frontier: that of just what comes before one of the deferred
    /// versions. `None` where it has another one, so that the versions have to be read.
    pub(crate) fn deferred_at(&self, frontier: &str) -> Option<Vec<&Entry>> {
        // From the newest: what was deferred long ago is applied.
        let mut deferred = self.entries().filter(|entry| self.ends_before(entry)).rev();
        let first = deferred.find(|entry| self.frontier_below(entry.version().get()) == frontier)?;
        Some(self.entries.range(first.version().get()..).map(|(_, entry)| entry).collect())
    }

    fn frontier_below(&self, version: i64) -> String {
        frontier_of_entries(self.entries.range(..version).map(|(_, entry)| entry))
    }

    /// The digest over what is completed: names and checksums as this binary has them, and as stored where it does
    /// not have them, or has another text.
    pub(crate) fn frontier_of(&self, ledger: &Ledger) -> String {
        self.frontier_over(ledger.versions().filter(|row| ledger.is_completed(row.version)))
    }

    /// The same, once `version` is completed too.
    pub(crate) fn frontier_with(&self, ledger: &Ledger, version: i64) -> String {
        let completed = |row: &&VersionRow| row.version == version || ledger.is_completed(row.version);
        self.frontier_over(ledger.versions().filter(completed))
    }

    fn frontier_over<'a>(&'a self, completed: impl Iterator<Item = &'a VersionRow>) -> String {
        // A run has compared them. An operator's edit has not, and must not make an edited text look like the applied one.
        let is_ours = |row: &VersionRow, entry: &&Entry| {
            entry.migration.accepts(&row.checksum) || !entry.migration.knows_format_of(&row.checksum)
        };
        frontier(completed.map(|row| match self.get(row.version).filter(|entry| is_ours(row, entry)) {
            Some(entry) => (row.version, entry.name(), entry.migration.checksum()),
            None => (row.version, row.name.as_str(), row.checksum.as_str()),
        }))
    }
}

fn frontier_of_entries<'a>(entries: impl Iterator<Item = &'a Entry>) -> String {
    frontier(entries.map(|entry| (entry.version().get(), entry.name(), entry.migration.checksum())))
}
