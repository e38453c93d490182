//! What the checkpoints of a backfill cost, from the backfill's own events.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, registry};

static COUNT: AtomicU64 = AtomicU64::new(0);
static TOOK_MS: AtomicU64 = AtomicU64::new(0);

/// Of one backfill.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checkpoints {
    count: u64,
    took_ms: u64,
}

/// Of the last backfill that told of itself.
pub(crate) fn last() -> Checkpoints {
    Checkpoints { count: COUNT.load(SeqCst), took_ms: TOOK_MS.load(SeqCst) }
}

impl Checkpoints {
    /// Percent of the workers' time in which one of them waits for a checkpoint. While one is written, the worker whose
    /// range it is waits, and so do those that end a range meanwhile: as many as there are checkpoints in that time.
    pub(crate) fn share(self, seconds: f64, workers: usize) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let (took, workers) = (self.took_ms as f64 / 1000.0, workers as f64);
        100.0 * took * (1.0 + took / seconds) / (seconds * workers)
    }
}

impl fmt::Display for Checkpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} checkpoints in {} ms", self.count, self.took_ms)
    }
}

/// From now on, what backfills of this process tell is noted.
pub(crate) fn listen() {
    let backfills = Targets::new().with_target("kandra_migrate", LevelFilter::INFO);
    registry().with(Listener.with_filter(backfills)).init();
}

struct Listener;

impl<S: Subscriber> Layer<S> for Listener {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        event.record(&mut Reader);
    }
}

struct Reader;

impl Visit for Reader {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "checkpoints" => COUNT.store(value, SeqCst),
            "checkpoints_ms" => TOOK_MS.store(value, SeqCst),
            _ => {}
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}
