//! How a run behaves, and which combinations cannot work.

use std::time::Duration;

use super::observer::Observer;

/// What a run does while another instance holds the lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wait {
    /// Waits until everything it needs is applied, at most so long. The default, with 10 min.
    UpTo(Duration),
    /// Returns [`KM0060`](crate::Code::Held) at once.
    Fail,
    /// Returns a report with [`Outcome::Pending`](crate::Outcome::Pending) at once.
    ReturnPending,
}

/// The times of a run. [`Settings::check`] refuses what cannot work.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What to do while another instance holds the lease.
    pub wait: Wait,
    /// How long the lease outlives its last renewal.
    pub lease: Duration,
    /// How often it is renewed.
    pub heartbeat: Duration,
    /// When the outcome of a statement counts as unknown.
    pub statement_timeout: Duration,
    /// The longest pause before a free lease is asked for; spreads a fleet that starts at once.
    pub start_jitter: Duration,
    /// How long nodes may take to agree on a schema.
    pub agreement_timeout: Duration,
    /// How long a data statement of unknown outcome may still land, by the server's clock: its own bound.
    pub drain_data: Duration,
    /// How long a silent coordinator of a schema statement is waited for.
    pub drain_schema: Duration,
    /// How long a code task may go without a sign of progress.
    pub stall_timeout: Duration,
    /// How long a run goes on asking a cluster that does not answer.
    pub unreachable_after: Duration,
    /// The serial consistency, as the ledger stores it.
    pub serial_cl: &'static str,
    /// The replication of the keyspace, if it is to be created where it is missing.
    pub create_keyspace: Option<String>,
    /// The highest version to apply.
    pub up_to: Option<i64>,
    /// Who is told what a run does.
    pub observer: Observer,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            wait: Wait::UpTo(Duration::from_secs(600)),
            lease: Duration::from_secs(60),
            heartbeat: Duration::from_secs(10),
            statement_timeout: Duration::from_secs(30),
            start_jitter: Duration::from_secs(1),
            // Cassandra's nodes ask for a change that they have missed after 60 s.
            agreement_timeout: Duration::from_secs(90),
            drain_data: Duration::from_secs(20),
            drain_schema: Duration::from_secs(30),
            stall_timeout: Duration::from_secs(600),
            unreachable_after: Duration::from_secs(60),
            serial_cl: "SERIAL",
            create_keyspace: None,
            up_to: None,
            observer: Observer::default(),
        }
    }
}

/// How much faster one clock may run than another, as a fraction: a lease is that much longer than its holder goes by,
/// and the server's bounds are counted that much longer.
const CLOCK_RATES_MAX: (u32, u32) = (3, 2);

/// The shortest lease: below it, the delays of an ordinary cluster would look like a dead holder.
const LEASE_MS_MIN: Duration = Duration::from_secs(3);

impl Settings {
    /// How long after its last known renewal a holder may still send.
    #[must_use]
    pub fn margin(&self) -> Duration {
        self.lease * CLOCK_RATES_MAX.1 / CLOCK_RATES_MAX.0
    }

    /// How long after its sending a data statement may still land, by a clock that runs as fast as it may.
    #[must_use]
    pub fn data_lands_within(&self) -> Duration {
        self.drain_data * CLOCK_RATES_MAX.0 / CLOCK_RATES_MAX.1
    }

    /// When the answer to a request of the ledger counts as lost. A server's own timeouts are below it (8 s seen), or
    /// each of them would become an unknown outcome; two re-issues fit into the lease.
    #[must_use]
    pub fn request_timeout(&self) -> Duration {
        (self.lease / 4).min(Duration::from_secs(12))
    }

    /// What is wrong with the combination, in a sentence.
    pub fn check(&self) -> Result<(), String> {
        let human = crate::human::human;
        if self.lease < LEASE_MS_MIN {
            return Err(format!(
                "a lease of {} is too short: at least {}",
                human(self.lease),
                human(LEASE_MS_MIN)
            ));
        }
        if self.heartbeat.is_zero() || self.heartbeat > self.lease / 3 {
            return Err(format!(
                "a heartbeat of {} does not keep a lease of {}: more than zero, at most a third of it ({})",
                human(self.heartbeat),
                human(self.lease),
                human(self.lease / 3)
            ));
        }
        // A code task's statement waits for a renewal that leaves it its time, and renewals are a heartbeat apart.
        let longest = self.margin().saturating_sub(self.heartbeat);
        if self.statement_timeout.is_zero() || self.statement_timeout > longest {
            return Err(format!(
                "a statement timeout of {} does not fit into a lease of {}: more than zero, at most two thirds of it less a heartbeat ({})",
                human(self.statement_timeout),
                human(self.lease),
                human(longest)
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Settings;
    use std::time::Duration;

    #[test]
    fn the_defaults_work() {
        assert_eq!(Settings::default().check(), Ok(()));
    }

    #[test]
    fn what_cannot_work_is_refused_with_the_number_that_would() {
        let statement = Settings { statement_timeout: Duration::from_secs(31), ..Settings::default() };
        let told = "at most two thirds of it less a heartbeat (30 s)";
        assert!(statement.check().is_err_and(|text| text.contains(told)));
        let heartbeat = Settings { heartbeat: Duration::from_secs(21), ..Settings::default() };
        assert!(heartbeat.check().is_err_and(|text| text.contains("at most a third of it (20 s)")));
        let lease = Settings { lease: Duration::from_secs(2), ..Settings::default() };
        assert!(lease.check().is_err_and(|text| text.contains("at least 3 s")));
    }
}
