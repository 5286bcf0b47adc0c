//! The place of the persons' keys: `KEY_STORE_URL`.

use std::{fmt, path::PathBuf, str::FromStr};

use crate::projection::DatabaseUrl;

/// The database with the keys of persons.
///
/// ```
/// use es_framework::config::KeyStoreUrl;
///
/// let url: KeyStoreUrl = "sqlite:keys/library.sqlite".parse()?;
/// assert_eq!(url, KeyStoreUrl::File("keys/library.sqlite".into()));
/// # Ok::<_, es_framework::config::InvalidKeyStoreUrl>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub enum KeyStoreUrl {
    /// A SQLite file.
    File(PathBuf),
    /// A PostgreSQL database, for several instances.
    Postgres(String),
}

/// The error for a URL that names no database of keys.
///
/// ```
/// use es_framework::config::KeyStoreUrl;
///
/// let error = "keys.sqlite".parse::<KeyStoreUrl>().unwrap_err();
/// assert!(error.to_string().starts_with("write sqlite:keys.sqlite"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "write sqlite:keys.sqlite for a file, or postgres://user:password@host/database for a PostgreSQL server"
)]
pub struct InvalidKeyStoreUrl;

impl FromStr for KeyStoreUrl {
    type Err = InvalidKeyStoreUrl;

    fn from_str(text: &str) -> Result<Self, InvalidKeyStoreUrl> {
        if es_store::strip_postgres_scheme(text).is_some() {
            return Ok(Self::Postgres(text.to_owned()));
        }
        match text.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() && !path.contains(['?', ':']) => {
                Ok(Self::File(path.strip_prefix("//").unwrap_or(path).into()))
            }
            _ => Err(InvalidKeyStoreUrl),
        }
    }
}

impl From<KeyStoreUrl> for DatabaseUrl {
    fn from(url: KeyStoreUrl) -> Self {
        match url {
            KeyStoreUrl::File(path) => Self::File(path),
            KeyStoreUrl::Postgres(url) => Self::Postgres(url),
        }
    }
}

impl fmt::Display for KeyStoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "sqlite:{}", path.display()),
            // The URL may contain a password.
            Self::Postgres(_) => f.write_str("postgres://…"),
        }
    }
}

impl fmt::Debug for KeyStoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
