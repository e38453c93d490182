//! Time and chance, so that a simulator can have its own.

use std::fs::File;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use uuid::Uuid;

/// A clock that goes on while the machine is suspended, and sleeps by it.
pub trait Clock: Send + Sync {
    /// Time since some fixed moment; never goes back, and counts suspend where the system tells of it.
    fn now(&self) -> Duration;

    /// The wall clock in milliseconds since the epoch; for people, never for decisions.
    fn wall_ms(&self) -> i64;

    /// Ends after this time.
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send;
}

/// The system's clock.
///
/// `std::time::Instant` stands still while Linux is suspended, and a lease does not: where `/proc/uptime` is there
/// (it does count suspend, in hundredths of a second), what it has gained on `Instant` is added.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
    boot: Option<Uptime>,
    suspended: Mutex<Suspended>,
}

/// How long the machine was suspended, as far as is known.
#[derive(Debug, Default)]
struct Suspended {
    total: Duration,
    looked: Option<Look>,
}

/// When `/proc/uptime` was read: by a clock that stands still while the machine is suspended, and by one that does not.
#[derive(Debug, Clone, Copy)]
struct Look {
    own: Instant,
    wall: SystemTime,
}

/// A read of `/proc/uptime` takes microseconds, and a backfill asks for the time before each of its statements.
const LOOK_MS_MAX: Duration = Duration::from_millis(10);

impl Look {
    /// Whether the machine was not suspended since: a suspend moves the wall clock, by as much as `/proc/uptime`.
    fn still_holds(self, now: Self) -> bool {
        let own = now.own.saturating_duration_since(self.own);
        let parted = now.wall.duration_since(self.wall).map(|wall| wall.abs_diff(own));
        own < LOOK_MS_MAX && parted.is_ok_and(|parted| parted < SUSPEND_MS_MIN)
    }
}

/// Differences below this are the coarseness of `/proc/uptime`, not a suspend.
const SUSPEND_MS_MIN: Duration = Duration::from_millis(100);

impl SystemClock {
    /// A clock that starts now.
    #[must_use]
    pub fn new() -> Self {
        Self { start: Instant::now(), boot: Uptime::open(), suspended: Mutex::default() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

/// `/proc/uptime`, kept open: it is read again and again.
#[derive(Debug)]
struct Uptime {
    file: File,
    start: Duration,
}

impl Uptime {
    fn open() -> Option<Self> {
        let file = File::open("/proc/uptime").ok()?;
        let start = read_uptime(&file)?;
        Some(Self { file, start })
    }

    fn elapsed(&self) -> Option<Duration> {
        read_uptime(&self.file).map(|now| now.saturating_sub(self.start))
    }
}

#[cfg(unix)]
fn read_uptime(file: &File) -> Option<Duration> {
    use std::os::unix::fs::FileExt as _;
    const LENGTH_MAX: usize = 64;
    let mut text = [0; LENGTH_MAX];
    let length = file.read_at(&mut text, 0).ok()?;
    let text = str::from_utf8(&text[..length]).ok()?;
    let seconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(not(unix))]
fn read_uptime(_: &File) -> Option<Duration> {
    None
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        let now = Look { own: Instant::now(), wall: SystemTime::now() };
        let elapsed = now.own.saturating_duration_since(self.start);
        let Some(boot) = &self.boot else { return elapsed };
        let mut suspended = self.suspended.lock().unwrap_or_else(PoisonError::into_inner);
        if !suspended.looked.is_some_and(|look| look.still_holds(now)) {
            let gained = boot.elapsed().unwrap_or_default().saturating_sub(elapsed);
            if gained > suspended.total + SUSPEND_MS_MIN {
                suspended.total = gained;
            }
            suspended.looked = Some(now);
        }
        elapsed + suspended.total
    }

    fn wall_ms(&self) -> i64 {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Jitter and nonces.
#[derive(Debug)]
pub struct Dice(Option<Mutex<u64>>);

impl Dice {
    /// From the system's source of randomness.
    #[must_use]
    pub const fn system() -> Self {
        Self(None)
    }

    /// The same sequence for the same seed: for simulations only, since nonces must be unique in the world.
    #[must_use]
    pub const fn seeded(seed: u64) -> Self {
        Self(Some(Mutex::new(seed)))
    }

    /// A nonce that no other has.
    pub fn nonce(&self) -> Uuid {
        match &self.0 {
            None => Uuid::new_v4(),
            Some(_) => Uuid::from_u64_pair(self.bits(), self.bits()),
        }
    }

    /// A duration from zero up to, not including, `max`.
    pub fn jitter(&self, max: Duration) -> Duration {
        let nanos = u64::try_from(max.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(if nanos == 0 { 0 } else { self.bits() % nanos })
    }

    /// A pause of at most `max` before something that one of many is to do: the probability doubles with each tenth of
    /// `max`. Of up to a thousand that draw one, the first is ahead of the second by about a tenth of `max`, however many
    /// there are; were all pauses equally likely, it would be `max` divided by their number. (Tay, Jamieson, Balakrishnan:
    /// Collision-minimizing CSMA, IEEE JSAC 2004.)
    pub fn turn(&self, max: Duration) -> Duration {
        const DOUBLINGS: f64 = 10.0;
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let chance = ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        max.mul_f64((1.0 + chance.log2() / DOUBLINGS).max(0.0))
    }

    fn bits(&self) -> u64 {
        match &self.0 {
            None => Uuid::new_v4().as_u64_pair().0 << 16 ^ Uuid::new_v4().as_u64_pair().1,
            Some(state) => split_mix(&mut state.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

/// Steele, Lea, Flood: Fast splittable pseudorandom number generators (OOPSLA 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uptime_is_read_again_after_a_while_and_after_a_suspend() {
        const MS: Duration = Duration::from_millis(1);
        let look = Look { own: Instant::now(), wall: SystemTime::now() };
        let later = |own: u32, wall: u32| Look { own: look.own + MS * own, wall: look.wall + MS * wall };
        assert!(look.still_holds(later(0, 0)) && look.still_holds(later(9, 9)));
        assert!(!look.still_holds(later(10, 10)), "it is old");
        assert!(!look.still_holds(later(1, 3_600_000)), "the machine was suspended for an hour");
        assert!(!look.still_holds(later(1, 101)));
        let set_back = Look { own: look.own, wall: look.wall - MS };
        assert!(!look.still_holds(set_back), "nothing can be told from a wall clock that was set back");
    }

    #[test]
    fn it_never_goes_back() {
        let clock = SystemClock::new();
        let mut last = clock.now();
        for _ in 0..10_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }

    /// How far the first of so many is ahead of the second, on average, in thousandths of the longest pause.
    fn lead(of: usize) -> u128 {
        const ROUNDS: u32 = 200;
        const MAX: Duration = Duration::from_secs(1);
        let dice = Dice::seeded(1);
        let leads = (0..ROUNDS).map(|_| {
            let mut turns: Vec<_> = (0..of).map(|_| dice.turn(MAX)).collect();
            turns.sort();
            assert!(turns.iter().all(|turn| *turn <= MAX));
            turns[1].saturating_sub(turns[0])
        });
        (leads.sum::<Duration>() / ROUNDS).as_millis()
    }

    #[test]
    fn of_many_one_is_well_ahead_of_the_others() {
        for of in [2, 10, 100, 500] {
            assert!((60..250).contains(&lead(of)), "{of}: {} ms", lead(of));
        }
    }
}
