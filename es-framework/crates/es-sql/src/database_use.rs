//! The use of a database.

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
    /// Rows of read models. A power cut may remove the last of them from a file, and their events are applied again.
    ReadModels,
    /// The tasks of reactions. A commit survives a power cut.
    State,
}

impl DatabaseUse {
    /// Returns the setting that names the database.
    #[cfg(feature = "postgres")]
    pub(crate) const fn setting(self) -> &'static str {
        match self {
            Self::ReadModels => "DATABASE_URL",
            Self::State => "STATE_DATABASE_URL",
        }
    }
}
