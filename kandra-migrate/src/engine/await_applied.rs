//! Waiting for what others apply.

use std::time::Duration;

use super::backoff::Backoff;
use super::catalog::Catalog;
use super::observer::Progress;
use super::reader::Reader;
use super::remaining::{tell_remaining, trouble_of_deferred};
use super::stopped::{paused, stopped};
use super::verify::verify;
use crate::clock::Clock;
use crate::error::Problem;
use crate::ledger::Ledger;
use crate::report::{Outcome, Report};
use crate::store::{ReadLevel, Slice, Store};

/// Waits until everything in the catalog is applied, at most so long. Reads only.
///
/// A keyspace that is not there yet may come, like everything else that is missing.
pub(crate) async fn await_applied<S: Store, C: Clock>(
    reader: &Reader<'_, S, C>,
    catalog: &Catalog,
    limit: Duration,
) -> Result<Report, Problem> {
    let env = reader.env;
    let begun = env.clock.now();
    let mut backoff = Backoff::of_watchers();
    let mut report = Report::new();
    let mut is_alone = false;
    loop {
        let read = reader.ledger(Slice::Versions, ReadLevel::Quorum).await;
        let waited = env.clock.now().saturating_sub(begun);
        let ledger = match read {
            Err(Problem::KeyspaceMissing { .. } | Problem::LedgerKeyspaceMissing { .. })
                if waited < limit =>
            {
                Ledger::default()
            }
            read => read?,
        };
        if !is_alone {
            reader.check_alone(&ledger).await?;
            is_alone = true;
        }
        report.warnings = verify(&ledger, catalog)?;
        tell_remaining(&mut report, catalog, &ledger);
        if report.pending.is_empty() {
            report.warnings.extend(trouble_of_deferred(reader, catalog, &ledger).await?);
            if let Some(holder) = report.holder.clone() {
                report.waited = waited;
                report.outcome = Outcome::WaitedFor(holder);
            }
            return Ok(report);
        }
        let head = ledger.head();
        if let Some(holder) =
            head.filter(|head| head.owner.is_some()).and_then(|head| head.owner_info.clone())
        {
            report.holder = Some(holder);
        }
        if let Some((entry, reason)) = head.and_then(|head| stopped(head, &ledger, catalog)) {
            return Err(paused(reader, &ledger, entry, reason).await?);
        }
        report.waited = waited;
        if waited >= limit {
            report.outcome = Outcome::Pending;
            return Ok(report);
        }
        let holder = report.holder.clone().unwrap_or_else(|| "a run".to_owned());
        env.settings.observer.tell(Progress::Waiting { holder });
        env.clock.sleep(backoff.pause(env.dice).min(limit.saturating_sub(waited))).await;
    }
}
