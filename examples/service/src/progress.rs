//! How far what is deferred is, for `/progress`.

use std::sync::Arc;

use kandra_migrate::Progress;
use serde::Serialize;
use tokio::sync::watch;

/// What is known of it.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum Deferred {
    /// Nothing of it has begun.
    #[default]
    Idle,
    /// Another instance is at it.
    Waiting {
        holder: String,
    },
    /// This instance is at it.
    Running(Place),
    Done,
    /// The service has stopped before its end. The next instance goes on.
    Stopped,
    /// The next start tries again.
    Failed {
        error: String,
    },
}

/// A step of a migration, and how far its task is, if that says so: a backfill counts rows.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Place {
    version: i64,
    name: String,
    step: i64,
    steps: usize,
    task: String,
    done: u64,
    total: Option<u64>,
    per_second: Option<u64>,
}

/// The latest of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Board(Arc<watch::Sender<Deferred>>);

impl Board {
    pub(crate) fn set(&self, deferred: Deferred) {
        self.0.send_replace(deferred);
    }

    pub(crate) fn get(&self) -> Deferred {
        self.0.borrow().clone()
    }

    /// For [`kandra_migrate::Runner::on_progress`].
    pub(crate) fn note(&self, progress: Progress) {
        match progress {
            Progress::Waiting { holder } => self.set(Deferred::Waiting { holder }),
            Progress::Begun { version, name, step, steps, task } => {
                let begun = Place { version, name, step, steps, task, ..Place::default() };
                self.set(Deferred::Running(begun));
            }
            Progress::Far { done, total, per_second, .. } => self.0.send_modify(|deferred| {
                if let Deferred::Running(place) = deferred {
                    (place.done, place.total, place.per_second) = (done, total, per_second);
                }
            }),
            _ => {}
        }
    }
}
