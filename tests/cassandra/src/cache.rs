//! Where fetched jars, certificates and running clusters are kept.

use std::env;
use std::path::PathBuf;

use crate::error::Error;

/// `$XDG_CACHE_HOME/kandra-migrate/cassandra`, or `~/.cache/kandra-migrate/cassandra`.
pub(crate) fn folder() -> Result<PathBuf, Error> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    let cache = cache.ok_or_else(|| {
        Error::Settings(
            "neither HOME nor XDG_CACHE_HOME names a folder to keep Cassandra in: set one".to_owned(),
        )
    })?;
    Ok(cache.join("kandra-migrate").join("cassandra"))
}
