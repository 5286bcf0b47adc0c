//! The settings of a server that is too old, that cannot hold all texts, or that may lose what it has confirmed.

use sqlx::PgConnection;

/// The oldest version of PostgreSQL that is supported, as `server_version_num` gives it.
const OLDEST_VERSION: i64 = 130_000;

/// An engine that lacks a setting does not list it, and then there is nothing to object to.
const SETTINGS: &str = "SELECT name, setting FROM pg_settings \
     WHERE name IN ('server_version', 'server_version_num', 'server_encoding', 'fsync', 'synchronous_commit')";

/// The reason why a server is refused.
///
/// ```
/// use es_sql::postgres::UnsafeServer;
///
/// let error = UnsafeServer::Version { found: "12.4".into() };
/// assert_eq!(error.to_string(), "PostgreSQL 13 or newer is needed, and this is 12.4");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum UnsafeServer {
    /// The server is too old.
    #[error("PostgreSQL 13 or newer is needed, and this is {found}")]
    Version {
        /// The version of the server.
        found: String,
    },
    /// The database cannot hold all texts.
    #[error(
        "the database has the encoding {found}, which cannot hold all texts: create another one with `CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0`"
    )]
    Encoding {
        /// The encoding of the database.
        found: String,
    },
    /// The server may lose what it has confirmed.
    #[error(
        "PostgreSQL runs with {setting} and may lose what it has confirmed: turn it on, or accept the loss with ?durability=unsafe in the URL"
    )]
    Durability {
        /// The setting and its value.
        setting: &'static str,
    },
}

/// Returns the reason to refuse a server, if there is one.
///
/// # Errors
/// The connection fails.
#[doc(hidden)]
pub async fn find_unsafe_setting(
    connection: &mut PgConnection,
    accepts_data_loss: bool,
) -> Result<Option<UnsafeServer>, sqlx::Error> {
    let settings: Vec<(String, String)> = sqlx::query_as(SETTINGS).fetch_all(connection).await?;
    let setting = |wanted: &str| {
        let mut found = settings.iter().filter(|(name, _)| name == wanted);
        found.next().map(|(_, value)| value.as_str())
    };
    let version = setting("server_version_num").and_then(|number| number.parse().ok());
    if version.is_none_or(|version: i64| version < OLDEST_VERSION) {
        let found = setting("server_version").unwrap_or("unknown").to_owned();
        return Ok(Some(UnsafeServer::Version { found }));
    }
    if let Some(found) = setting("server_encoding").filter(|found| *found != "UTF8") {
        let found = found.to_owned();
        return Ok(Some(UnsafeServer::Encoding { found }));
    }
    if accepts_data_loss {
        return Ok(None);
    }
    let unsafe_settings = [
        ("fsync", "fsync=off"),
        ("synchronous_commit", "synchronous_commit=off"),
    ];
    let mut found = unsafe_settings
        .into_iter()
        .filter(|(name, _)| setting(name) == Some("off"));
    Ok(found
        .next()
        .map(|(_, setting)| UnsafeServer::Durability { setting }))
}
