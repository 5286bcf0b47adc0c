//! The servers of a PostgreSQL database, of which one accepts writes.

use std::{fmt, io, str::FromStr, sync::Arc, time::Duration};

use es_store::strip_postgres_scheme;
use futures_util::future::BoxFuture;
use sqlx::{Connection as _, PgConnection, postgres::PgConnectOptions};
use tokio::time::timeout;

use super::{
    server_race::{accepts_writes, first_success},
    transaction_pool::explain_pool,
};

/// The time in which a server that works accepts a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The servers of a database, from a URL such as `postgres://me:secret@db-1,db-2:5433/library`.
#[doc(hidden)]
#[derive(Clone)]
pub struct DatabaseServers {
    servers: Arc<[PgConnectOptions]>,
}

/// A connection to the server that accepts writes.
#[derive(Debug)]
pub(super) struct PrimaryConnection {
    /// The connection.
    pub(super) connection: PgConnection,
    /// The position of the server among those that the URL lists, from 0.
    pub(super) server: usize,
}

impl FromStr for DatabaseServers {
    type Err = sqlx::Error;

    fn from_str(url: &str) -> Result<Self, sqlx::Error> {
        let urls = server_urls(url);
        let servers = urls.iter().map(|url| url.parse().map_err(unwrap_once));
        let servers = servers.collect::<Result<_, _>>()?;
        Ok(Self { servers })
    }
}

impl DatabaseServers {
    /// Returns the options of a connection to a server.
    #[must_use]
    pub fn connection_options(&self, server: usize) -> Option<&PgConnectOptions> {
        self.servers.get(server)
    }

    /// Returns the options of a connection to each server, in the order of the URL.
    pub fn iter(&self) -> impl Iterator<Item = &PgConnectOptions> {
        self.servers.iter()
    }

    /// Changes the options of the connections to all servers.
    #[must_use]
    pub fn map_options(&self, change: impl Fn(PgConnectOptions) -> PgConnectOptions) -> Self {
        let servers = self.servers.iter().cloned().map(change);
        Self {
            servers: servers.collect(),
        }
    }

    /// Connects to all servers at once, and returns the first connection to one that accepts writes. A
    /// server that hangs delays nobody.
    ///
    /// # Errors
    /// No server accepts writes. The error says why, by the server whose error says most.
    pub(super) fn connect_to_primary(
        &self,
    ) -> BoxFuture<'_, Result<PrimaryConnection, sqlx::Error>> {
        Box::pin(async move {
            let servers = self.servers.iter().enumerate();
            let attempts = servers.map(|(server, options)| async move {
                let connecting = timeout(CONNECT_TIMEOUT, connect_to_primary(options)).await;
                let connection = connecting.unwrap_or_else(|_| {
                    let reason = format!("{} does not answer", server_name(options));
                    Err(io::Error::new(io::ErrorKind::TimedOut, reason).into())
                })?;
                Ok(PrimaryConnection { connection, server })
            });
            let connection = first_success(attempts).await;
            connection.map_err(|failures| {
                let failure = failures.into_iter().max_by_key(rank);
                failure.unwrap_or_else(|| io::Error::other("the URL names no server").into())
            })
        })
    }
}

/// Removes the outer error if it only wraps another one, as sqlx does for a wrong parameter. Both begin with the
/// same words.
fn unwrap_once(error: sqlx::Error) -> sqlx::Error {
    match error {
        sqlx::Error::Configuration(cause) => match cause.downcast() {
            Ok(cause) => *cause,
            Err(cause) => sqlx::Error::Configuration(cause),
        },
        other => other,
    }
}

/// That a server accepts no writes says least, because the primary is another one.
fn rank(error: &sqlx::Error) -> u8 {
    match error {
        sqlx::Error::Io(error) if error.kind() == io::ErrorKind::Other => 0,
        sqlx::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => 1,
        _ => 2,
    }
}

/// Returns the host and the port of a server, or its socket.
#[doc(hidden)]
#[must_use]
pub fn server_name(options: &PgConnectOptions) -> String {
    match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    }
}

impl fmt::Display for DatabaseServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(server_name).collect();
        f.write_str(&names.join(", "))
    }
}

/// Without the options of the servers, because they contain the password.
impl fmt::Debug for DatabaseServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

async fn connect_to_primary(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let connection = PgConnection::connect_with(options).await;
    let mut connection = connection.map_err(explain_pool)?;
    let is_primary = accepts_writes(&mut connection).await;
    if !is_primary.map_err(explain_pool)? {
        let reason = format!("{} is a standby or read-only", server_name(options));
        return Err(io::Error::other(reason).into());
    }
    Ok(connection)
}

/// Returns the URL of each server. A text without the scheme of PostgreSQL is one URL.
fn server_urls(url: &str) -> Vec<String> {
    let Some(rest) = strip_postgres_scheme(url) else {
        return vec![url.to_owned()];
    };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, hosts) = match authority.rsplit_once('@') {
        Some((user, hosts)) => (format!("{user}@"), hosts),
        None => (String::new(), authority),
    };
    let hosts = hosts.split(',');
    hosts
        .map(|host| format!("postgres://{user}{host}/{database}?{query}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_all_servers() {
        let url = "postgresql://me:se%40cret@a,b:5433,[::1]:5434/rows?sslmode=disable";
        let servers: DatabaseServers = url.parse().unwrap();
        let address = |server: &PgConnectOptions| (server.get_host().to_owned(), server.get_port());
        let addresses: Vec<_> = servers.servers.iter().map(address).collect();
        let expected = [("a", 5432), ("b", 5433), ("[::1]", 5434)];
        assert_eq!(
            addresses,
            expected.map(|(host, port)| (host.to_owned(), port))
        );
        let second = servers.connection_options(1).unwrap();
        assert_eq!(second.get_username(), "me");
        assert_eq!(second.get_database(), Some("rows"));
        assert!(servers.connection_options(3).is_none());
        assert!(!format!("{servers:?}").contains("cret"));
        assert!("postgres://a:port/rows".parse::<DatabaseServers>().is_err());
    }

    #[test]
    fn a_wrong_parameter_is_named_in_a_short_error() {
        let url = "postgres://a/rows?sslmode=maybe";
        let error = url.parse::<DatabaseServers>().unwrap_err();
        let expected = "error with configuration: unknown value \"maybe\" for `ssl_mode`";
        assert_eq!(error.to_string(), expected);
    }
}
