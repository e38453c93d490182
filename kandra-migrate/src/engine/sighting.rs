//! When a lease that another run holds has lapsed. Pure.

use std::time::Duration;

use uuid::Uuid;

use super::settings::Settings;
use crate::ledger::{Head, Ledger};
use crate::mutant::{Mutant, is_broken};

/// Servers' clocks are assumed to be within this of one another.
const SERVER_SKEW_MAX: Duration = Duration::from_secs(60);

/// How many of the holder's heartbeats a run that uses the server's clock has to see missing on its own.
const HEARTBEATS_MISSED: u32 = 3;

/// A lease of another run, as it was seen.
#[derive(Debug, Clone)]
pub(crate) struct Sighting {
    op: Uuid,
    /// When the read returned that saw it first.
    since: Duration,
    /// The larger of the stored lease and this run's.
    lease: Duration,
    heartbeat: Duration,
}

impl Sighting {
    /// A sighting of this head at a time of the own clock, when the read *returned*.
    pub(crate) fn new(head: &Head, own_lease: Duration, now: Duration) -> Self {
        Self {
            op: head.op,
            since: now,
            lease: lease_of(head).max(own_lease),
            heartbeat: millis(head.heartbeat_ms),
        }
    }

    /// Whether the head is still the one that was seen.
    pub(crate) fn is_of(&self, head: &Head) -> bool {
        self.op == head.op
    }

    /// Whether the lease has lapsed: the fencing token stayed the same for the whole of it on the own clock. Where the
    /// server's clock says that it has long lapsed, a few missed heartbeats are enough: in a fleet whose instances
    /// restart faster than the lease, none would ever see all of it.
    pub(crate) fn has_lapsed(&self, now: Duration, op_age: Option<Duration>) -> bool {
        let seen = now.saturating_sub(self.since);
        let long_lapsed = op_age.is_some_and(|age| age > self.lease + SERVER_SKEW_MAX);
        seen >= self.lease
            || (long_lapsed && seen >= self.heartbeat * HEARTBEATS_MISSED)
            || is_broken(Mutant::NoLapse)
    }

    /// How long until it can lapse by the own clock.
    pub(crate) fn left(&self, now: Duration) -> Duration {
        (self.since + self.lease).saturating_sub(now)
    }

    /// Until when the holder may have sent something: its own deadline, by a clock that is as slow as it may be. The
    /// lease is that much longer than its holder's part of it.
    pub(crate) fn sent_until(&self) -> Duration {
        self.since + self.lease
    }
}

/// Until when a data statement of a holder that let its lease lapse may land; zero where nobody had it, or its journal,
/// which was read from a version on, tells that it had none under way.
pub(crate) fn landed_by(
    lapsed: Option<&Sighting>,
    settings: &Settings,
    ledger: &Ledger,
    journal_from: Option<i64>,
) -> Duration {
    let lapsed = lapsed.filter(|_| ledger.may_have_data_under_way(journal_from));
    lapsed.map_or(Duration::ZERO, |lapsed| lapsed.sent_until() + settings.data_lands_within())
}

/// The lease that a head's holder has.
pub(crate) fn lease_of(head: &Head) -> Duration {
    millis(head.lease_ms)
}

fn millis(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Claim, Intent, Takeover, Transition, Writer};

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn head() -> Head {
        let writer = Writer { owner: Uuid::from_u128(1), info: "a".to_owned(), wall_ms: 0, reason: None };
        let takeover = Takeover { from: None, lease_ms: 60_000, heartbeat_ms: 10_000, serial_cl: "SERIAL" };
        let acquired = Ledger::default().after(&writer, &[Transition::Acquire(takeover)]);
        acquired.unwrap().head().unwrap().clone()
    }

    #[test]
    fn a_lease_lapses_on_the_own_clock_after_the_longer_of_both_leases() {
        let sighting = Sighting::new(&head(), seconds(90), seconds(5));
        assert!(!sighting.has_lapsed(seconds(94), None));
        assert!(sighting.has_lapsed(seconds(95), None));
    }

    #[test]
    fn the_servers_clock_shortens_it_only_with_its_skew_and_three_missed_heartbeats() {
        let sighting = Sighting::new(&head(), seconds(60), seconds(0));
        assert!(!sighting.has_lapsed(seconds(30), Some(seconds(120))), "within the skew");
        assert!(!sighting.has_lapsed(seconds(29), Some(seconds(500))), "two heartbeats missed");
        assert!(sighting.has_lapsed(seconds(30), Some(seconds(121))));
    }

    #[test]
    fn what_a_lapsed_holder_sent_is_waited_for_as_long_as_clocks_may_differ() {
        let settings = Settings::default();
        let sighting = Sighting::new(&head(), settings.lease, seconds(0));
        // Nothing is known of its journal, and a version is in flight.
        let writer = Writer { owner: Uuid::nil(), info: String::new(), wall_ms: 0, reason: None };
        let claim = Claim {
            version: 3,
            name: String::new(),
            checksum: String::new(),
            plan_digest: String::new(),
            out_of_order: false,
        };
        let claimed = Ledger::default().after(&writer, &[Transition::Claim(claim)]).unwrap();
        let by = |lapsed, ledger: &Ledger, from| landed_by(lapsed, &settings, ledger, from);
        assert_eq!(by(Some(&sighting), &claimed, None), seconds(60 + 30));
        assert_eq!(by(Some(&sighting), &claimed, Some(4)), seconds(60 + 30));
        assert_eq!(by(Some(&sighting), &claimed, Some(3)), seconds(0), "its journal has no step under way");
        assert_eq!(by(None, &claimed, None), seconds(0));
        for (step_kind, waits) in [("schema", false), ("data", true), ("code", true)] {
            let intent = Intent {
                version: 3,
                n: 0,
                task: String::new(),
                step_kind,
                flags: String::new(),
                digest: String::new(),
                undo: None,
                coordinator: None,
            };
            let begun = claimed.after(&writer, &[Transition::Intent(intent)]).unwrap();
            assert_eq!(by(Some(&sighting), &begun, Some(3)) > seconds(0), waits, "{step_kind}");
        }
    }
}
