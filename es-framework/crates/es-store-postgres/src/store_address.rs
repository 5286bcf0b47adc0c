//! The URL of the store: one database, and the servers on which it may be writable.

use std::{fmt, sync::Arc};

use es_store::strip_postgres_scheme;
use sqlx::ConnectOptions as _;

use es_event::HashVersion;
use es_sql::postgres::DatabaseServers;

/// The database of an event store and its servers.
///
/// ```
/// use es_store_postgres::StoreAddress;
///
/// let address: StoreAddress = "postgres://library:secret@db-1,db-2:5433/library".parse()?;
/// assert_eq!(address.to_string(), "PostgreSQL database library on db-1:5432, db-2:5433");
/// assert!("http://db-1".parse::<StoreAddress>().is_err());
/// # Ok::<_, es_store_postgres::InvalidStoreAddress>(())
/// ```
#[derive(Clone)]
pub struct StoreAddress {
    pub(crate) servers: DatabaseServers,
    pub(crate) accepts_data_loss: bool,
    pub(crate) uses_notifications: bool,
    pub(crate) hash_version: HashVersion,
    database_url: Arc<str>,
}

/// The error for a text that is not the URL of a PostgreSQL event store.
///
/// ```
/// use es_store_postgres::StoreAddress;
///
/// let error = "postgres://db/library?durability=some".parse::<StoreAddress>().unwrap_err();
/// assert_eq!(error.to_string(), "write durability=unsafe, or leave it out");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidStoreAddress(String);

impl InvalidStoreAddress {
    fn because(reason: impl fmt::Display) -> Self {
        Self(reason.to_string())
    }
}

impl StoreAddress {
    /// Sets the version in which the hashes of new events are computed. Stored events keep theirs.
    #[must_use]
    pub const fn hash_version(mut self, version: HashVersion) -> Self {
        self.hash_version = version;
        self
    }

    /// Returns the URL of the database with its password and without the options of the event store, for other tables
    /// in the same database.
    #[must_use]
    pub fn database_url(&self) -> &str {
        &self.database_url
    }
}

/// Returns true if a connection to PostgreSQL has this parameter.
fn is_known(parameter: &str) -> bool {
    let names = [
        "application_name",
        "dbname",
        "host",
        "options",
        "password",
        "port",
        "sslcert",
        "sslkey",
        "sslmode",
        "sslrootcert",
        "user",
    ];
    names.contains(&parameter) || parameter.starts_with("options[")
}

impl std::str::FromStr for StoreAddress {
    type Err = InvalidStoreAddress;

    fn from_str(url: &str) -> Result<Self, InvalidStoreAddress> {
        let rest = strip_postgres_scheme(url).ok_or_else(|| {
            InvalidStoreAddress::because("write postgres://user:password@host/database")
        })?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (mut accepts_data_loss, mut uses_notifications) = (false, true);
        let mut parameters = Vec::new();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=').unwrap_or((parameter, "")) {
                ("durability", "unsafe") => accepts_data_loss = true,
                ("durability", _) => {
                    let reason = "write durability=unsafe, or leave it out";
                    return Err(InvalidStoreAddress::because(reason));
                }
                ("notifications", "off") => uses_notifications = false,
                ("notifications", _) => {
                    let reason = "write notifications=off, or leave it out";
                    return Err(InvalidStoreAddress::because(reason));
                }
                (name, _) if is_known(name) => parameters.push(parameter),
                _ => {
                    // Its text may be a part of a password that is not percent-encoded.
                    let reason = "a parameter after '?' is unknown, or the password contains '?', '/' or '@' that is not percent-encoded";
                    return Err(InvalidStoreAddress::because(reason));
                }
            }
        }
        let database_url = format!("postgres://{rest}?{}", parameters.join("&"));
        // The error of a URL never repeats its text, which may contain a password.
        let servers: DatabaseServers =
            database_url.parse().map_err(InvalidStoreAddress::because)?;
        let servers = servers.map_options(|options| {
            let options = options.disable_statement_logging();
            match options.get_application_name() {
                Some(_) => options,
                None => options.application_name("event-store"),
            }
        });
        Ok(Self {
            servers,
            accepts_data_loss,
            uses_notifications,
            hash_version: HashVersion::default(),
            database_url: database_url.into(),
        })
    }
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = self.servers.iter().next();
        let database =
            options.map(|options| options.get_database().unwrap_or(options.get_username()));
        let database = database.unwrap_or_default();
        write!(f, "PostgreSQL database {database} on {}", self.servers)
    }
}

/// Without the options of the servers, because they contain the password.
impl fmt::Debug for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_all_servers_and_no_text_shows_the_password() {
        let url = "postgres://me:se%40cret@a,b:5433,[::1]:5434/events?durability=unsafe\
             &notifications=off&sslmode=disable&options[search_path]=x";
        let address: StoreAddress = url.parse().unwrap();
        let text = "PostgreSQL database events on a:5432, b:5433, [::1]:5434";
        assert_eq!(address.to_string(), text);
        assert_eq!(format!("{address:?}"), text);
        assert!(address.accepts_data_loss && !address.uses_notifications);
        let database_url = "postgres://me:se%40cret@a,b:5433,[::1]:5434/events?sslmode=disable&options[search_path]=x";
        assert_eq!(address.database_url(), database_url);
        let options = address.servers.connection_options(1).unwrap();
        assert_eq!(options.get_username(), "me");
        assert_eq!(options.get_options(), Some("-c search_path=x"));
    }

    #[test]
    fn a_wrong_url_is_refused_without_its_password() {
        for url in [
            "mysql://a/b",
            "postgres://me:secret@a:port/b",
            "postgres://me:secret@a/b?sslmode=some",
            "postgres://me:secret@a/b?notifications=some",
            "postgres://me:why?secret@a/b",
        ] {
            let error = url.parse::<StoreAddress>().unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
