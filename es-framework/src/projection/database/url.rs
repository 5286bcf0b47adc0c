//! Which database keeps the read models: `DATABASE_URL`.

use std::{fmt, path::PathBuf, str::FromStr};

/// The database of the read models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// SQLite in memory: rebuilt from the events at each start.
    #[default]
    Memory,
    /// SQLite in a file: the next start goes on where this one ended.
    File(PathBuf),
}

/// A text that names no database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "write sqlite::memory: for a database in memory, or sqlite:books.db for one in a file; other databases are not supported"
)]
pub struct InvalidDatabaseUrl;

impl FromStr for DatabaseUrl {
    type Err = InvalidDatabaseUrl;

    fn from_str(text: &str) -> Result<Self, InvalidDatabaseUrl> {
        let rest = text.strip_prefix("sqlite:").ok_or(InvalidDatabaseUrl)?;
        let path = rest.strip_prefix("//").unwrap_or(rest);
        match path {
            ":memory:" => Ok(Self::Memory),
            "" => Err(InvalidDatabaseUrl),
            // Parameters are none of a file's name.
            path if path.contains('?') => Err(InvalidDatabaseUrl),
            path => Ok(Self::File(path.into())),
        }
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("sqlite::memory:"),
            Self::File(path) => write!(f, "sqlite:{}", path.display()),
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
        for refused in [
            "",
            "sqlite:",
            "postgres://localhost/x",
            "books.db",
            "sqlite:a?mode=ro",
        ] {
            assert_eq!(url(refused), Err(InvalidDatabaseUrl), "{refused}");
        }
    }
}
