//! A stop that was asked for.

use tokio::sync::watch;

/// Whether the run was asked to stop.
#[derive(Debug, Clone)]
pub struct Shutdown(watch::Receiver<bool>);

impl Shutdown {
    /// A stop, and what asks for it.
    #[must_use]
    pub fn new() -> (watch::Sender<bool>, Self) {
        let (sender, receiver) = watch::channel(false);
        (sender, Self(receiver))
    }

    /// Whether it was asked for.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        *self.0.borrow()
    }

    /// Ends once it is asked for.
    pub async fn requested(&self) {
        if self.0.clone().wait_for(|requested| *requested).await.is_err() {
            // Nobody is left to ask.
            std::future::pending::<()>().await;
        }
    }
}
