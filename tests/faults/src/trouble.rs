//! What keeps a test from being made, as opposed to a violation that it finds.

use std::io;

use thiserror::Error;

/// Why a test could not be made.
#[derive(Debug, Error)]
pub enum Trouble {
    /// The nodes.
    #[error("the cluster: {0}")]
    Cluster(#[from] cassandra::Error),
    /// An operator's verb, or another verb of the library, in the test's own process.
    #[error("{0}")]
    Verb(#[from] kandra_migrate::Error),
    /// The test's own session.
    #[error("{what}: {source}")]
    Database {
        /// What was to be done.
        what: String,
        /// Why it was not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A process or a relay.
    #[error("{what}: {source}")]
    Io {
        /// What was to be done.
        what: String,
        /// Why it was not.
        source: io::Error,
    },
    /// Something that the test waits for did not come.
    #[error("not within {secs} s: {what}")]
    Late {
        /// What.
        what: String,
        /// How long it was waited for.
        secs: u64,
    },
    /// A part of the test panicked.
    #[error("{0}")]
    Panic(#[from] tokio::task::JoinError),
}

/// A result of something that a test does.
pub type Result<T> = std::result::Result<T, Trouble>;

impl Trouble {
    /// An error of the driver.
    pub fn database(
        what: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Database { what: what.into(), source: source.into() }
    }
}

/// Waits for something, at most so long.
pub(crate) async fn within<T>(
    secs: u64,
    what: impl Into<String>,
    wait: impl Future<Output = T>,
) -> Result<T> {
    tokio::time::timeout(std::time::Duration::from_secs(secs), wait)
        .await
        .map_err(|_| Trouble::Late { what: what.into(), secs })
}
