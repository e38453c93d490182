//! What a seed stands for: which migrations, which binaries, which processes, and which faults how often.

use std::time::Duration;

use kandra_migrate::__internals::Settings;
use kandra_migrate::{Migration, Wait};

use crate::catalogue::{CATALOGUE, Edit, PLANS, StepSpec, VERSIONS};
use crate::random::Random;
use crate::time::{MS, Nanos, Rate, SECOND};

/// Rates of faults, in thousandths of the occasions.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    pub(crate) write_lost: u64,
    pub(crate) write_dropped: u64,
    pub(crate) write_delayed: u64,
    pub(crate) write_duplicated: u64,
    pub(crate) write_passing: u64,
    pub(crate) write_refused: u64,
    pub(crate) read_lost: u64,
    pub(crate) read_stale: u64,
    pub(crate) statement_lost: u64,
    pub(crate) statement_vanishes: u64,
    pub(crate) statement_delayed: u64,
    pub(crate) statement_refused: u64,
    pub(crate) statement_passing: u64,
    pub(crate) code_fails: u64,
    pub(crate) code_hangs: u64,
    pub(crate) crash: u64,
    pub(crate) stall: u64,
    /// Stalls between the last look at the deadline and the sending: they void the promises that need timing.
    pub(crate) stall_before_send: u64,
    pub(crate) shutdown: u64,
    /// A node stops, or dies, just when it has a schema statement to carry out, or has carried it out.
    pub(crate) coordinator_stops: u64,
    pub(crate) coordinator_dies: u64,
    pub(crate) node_stop: u64,
    pub(crate) node_kill: u64,
    pub(crate) quorum: u64,
    pub(crate) operator: u64,
}

/// A step that never works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Poison {
    /// The server refuses it, each time.
    Refused,
    /// It kills each process that runs it.
    Deadly,
}

/// A process: one binary on one host.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) rate: Rate,
    pub(crate) settings: Settings,
    pub(crate) binary: usize,
    /// Whether its runs leave what is deferred.
    pub(crate) defers: bool,
    pub(crate) starts_at: Nanos,
    pub(crate) restarts: u64,
}

/// What a seed stands for.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// Each with its migrations, ascending.
    pub(crate) binaries: Vec<Vec<&'static Migration>>,
    /// Whether two binaries have one version with different texts.
    pub(crate) edited: bool,
    pub(crate) hosts: Vec<Host>,
    pub(crate) rates: Rates,
    pub(crate) poison: Option<(u32, Poison)>,
    pub(crate) ledger_exists: bool,
    pub(crate) faults_end: Nanos,
    /// How long a data statement may still land, by the servers' clock: all others are within 1.5 of it.
    pub(crate) data_lands_within: Nanos,
    /// How far the clocks of two servers are apart, in milliseconds.
    pub(crate) server_skew_ms: i64,
    /// The fastest clock's rate.
    pub(crate) fastest: u64,
}

impl Scenario {
    pub(crate) fn new(random: &mut Random) -> Self {
        let versions = random.between(1, VERSIONS as u64) as usize;
        let plans: Vec<_> = (0..versions).map(|_| random.index(PLANS)).collect();
        let of = |count: usize, edited: Option<(usize, Edit)>| -> Vec<&'static Migration> {
            let edit = |version| edited.filter(|(at, _)| *at == version).map_or(Edit::None, |(_, edit)| edit);
            (1..=count).map(|v| CATALOGUE.migration(v, plans[v - 1], edit(v))).collect()
        };
        let mut binaries = vec![of(versions, None)];
        if random.per_mille(400) {
            binaries.push(of(random.between(1, versions as u64) as usize, None));
        }
        let edited = random.per_mille(300);
        if edited {
            let edit = Edit::ALL[1 + random.index(Edit::ALL.len() - 1)];
            binaries.push(of(versions, Some((random.between(1, versions as u64) as usize, edit))));
        }
        let rates = rates(random);
        let poison = random.per_mille(80).then(|| {
            let steps: Vec<&StepSpec> = binaries[0]
                .iter()
                .filter_map(|migration| CATALOGUE.steps_of(migration.checksum()))
                .flatten()
                .collect();
            (random.pick(&steps).id, *random.pick(&[Poison::Refused, Poison::Deadly]))
        });
        let slowest = *random.pick(&[1000, 1000, 670, 820]);
        let fastest = if random.per_mille(500) { slowest } else { slowest * 3 / 2 };
        let drain_data = random.between(1500, 3000);
        let hosts = random.between(1, 5);
        let hosts =
            (0..hosts).map(|n| host(random, n, binaries.len(), (slowest, fastest), drain_data)).collect();
        Self {
            binaries,
            edited,
            hosts,
            rates,
            poison,
            ledger_exists: random.per_mille(700),
            faults_end: random.between(20, 200) * SECOND,
            data_lands_within: drain_data * MS * 99 / 100,
            server_skew_ms: *random.pick(&[0, 0, 500, -500, 25_000, -25_000]),
            fastest,
        }
    }

    /// Whether the promises that need timing hold in this simulation.
    pub(crate) fn timing_holds(&self) -> bool {
        self.rates.stall_before_send == 0
    }
}

/// About half of the faults are off in one simulation, so that the others show by themselves.
fn rates(random: &mut Random) -> Rates {
    if random.per_mille(30) {
        return Rates::default();
    }
    let mut rate = |most| if random.per_mille(500) { 0 } else { random.between(1, most) };
    Rates {
        write_lost: rate(150),
        write_dropped: rate(150),
        write_delayed: rate(100),
        write_duplicated: rate(100),
        write_passing: rate(60),
        write_refused: rate(60),
        read_lost: rate(80),
        read_stale: rate(200),
        statement_lost: rate(250),
        statement_vanishes: rate(200),
        statement_delayed: rate(500),
        statement_refused: rate(60),
        statement_passing: rate(120),
        code_fails: rate(100),
        code_hangs: rate(30),
        crash: rate(60),
        stall: rate(60),
        stall_before_send: if rate(10) > 8 { 200 } else { 0 },
        shutdown: rate(10),
        coordinator_stops: rate(150),
        coordinator_dies: rate(100),
        node_stop: rate(700),
        node_kill: rate(500),
        quorum: rate(500),
        operator: rate(600),
    }
}

fn host(
    random: &mut Random,
    n: u64,
    binaries: usize,
    (slowest, fastest): (u64, u64),
    drain_data: u64,
) -> Host {
    let lease = random.between(4000, 8000);
    let ms = Duration::from_millis;
    let heartbeat = random.between(lease / 8, lease / 3);
    let wait = match random.below(20) {
        0 => Wait::Fail,
        1 => Wait::ReturnPending,
        2 => Wait::UpTo(ms(10_000)),
        _ => Wait::UpTo(ms(90_000)),
    };
    let settings = Settings {
        wait,
        lease: ms(lease),
        heartbeat: ms(heartbeat),
        statement_timeout: ms(random.between(800, lease * 2 / 3 - heartbeat)),
        start_jitter: ms(*random.pick(&[0, 200, 1000])),
        agreement_timeout: ms(5000),
        drain_data: ms(drain_data),
        drain_schema: ms(3000),
        stall_timeout: ms(random.between(4000, 12_000)),
        unreachable_after: ms(8000),
        ..Settings::default()
    };
    assert_eq!(settings.check(), Ok(()), "the simulator runs what the engine takes");
    let hour_ms = 3_600_000;
    Host {
        name: format!("host-{n}"),
        rate: Rate {
            per_mille: random.between(slowest, fastest),
            offset: random.below(1_000_000) * MS,
            wall_off_ms: *random.pick(&[0, 0, hour_ms, -hour_ms]),
        },
        settings,
        binary: random.index(binaries),
        defers: random.per_mille(400),
        starts_at: match random.below(10) {
            0..3 => 0,
            3..9 => random.below(20) * SECOND,
            _ => random.below(180) * SECOND,
        },
        restarts: random.below(5),
    }
}
