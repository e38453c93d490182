//! Where a task waits until its test lets it go on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::wait::within;

/// A gate that tasks of one keyspace come to, in the process of the test.
#[derive(Debug)]
pub struct Gate {
    arrived: watch::Sender<usize>,
    is_open: watch::Sender<bool>,
}

impl Gate {
    /// The gate of a keyspace: the same for the task and for the test.
    #[must_use]
    pub fn of(keyspace: &str) -> Arc<Self> {
        static GATES: Mutex<Option<HashMap<String, Arc<Gate>>>> = Mutex::new(None);
        let mut gates = GATES.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = gates.get_or_insert_default().entry(keyspace.to_owned());
        gate.or_insert_with(|| {
            Arc::new(Self { arrived: watch::Sender::new(0), is_open: watch::Sender::new(false) })
        })
        .clone()
    }

    /// A task comes, and waits until the gate is open.
    pub async fn pass(&self) {
        self.arrived.send_modify(|count| *count += 1);
        // The sender is this gate's own: it outlives the wait.
        let _ = self.is_open.subscribe().wait_for(|open| *open).await;
    }

    /// Waits until so many tasks have come in all.
    pub async fn arrived(&self, count: usize) {
        let mut arrived = self.arrived.subscribe();
        let _ = within("a task comes to its gate", arrived.wait_for(|arrived| *arrived >= count)).await;
    }

    /// How many tasks have come in all.
    #[must_use]
    pub fn count(&self) -> usize {
        *self.arrived.borrow()
    }

    /// Lets all tasks go on, now and later.
    pub fn open(&self) {
        self.is_open.send_replace(true);
    }
}
