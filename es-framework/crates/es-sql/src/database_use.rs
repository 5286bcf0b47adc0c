//! The use of a database.

use super::sqlite::Durability;

/// The use of a database. It decides how durable a commit in SQLite is, and which lock of a server grants the right to
/// write, so that several uses may share one schema.
///
/// ```
/// use std::time::Duration;
///
/// use es_sql::{DatabaseUrl, DatabaseUse, SqlDatabase};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_sql::DatabaseError> {
/// let url = DatabaseUrl::Memory;
/// let tasks = SqlDatabase::open(&url, Duration::from_secs(5), DatabaseUse::State).await?;
/// assert!(tasks.try_become_writer().await?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseUse {
    /// Rows that follow from the events: those of read models, and snapshots. A power cut may remove the last of them from
    /// a file, and their events are applied again.
    Derived,
    /// The tasks of reactions. A commit survives a power cut.
    State,
}

impl DatabaseUse {
    /// Returns the effect of a power cut on a file.
    pub(crate) const fn durability(self) -> Durability {
        match self {
            Self::Derived => Durability::Rebuildable,
            Self::State => Durability::Full,
        }
    }

    /// Returns the setting that names the database.
    #[cfg(feature = "postgres")]
    pub(crate) const fn setting(self) -> &'static str {
        match self {
            Self::Derived => "DATABASE_URL",
            Self::State => "STATE_DATABASE_URL",
        }
    }
}
