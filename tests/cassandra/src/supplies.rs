//! What it takes to run a node: Java, jars, and certificates for TLS.

use std::path::PathBuf;

use crate::error::Error;
use crate::java::Java;
use crate::settings::Settings;
use crate::{cache, certificates, install, jars};

/// All of it, on this machine.
pub(crate) struct Supplies {
    pub(crate) java: Java,
    pub(crate) jars: Vec<PathBuf>,
    /// The folder with the certificates, if clients must speak TLS.
    pub(crate) tls: Option<PathBuf>,
}

impl Supplies {
    /// Finds or gets what is missing; the first time that can take minutes.
    pub(crate) fn get(settings: &Settings) -> Result<Self, Error> {
        let cache = cache::folder()?;
        let is_fetched = jars::folder(&cache, &settings.version).is_dir();
        let java = install::ensure(!is_fetched)?;
        let folder = jars::ensure(&cache, &settings.version, &java)?;
        let tls = settings.tls.then(|| certificates::ensure(&cache, &java)).transpose()?;
        Ok(Self { java, jars: jars::list(&folder)?, tls })
    }
}
