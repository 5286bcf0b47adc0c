//! The place of a database, such as `DATABASE_URL` names it.

use std::{fmt, path::PathBuf, str::FromStr};

/// The place of a database.
///
/// ```
/// use es_sql::DatabaseUrl;
///
/// let file: DatabaseUrl = "sqlite:stock.db".parse()?;
/// assert_eq!(file, DatabaseUrl::File("stock.db".into()));
/// let server: DatabaseUrl = "postgres://library:secret@db/library".parse()?;
/// assert_eq!(server.to_string(), "postgres://…");
/// # Ok::<_, es_sql::InvalidDatabaseUrl>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// SQLite in memory. The read models are rebuilt at each start.
    #[default]
    Memory,
    /// SQLite in a file. The next start continues at the checkpoints.
    File(PathBuf),
    /// A database on a PostgreSQL server, for processes on one or several machines.
    Postgres(String),
}

/// The error for a text that names no database.
///
/// ```
/// use es_sql::{DatabaseUrl, InvalidDatabaseUrl};
///
/// assert_eq!("mysql://localhost".parse::<DatabaseUrl>(), Err(InvalidDatabaseUrl));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "write sqlite::memory: for a database in memory, sqlite:books.db for one in a file, or postgres://user:password@host/database for one on a PostgreSQL server"
)]
pub struct InvalidDatabaseUrl;

impl FromStr for DatabaseUrl {
    type Err = InvalidDatabaseUrl;

    fn from_str(text: &str) -> Result<Self, InvalidDatabaseUrl> {
        if es_store::strip_postgres_scheme(text).is_some() {
            return Ok(Self::Postgres(text.to_owned()));
        }
        let rest = text.strip_prefix("sqlite:").ok_or(InvalidDatabaseUrl)?;
        let path = rest.strip_prefix("//").unwrap_or(rest);
        match path {
            ":memory:" => Ok(Self::Memory),
            "" => Err(InvalidDatabaseUrl),
            // A file name with parameters is not supported.
            path if path.contains('?') => Err(InvalidDatabaseUrl),
            path => Ok(Self::File(path.into())),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("sqlite::memory:"),
            Self::File(path) => write!(f, "sqlite:{}", path.display()),
            // The URL may contain a password.
            Self::Postgres(_) => f.write_str("postgres://…"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_memory_or_a_file() {
        let url = |text: &str| text.parse::<DatabaseUrl>();
        assert_eq!(url("sqlite::memory:"), Ok(DatabaseUrl::Memory));
        assert_eq!(url("sqlite://:memory:"), Ok(DatabaseUrl::Memory));
        let file = Ok(DatabaseUrl::File("data/books.db".into()));
        assert_eq!(url("sqlite:data/books.db"), file);
        assert_eq!(url("sqlite://data/books.db"), file);
        let server = "postgres://localhost/x";
        assert_eq!(url(server), Ok(DatabaseUrl::Postgres(server.into())));
        for refused in [
            "",
            "sqlite:",
            "mysql://localhost/x",
            "books.db",
            "sqlite:a?mode=ro",
        ] {
            assert_eq!(url(refused), Err(InvalidDatabaseUrl), "{refused}");
        }
    }
}
