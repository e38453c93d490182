//! What a verb works with.

use std::sync::{Arc, OnceLock};

use super::Runner;
use crate::clock::{Dice, SystemClock};
use crate::cql::{Value, Variables};
use crate::engine::{Catalog, Env, Reader, Shutdown};
use crate::error::{Error, Problem};
use crate::executor::{CqlExecutor, ExecutorSettings};
use crate::ledger::{LEDGER_TABLE, Ledger};
use crate::plan::Destination;
use crate::store::{CqlStore, ReadLevel, Slice, StoreSettings};

/// What a verb works with.
pub(crate) struct Parts {
    pub(crate) store: CqlStore,
    pub(crate) executor: CqlExecutor,
    pub(crate) clock: Arc<SystemClock>,
    pub(crate) catalog: Catalog,
    pub(crate) destination: Destination,
    pub(crate) table: String,
}

impl Parts {
    /// For a run that leaves what is deferred, or does not.
    pub(super) fn of_run(mut self, deferred: Deferred) -> Self {
        if deferred == Deferred::Left {
            self.catalog = self.catalog.before_deferred();
        }
        self
    }
}

/// What a run does about versions that are `after_start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deferred {
    /// It ends before the first of them.
    Left,
    /// They are versions as all others.
    Applied,
}

impl Runner<'_> {
    /// Those that are set, and `${replication}`.
    fn variables(&self) -> Result<Variables, Problem> {
        if self.variables.get("keyspace").is_some() {
            let why = "${keyspace} is the keyspace that is migrated: set it by .keyspace(\"…\")";
            return Err(Problem::Config(why.to_owned()));
        }
        self.variables.check().map_err(Problem::Config)?;
        let mut variables = self.variables.clone();
        if let (None, Some(replication)) = (variables.get("replication"), &self.settings.create_keyspace) {
            variables.set("replication", Value::parse(replication));
        }
        Ok(variables)
    }

    pub(crate) fn parts(&self) -> Result<Parts, Error> {
        self.settings.check().map_err(Problem::Config)?;
        let session_keyspace = self.session.get_keyspace().map(|keyspace| keyspace.as_ref().clone());
        let keyspace = self.keyspace_name().ok_or_else(|| {
            Problem::Config(
                "no keyspace: set .keyspace(\"…\"), or give the runner a session that has one".to_owned(),
            )
        })?;
        let destination = Destination::new(&*keyspace, session_keyspace).with(self.variables()?);
        let clock = Arc::clone(&self.clock);
        let ledger_keyspace = self.ledger_keyspace.clone().unwrap_or_else(|| keyspace.clone());
        let store = CqlStore::new(
            Arc::clone(&self.session),
            StoreSettings {
                ledger_keyspace: ledger_keyspace.clone(),
                table: LEDGER_TABLE.to_owned(),
                keyspace: keyspace.clone(),
                scope: self.scope.clone(),
                serial: self.serial,
                request_timeout: self.settings.request_timeout(),
            },
        );
        let executor = CqlExecutor::new(
            Arc::clone(store.database()),
            Arc::clone(&clock),
            ExecutorSettings {
                keyspace: keyspace.clone(),
                ledger_keyspace: ledger_keyspace.clone(),
                variables: destination.variables(),
                consistency: self.consistency,
                statement_timeout: self.settings.statement_timeout,
                table_ids: self.table_ids,
                nonce: Dice::system().nonce(),
            },
        );
        let table = format!("{ledger_keyspace}.{LEDGER_TABLE}");
        let catalog = Catalog::new(&self.registry.migrations()?, self.settings.up_to);
        Ok(Parts { store, executor, clock, catalog, destination, table })
    }

    /// The ledger as it is; an empty one where there is none.
    pub(crate) async fn ledger(&self, parts: &Parts) -> Result<Ledger, Error> {
        let dice = Dice::system();
        let reader = self.reader(parts, &dice);
        let ledger = reader.ledger(Slice::Versions, ReadLevel::Quorum).await?;
        reader.check_alone(&ledger).await?;
        Ok(ledger)
    }

    /// A reader that creates nothing.
    pub(super) fn reader<'a>(
        &'a self,
        parts: &'a Parts,
        dice: &'a Dice,
    ) -> Reader<'a, CqlStore, SystemClock> {
        let env = Env { store: &parts.store, clock: parts.clock.as_ref(), dice, settings: &self.settings };
        let (_, shutdown) = Shutdown::new();
        let keyspace = parts.destination.keyspace.clone();
        Reader { env, shutdown, creates: false, keyspace, table: parts.table.clone() }
    }
}

/// Host, process and application, as the ledger and other instances' messages name this run.
pub(crate) fn info(application: Option<&str>) -> String {
    static HOST: OnceLock<String> = OnceLock::new();
    let host = HOST.get_or_init(|| {
        std::env::var("HOSTNAME")
            .or_else(|_| std::fs::read_to_string("/proc/sys/kernel/hostname"))
            .unwrap_or_else(|_| "unknown host".to_owned())
    });
    let application = application.map(|application| format!(" ({application})")).unwrap_or_default();
    format!("{} pid {}{application}", host.trim(), std::process::id())
}
