//! Many keyspaces with the same migrations: tenants.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::time::Duration;

use tokio::task::JoinSet;

use super::{Deferred, Parts, Runner, stoppable};
use crate::boxed::boxed;
use crate::clock::Dice;
use crate::engine::{Env, Identity, Run, Settings, Shutdown};
use crate::error::{Error, Problem};
use crate::report::Report;

const CONCURRENCY_DEFAULT: usize = 16;

/// How [`Runner::run_each`] goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunEach {
    /// How many keyspaces are looked at at once, to see whether there is anything to do: at least 1, 16 by default.
    pub concurrency: usize,
    /// Whether the first error ends it: keyspaces that are not begun then are not in the result. False by default.
    pub stop_on_error: bool,
    /// Whether what is deferred is applied too, as by [`Runner::run_deferred`]. False by default: it is left, as by
    /// [`Runner::run`].
    pub deferred: bool,
}

impl RunEach {
    const fn deferred(self) -> Deferred {
        if self.deferred { Deferred::Applied } else { Deferred::Left }
    }
}

impl Default for RunEach {
    fn default() -> Self {
        Self { concurrency: CONCURRENCY_DEFAULT, stop_on_error: false, deferred: false }
    }
}

/// By keyspace, what [`Runner::run`] returned.
pub type EachReport = BTreeMap<String, Result<Report, Error>>;

impl Runner<'_> {
    /// Brings each of these keyspaces to where the binary needs it, like [`Runner::run`].
    ///
    /// Those with nothing to do take one read each, many at once. The others are migrated one after the other, so that
    /// this process never sends two schema statements at a time; in an order of its own, so that the instances of a
    /// fleet spread over the keyspaces instead of waiting for one another at each, and with one
    /// [start jitter](Runner::start_jitter) in all.
    ///
    /// ```no_run
    /// # async fn tenants(session: scylla::client::session::Session, registry: &kandra_migrate::Registry) {
    /// use kandra_migrate::{RunEach, Runner};
    ///
    /// let tenants = ["tenant_1", "tenant_2"].map(str::to_owned);
    /// for (keyspace, result) in Runner::new(session, registry).run_each(tenants, RunEach::default()).await {
    ///     match result {
    ///         Ok(report) => println!("{keyspace}: {report}"),
    ///         Err(error) => eprintln!("{keyspace}: {error}"),
    ///     }
    /// }
    /// # }
    /// ```
    pub async fn run_each(
        mut self,
        keyspaces: impl IntoIterator<Item = String>,
        each: RunEach,
    ) -> EachReport {
        self.wait_as_usual_for(each.deferred());
        let stop = self.shutdown.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let (request, shutdown) = Shutdown::new();
        let running = boxed(self.each(keyspaces.into_iter().collect(), each, shutdown));
        stoppable(running, request, stop).await
    }

    async fn each(&mut self, keyspaces: Vec<String>, each: RunEach, shutdown: Shutdown) -> EachReport {
        let (mut reports, mut behind) = self.look_at_each(keyspaces, each).await;
        let dice = Dice::system();
        behind.sort_by_cached_key(|_| dice.nonce());
        for keyspace in behind {
            if each.stop_on_error && reports.values().any(Result::is_err) {
                break;
            }
            self.keyspace = Some(keyspace.clone());
            let result = match self.parts().map(|parts| parts.of_run(each.deferred())) {
                Ok(_) if shutdown.is_requested() => Err(Problem::Shutdown.into()),
                Ok(parts) => self.run_parts(parts, shutdown.clone(), std::convert::identity).await,
                Err(error) => Err(error),
            };
            reports.insert(keyspace, result);
            // What comes next is spread already, by this one's work and by the order; a thousand jitters are an hour.
            self.settings.start_jitter = Duration::ZERO;
        }
        reports
    }

    /// The reports of those with nothing to do, and the others.
    async fn look_at_each(&mut self, keyspaces: Vec<String>, each: RunEach) -> (EachReport, Vec<String>) {
        let mut reports = EachReport::new();
        let mut behind = Vec::new();
        let mut looks = JoinSet::new();
        let mut keyspaces = keyspaces.into_iter();
        loop {
            while looks.len() < each.concurrency.max(1) {
                let Some(keyspace) = keyspaces.next() else { break };
                self.keyspace = Some(keyspace.clone());
                match self.parts().map(|parts| parts.of_run(each.deferred())) {
                    Ok(parts) => drop(looks.spawn(look(keyspace, parts, self.settings.clone()))),
                    Err(error) => drop(reports.insert(keyspace, Err(error))),
                }
            }
            match looks.join_next().await {
                None => return (reports, behind),
                Some(Ok((keyspace, Some(report)))) => drop(reports.insert(keyspace, Ok(report))),
                Some(Ok((keyspace, None))) => behind.push(keyspace),
                Some(Err(panic)) => std::panic::resume_unwind(panic.into_panic()),
            }
        }
    }
}

/// The report of a keyspace with nothing to do. An error is left to the run that follows: it may pass.
async fn look(keyspace: String, parts: Parts, settings: Settings) -> (String, Option<Report>) {
    let dice = Dice::system();
    let env = Env { store: &parts.store, clock: parts.clock.as_ref(), dice: &dice, settings: &settings };
    let identity = Identity { owner: dice.nonce(), info: String::new(), reason: None };
    let (_, shutdown) = Shutdown::new();
    let run =
        Run::new(env, &parts.executor, identity, parts.catalog, parts.destination, shutdown, parts.table);
    (keyspace, run.current().await.ok().flatten())
}
