//! Reading the ledger: it is created where it is missing, and a cluster that does not answer is asked for a while.

use std::time::Duration;

use super::backoff::Backoff;
use super::env::Env;
use super::shutdown::Shutdown;
use crate::clock::Clock;
use crate::error::Problem;
use crate::ledger::{Head, Ledger};
use crate::port::StoreError;
use crate::store::{CreateError, LedgerTable, ReadLevel, Rows, Slice, Store};

/// How long the creation of the ledger's table may take; a hundred instances may do it at once.
const CREATE_TIMEOUT: Duration = Duration::from_secs(120);

/// Reads the ledger of one keyspace.
pub(crate) struct Reader<'a, S, C> {
    pub(crate) env: Env<'a, S, C>,
    pub(crate) shutdown: Shutdown,
    /// Whether what is missing of the ledger is created; otherwise it reads as empty.
    pub(crate) creates: bool,
    /// The keyspace and the ledger's table, for messages.
    pub(crate) keyspace: String,
    pub(crate) table: String,
}

impl<S: Store, C: Clock> Reader<'_, S, C> {
    /// Reads a slice; creates the ledger where it is missing.
    pub(crate) async fn read(&self, slice: Slice, level: ReadLevel) -> Result<Rows, Problem> {
        let begun = self.env.clock.now();
        let mut asked = begun;
        let mut backoff = Backoff::of_watchers();
        loop {
            let error = match self.env.store.read(slice, level).await {
                Ok(rows) => return Ok(rows),
                Err(StoreError::Invalid(_)) if !self.creates && Box::pin(self.is_missing()).await? => {
                    return Ok(Rows::default());
                }
                Err(StoreError::Invalid(_)) if self.creates && Box::pin(self.bootstrap()).await? => {
                    asked = self.env.clock.now();
                    continue;
                }
                Err(error) => error,
            };
            // The table is there, and a node may not know it yet.
            let passing = matches!(error, StoreError::Invalid(_)) || is_passing(&error);
            self.pause_after(error, passing, asked.saturating_sub(begun), &mut backoff).await?;
            asked = self.env.clock.now();
        }
    }

    /// Reads a slice and folds it.
    pub(crate) async fn ledger(&self, slice: Slice, level: ReadLevel) -> Result<Ledger, Problem> {
        self.fold(self.read(slice, level).await?)
    }

    /// Runs and operators with other serial levels do not exclude each other.
    pub(crate) fn check_serial(&self, head: &Head) -> Result<(), Problem> {
        let ours = self.env.settings.serial_cl;
        if head.serial_cl == ours {
            return Ok(());
        }
        Err(Problem::SerialDiffers { stored: head.serial_cl.clone(), ours })
    }

    pub(crate) fn fold(&self, rows: Rows) -> Result<Ledger, Problem> {
        Ledger::from_rows(rows.rows).map_err(|error| self.located(Problem::of_ledger(error)))
    }

    /// A problem, with the names that its place does not know.
    pub(crate) fn located(&self, problem: Problem) -> Problem {
        problem.located(&self.keyspace, &self.table)
    }

    async fn is_missing(&self) -> Result<bool, Problem> {
        match self.inspect().await? {
            LedgerTable::Ready => Ok(false),
            LedgerTable::TableMissing => Ok(true),
            LedgerTable::KeyspaceMissing if self.env.settings.create_keyspace.is_some() => Ok(true),
            LedgerTable::KeyspaceMissing => Err(Problem::KeyspaceMissing { keyspace: self.keyspace.clone() }),
            LedgerTable::LedgerKeyspaceMissing(keyspace) => Err(self.ledger_keyspace_missing(keyspace)),
            LedgerTable::OtherShape(difference) => Err(self.other_shape(difference)),
        }
    }

    /// Creates what is missing of the ledger. False where nothing is.
    async fn bootstrap(&self) -> Result<bool, Problem> {
        match self.inspect().await? {
            LedgerTable::Ready => return Ok(false),
            LedgerTable::KeyspaceMissing => return self.create_keyspace().await,
            LedgerTable::LedgerKeyspaceMissing(keyspace) => {
                return Err(self.ledger_keyspace_missing(keyspace));
            }
            LedgerTable::OtherShape(difference) => return Err(self.other_shape(difference)),
            LedgerTable::TableMissing => {}
        }
        self.env.clock.sleep(self.env.dice.turn(self.env.settings.start_jitter)).await;
        if self.inspect().await? != LedgerTable::TableMissing {
            return Ok(true);
        }
        tracing::info!(table = self.table, "creates the ledger");
        self.created(self.env.store.create(CREATE_TIMEOUT).await, "after the creation of the ledger")
    }

    pub(super) async fn create_keyspace(&self) -> Result<bool, Problem> {
        let Some(replication) = &self.env.settings.create_keyspace else {
            return Err(Problem::KeyspaceMissing { keyspace: self.keyspace.clone() });
        };
        tracing::info!(keyspace = self.keyspace, replication, "creates the keyspace");
        let created = self.env.store.create_keyspace(replication, CREATE_TIMEOUT).await;
        self.created(created, "after the creation of the keyspace")
    }

    fn created(&self, created: Result<(), CreateError>, context: &str) -> Result<bool, Problem> {
        match created {
            Ok(()) => Ok(true),
            Err(CreateError::OtherShape(difference)) => Err(self.other_shape(difference)),
            Err(CreateError::IdRefused { statement }) => {
                Err(Problem::TableIdRefused { table: self.table.clone(), statement })
            }
            Err(CreateError::Store(error)) => {
                Err(self.located(Problem::of_store(error).after(CREATE_TIMEOUT)))
            }
            Err(error @ CreateError::NoAgreement(_)) => Err(Problem::no_agreement(context, error)),
        }
    }

    fn ledger_keyspace_missing(&self, ledger_keyspace: String) -> Problem {
        Problem::LedgerKeyspaceMissing { ledger_keyspace, keyspace: self.keyspace.clone() }
    }

    fn other_shape(&self, difference: String) -> Problem {
        Problem::LedgerShape { table: self.table.clone(), difference }
    }

    async fn inspect(&self) -> Result<LedgerTable, Problem> {
        self.persistently(|| self.env.store.inspect()).await
    }

    /// Asks until there is an answer, or an error that does not pass.
    pub(super) async fn persistently<T, F>(&self, ask: impl Fn() -> F) -> Result<T, Problem>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let begun = self.env.clock.now();
        let mut backoff = Backoff::of_watchers();
        loop {
            let asked = self.env.clock.now();
            match ask().await {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    let passing = is_passing(&error);
                    self.pause_after(error, passing, asked.saturating_sub(begun), &mut backoff).await?;
                }
            }
        }
    }

    /// Pauses after an error that may pass; another one, or one of a request that was sent after `waited` or longer, is
    /// the caller's. A process that stood still asks once more.
    async fn pause_after(
        &self,
        error: StoreError,
        passing: bool,
        waited: Duration,
        backoff: &mut Backoff,
    ) -> Result<(), Problem> {
        if !passing || waited >= self.env.settings.unreachable_after {
            return Err(self.located(Problem::of_store(error).after(waited)));
        }
        tokio::select! {
            biased;
            () = self.shutdown.requested() => Err(Problem::Shutdown),
            () = self.env.clock.sleep(backoff.pause(self.env.dice)) => Ok(()),
        }
    }
}

fn is_passing(error: &StoreError) -> bool {
    matches!(error, StoreError::Unknown(_) | StoreError::Passing(_))
}
