//! The place of the events: `EVENT_STORE_URL`.

use std::{convert::Infallible, fmt, str::FromStr};

/// The URL of an event store: `http://…` or `https://…` for the protocol of EventSourcingDB,
/// `postgres://…` for a PostgreSQL database. It is displayed without anything that may contain a password.
///
/// ```
/// use es_framework::config::EventStoreUrl;
///
/// let url: EventStoreUrl = "postgres://library:secret@db/library".into();
/// assert_eq!(url.to_string(), "postgres://…");
/// assert_eq!(EventStoreUrl::from("http://localhost:3000").to_string(), "http://localhost:3000");
/// assert_eq!(EventStoreUrl::from("http://admin:secret@db:3000").to_string(), "http://…");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct EventStoreUrl(String);

impl EventStoreUrl {
    /// Returns the URL with its password.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns true if the URL names a PostgreSQL database.
    #[must_use]
    pub fn is_postgres(&self) -> bool {
        es_store::strip_postgres_scheme(&self.0).is_some()
    }
}

impl<T: Into<String>> From<T> for EventStoreUrl {
    fn from(url: T) -> Self {
        Self(url.into())
    }
}

impl FromStr for EventStoreUrl {
    type Err = Infallible;

    fn from_str(url: &str) -> Result<Self, Infallible> {
        Ok(url.into())
    }
}

impl fmt::Display for EventStoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_postgres() {
            f.write_str("postgres://…")
        } else if self.0.contains('@') {
            // The client refuses such a URL. Its error and the logs must not show the password either.
            f.write_str("http://…")
        } else {
            f.write_str(&self.0)
        }
    }
}

impl fmt::Debug for EventStoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
