//! When to stop: on SIGTERM, on Ctrl-C, or because the start has failed.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// A request to stop, which everything that runs can wait for.
#[derive(Debug, Clone)]
pub(crate) struct Stop(watch::Sender<bool>);

impl Stop {
    /// Requested by the first SIGTERM or SIGINT (Ctrl-C).
    pub(crate) fn on_signals() -> io::Result<Self> {
        let (mut terminate, mut interrupt) =
            (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let stop = Self(watch::Sender::new(false));
        let request = stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => tracing::info!("SIGTERM: stops"),
                _ = interrupt.recv() => tracing::info!("SIGINT: stops"),
            }
            request.request();
        });
        Ok(stop)
    }

    pub(crate) fn request(&self) {
        self.0.send_replace(true);
    }

    /// Ends once the stop is requested.
    pub(crate) async fn requested(self) {
        // The sender is this value's own: it outlives the wait.
        let _ = self.0.subscribe().wait_for(|requested| *requested).await;
    }
}
