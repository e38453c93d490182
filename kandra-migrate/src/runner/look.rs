//! The verbs that only read.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry::Vacant;
use std::time::Duration;

use super::{Deferred, Parts, Runner};
use crate::clock::Dice;
use crate::cql::SchemaChange;
use crate::engine::{Entry, Wait, await_applied, tell_remaining, trouble_of_deferred, verify};
use crate::error::{Error, Problem};
use crate::plan::Step;
use crate::report::{
    Drift, Foresight, LintFinding, Literals, Outlook, PlannedMigration, Report, Seen, Status,
};
use crate::store::{ReadLevel, Slice};

impl Runner<'_> {
    /// Compares the binary's migrations with the applied ones. Reads only: without a ledger everything is pending.
    ///
    /// Where the directory of a [`cql_dir!`](crate::cql_dir) is there and differs from what was compiled in, that is a
    /// warning of the report.
    pub async fn verify(self) -> Result<Report, Error> {
        let parts = self.parts()?.of_run(Deferred::Left);
        let ledger = self.ledger(&parts).await?;
        let dice = Dice::system();
        let reader = self.reader(&parts, &dice);
        let mut report = Report::new();
        report.warnings = self.registry.differences();
        report.warnings.extend(verify(&ledger, &parts.catalog)?);
        report.warnings.extend(trouble_of_deferred(&reader, &parts.catalog, &ledger).await?);
        tell_remaining(&mut report, &parts.catalog, &ledger);
        Ok(report)
    }

    /// What [`Runner::run`] and then [`Runner::run_deferred`] would do now, step by step, with the literals of data
    /// statements masked. Reads only.
    pub async fn plan(self) -> Result<Vec<PlannedMigration>, Error> {
        self.planned(Literals::Masked).await
    }

    pub(crate) async fn planned(self, literals: Literals) -> Result<Vec<PlannedMigration>, Error> {
        let mut parts = self.parts()?;
        let ledger = self.ledger(&parts).await?;
        verify(&ledger, &parts.catalog)?;
        parts.catalog.compile(&ledger, &parts.destination)?;
        let pending: Vec<_> = parts.catalog.pending(&ledger).collect();
        let outlooks = self.outlooks(&parts, &pending).await?;
        let first_deferred = pending.iter().position(|entry| entry.migration.is_after_start());
        let is_deferred = |place: usize| first_deferred.is_some_and(|first| place >= first);
        let plans: Vec<_> = pending.iter().map(|entry| (entry.migration, entry.steps())).collect();
        let findings = LintFinding::all(&plans);
        let foresight = Foresight { literals, outlooks: &outlooks, findings: &findings };
        Ok(pending
            .into_iter()
            .enumerate()
            .map(|(place, entry)| PlannedMigration {
                deferred: is_deferred(place),
                ..PlannedMigration::of(entry.migration, entry.steps(), &foresight)
            })
            .collect())
    }

    /// What the schema steps of these versions will meet.
    async fn outlooks(
        &self,
        parts: &Parts,
        pending: &[&Entry],
    ) -> Result<BTreeMap<(i64, i64), Outlook>, Error> {
        let keyspace = &parts.destination.keyspace;
        let mut seen = Seen::default();
        for change in pending.iter().flat_map(|entry| entry.steps().iter()).filter_map(Step::change) {
            if let SchemaChange::Role(change) = change {
                let Some(role) = change.role().filter(|role| !seen.roles.contains_key(*role)) else {
                    continue;
                };
                let sight = parts.executor.role_of(change).await;
                let sight = sight.map_err(|error| Problem::of_send(error, "read the tables of roles"))?;
                seen.roles.insert(role.to_owned(), sight);
                continue;
            }
            let of = change.keyspace().unwrap_or_else(|| keyspace.clone());
            if let Vacant(place) = seen.keyspaces.entry(of) {
                let schema = parts.executor.schema_of(place.key()).await;
                place.insert(schema.map_err(|error| Problem::of_send(error, "read system_schema"))?);
            }
        }
        let plans = pending.iter().map(|entry| (entry.version().get(), entry.steps()));
        Ok(Outlook::of(plans, &seen, keyspace))
    }

    /// What differs between the schema as the version left it that was completed last, and the one that is there: object
    /// by object, with the CQL that would lead back. Reads only, and sends nothing of it.
    ///
    /// What a version leaves is stored with it, up to 32 KiB of text; of a larger schema only a digest is, so that a
    /// difference is seen and not told. The ledger itself, ids, dropped columns and triggers do not count. While a
    /// version is under way, its own changes show as differences.
    pub async fn drift(self) -> Result<Drift, Error> {
        let parts = self.parts()?;
        let ledger = self.ledger(&parts).await?;
        let Some(last) = ledger.last_completed() else {
            return Ok(Drift::without("no version is completed"));
        };
        let dice = Dice::system();
        let rows = self.reader(&parts, &dice).read(Slice::Schema(last.version), ReadLevel::Quorum).await?;
        let read = parts.executor.schema_of(&parts.destination.keyspace).await;
        let now = read.map_err(|error| Problem::of_send(error, "read system_schema"))?;
        let cells = rows.rows.first().map(|(_, cells)| cells);
        let stored = cells.and_then(|cells| Some((cells.text("schema_digest")?, cells.text("schema_text"))));
        let under_way =
            ledger.versions().find(|row| !ledger.is_completed(row.version)).map(|row| row.version);
        let drift = Drift::between(stored, &now.unwrap_or_default(), &parts.destination.keyspace);
        Ok(drift.since(last.version, under_way))
    }

    /// Who holds the lease, and the state of each version. Reads only.
    pub async fn status(self) -> Result<Status, Error> {
        let parts = self.parts()?;
        let mut ledger = self.ledger(&parts).await?;
        let dice = Dice::system();
        let reader = self.reader(&parts, &dice);
        let first_pending = parts.catalog.pending(&ledger).next().map(|entry| entry.version().get());
        if let Some(first) = first_pending.filter(|_| ledger.head().is_some()) {
            ledger.steps = reader.ledger(Slice::StepsFrom(first), ReadLevel::Quorum).await?.steps;
        }
        let known = parts.catalog.entries().map(|entry| entry.migration);
        Ok(Status::of(&ledger, known))
    }

    /// Waits until what [`Runner::run`] would apply is applied, and never migrates: for a service whose migrations
    /// are run by something else. Reads only, every one to two seconds.
    ///
    /// At most as long as [`Runner::wait`] says, where [`Wait::Fail`] and [`Wait::ReturnPending`] mean one look. Then
    /// the report has [`Outcome::Pending`](crate::Outcome::Pending) and what is still missing.
    ///
    /// # Errors
    /// What waiting does not change: a version is [paused](crate::Code::Paused), the binary's migrations and the
    /// applied ones [differ](Error::is_mismatch), or the cluster does not answer.
    pub async fn wait_until_applied(self) -> Result<Report, Error> {
        let parts = self.parts()?.of_run(Deferred::Left);
        let dice = Dice::system();
        let reader = self.reader(&parts, &dice);
        let limit = match self.settings.wait {
            Wait::UpTo(limit) => limit,
            Wait::Fail | Wait::ReturnPending => Duration::ZERO,
        };
        Ok(await_applied(&reader, &parts.catalog, limit).await?)
    }
}
