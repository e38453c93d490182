//! From what the command line says to a session.

use std::error::Error as StdError;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::errors::{
    ConnectionError, ConnectionPoolError, ConnectionSetupRequestErrorKind, DbError, MetadataError,
    NewSessionError,
};

use super::args::ConnectionArgs;
use super::{BoxError, Opening};
use crate::error::{Error, Problem};

const SCHEME: &str = "cassandra://";
const PORT: u16 = 9042;
const PASSWORD: &str = "KANDRA_PASSWORD";

/// A stopped node still accepts connections: only these find it.
const KEEPALIVE: Duration = Duration::from_secs(5);
const TCP_CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Where a command line says that the database is, and as whom to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    hosts: Vec<String>,
    keyspace: Option<String>,
    user: Option<String>,
    password: Option<Password>,
}

/// A password, which is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// The password itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl Connection {
    /// The nodes to begin with, each as `host:port`.
    #[must_use]
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// The keyspace of the URL.
    #[must_use]
    pub fn keyspace(&self) -> Option<&str> {
        self.keyspace.as_deref()
    }

    /// The user to log in as.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The user's password.
    #[must_use]
    pub fn password(&self) -> Option<&Password> {
        self.password.as_ref()
    }

    /// A builder of a session to these hosts as this user, without TLS: it finds a stopped node within 10 s, and leaves
    /// the wait for schema agreement to the runner.
    #[must_use]
    pub fn session_builder(&self) -> SessionBuilder {
        let builder = SessionBuilder::new()
            .known_nodes(&self.hosts)
            .connection_timeout(TCP_CONNECT_TIMEOUT)
            .keepalive_interval(KEEPALIVE)
            .keepalive_timeout(KEEPALIVE)
            .auto_await_schema_agreement(false);
        match &self.user {
            Some(user) => builder.user(user, self.password.as_ref().map_or("", Password::reveal)),
            None => builder,
        }
    }

    /// From the options, or why they do not do.
    pub(super) fn from_args(args: &ConnectionArgs) -> Result<Self, String> {
        let url = args
            .url
            .as_deref()
            .ok_or("no database: say --url cassandra://host/keyspace, or set KANDRA_URL")?;
        let mut connection = Self::from_url(url)?;
        connection.user = args.user.clone().or(connection.user);
        connection.password = password(args.password_file.as_deref())?;
        if connection.password.is_some() && connection.user.is_none() {
            return Err("a password and no user: say --user, or set KANDRA_USER".to_owned());
        }
        Ok(connection)
    }

    fn from_url(url: &str) -> Result<Self, String> {
        let form = "a URL is cassandra://[user@]host[:port][,host…][/keyspace]";
        // What is wrong with it is not repeated: it may hold a password.
        let rest =
            url.strip_prefix(SCHEME).ok_or_else(|| format!("{form}, and this one begins otherwise"))?;
        let (authority, keyspace) = rest.split_once('/').map_or((rest, ""), |(hosts, path)| (hosts, path));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (Some(user), hosts),
            None => (None, authority),
        };
        if user.is_some_and(|user| user.contains(':')) {
            return Err(format!(
                "a password in the URL can be read by each user of the machine: put it into {PASSWORD}, or into a file and say --password-file"
            ));
        }
        if keyspace.contains(['/', '?', '#', '%']) || user.is_some_and(|user| user.contains('%')) {
            return Err(format!("{form}, without a query or % escapes: --user and --keyspace take any name"));
        }
        let hosts: Option<Vec<_>> = hosts.split(',').map(host).collect();
        Ok(Self {
            hosts: hosts.ok_or(form)?,
            keyspace: Some(keyspace.to_owned()).filter(|keyspace| !keyspace.is_empty()),
            user: user.map(str::to_owned).filter(|user| !user.is_empty()),
            password: None,
        })
    }
}

/// `host`, `host:port`, `[::1]` or `[::1]:port`, with the port.
fn host(text: &str) -> Option<String> {
    let end_of_name = text.rfind(']').map_or(0, |bracket| bracket + 1);
    let (name, port) = match text[end_of_name..].split_once(':') {
        Some((name, port)) => (&text[..end_of_name + name.len()], port.parse().ok()?),
        None => (text, PORT),
    };
    let is_name = |char: char| char.is_ascii_alphanumeric() || "-._[]:".contains(char);
    (!name.is_empty() && name.chars().all(is_name)).then(|| format!("{name}:{port}"))
}

/// That of the environment, or of the file, whose last line end does not count.
fn password(file: Option<&Path>) -> Result<Option<Password>, String> {
    let Some(file) = file else {
        return Ok(std::env::var(PASSWORD).ok().filter(|password| !password.is_empty()).map(Password));
    };
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("the password file {} cannot be read: {error}", file.display()))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(Some(Password(text.strip_suffix('\r').unwrap_or(text).to_owned())))
}

/// The session, unless it takes longer than this.
pub(super) async fn open(
    opening: Opening<'_>,
    timeout: Duration,
    user: Option<&str>,
) -> Result<Arc<Session>, Error> {
    let begun = std::time::Instant::now();
    let opened = tokio::time::timeout(timeout, opening).await;
    let source: BoxError = match opened {
        Ok(Ok(session)) => return Ok(session),
        Ok(Err(error)) => error,
        Err(_) => "the session could not be built in that time".into(),
    };
    if let Some(message) = refused_login(source.as_ref()) {
        let user = user.unwrap_or("nobody").to_owned();
        return Err(Problem::LoginRefused { user, message }.into());
    }
    Err(Problem::Unreachable { waited: begun.elapsed(), source: Arc::from(source) }.into())
}

/// What the server says to the user, if that is why there is no session.
fn refused_login(error: &(dyn StdError + 'static)) -> Option<String> {
    let NewSessionError::MetadataError(MetadataError::ConnectionPoolError(ConnectionPoolError::Broken {
        last_connection_error: ConnectionError::ConnectionSetupRequestError(setup),
    })) = error.downcast_ref()?
    else {
        return None;
    };
    match &setup.error {
        ConnectionSetupRequestErrorKind::DbError(DbError::AuthenticationError, message) => {
            Some(message.clone())
        }
        ConnectionSetupRequestErrorKind::MissingAuthentication => Some("it wants a user".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read() {
        let connection = Connection::from_url("cassandra://ada@db-1,10.0.0.2:9043,[::1]/shop").unwrap();
        assert_eq!(connection.hosts(), ["db-1:9042", "10.0.0.2:9043", "[::1]:9042"]);
        assert_eq!((connection.user(), connection.keyspace()), (Some("ada"), Some("shop")));
        let connection = Connection::from_url("cassandra://db").unwrap();
        assert_eq!((connection.user(), connection.keyspace()), (None, None));
    }

    #[test]
    fn other_urls_are_refused_and_not_repeated() {
        for url in [
            "",
            "db/shop",
            "http://secret/shop",
            "cassandra://",
            "cassandra:///secret",
            "cassandra://db,/secret",
            "cassandra://db:secret/shop",
            "cassandra://ada:secret@db/shop",
            "cassandra://db/shop?password=secret",
        ] {
            let error = Connection::from_url(url).unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
        let error = Connection::from_url("cassandra://ada:secret@db/shop").unwrap_err();
        assert!(error.contains("KANDRA_PASSWORD"), "{error}");
    }

    #[test]
    fn a_password_is_not_shown() {
        assert_eq!(format!("{:?}", Password("secret".to_owned())), "…");
    }
}
