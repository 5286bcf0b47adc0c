//! What goes wrong between the read models and their database.

/// The database did not do what was asked.
///
/// ```
/// use es_framework::projection::DatabaseError;
///
/// /// Whether the same query may be answered in a moment.
/// fn try_again(error: &DatabaseError) -> bool {
///     matches!(error, DatabaseError::Busy | DatabaseError::Lost)
/// }
///
/// assert!(try_again(&DatabaseError::Busy));
/// assert!(!try_again(&DatabaseError::TooExpensive));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// A query failed.
    #[error("the database of read models failed: {0}")]
    Read(#[source] sqlx::Error),
    /// A query took longer than it may.
    #[error("the query took too long and was ended")]
    TooExpensive,
    /// Other queries take all connections.
    #[error("no connection to the database of read models came free in time")]
    Busy,
    /// A write failed.
    #[error("the database of read models failed: {0}")]
    Write(#[from] rusqlite::Error),
    /// A database in memory takes no more.
    #[error(
        "the database of read models holds 1 GiB, more than which SQLite keeps in memory: set DATABASE_URL to a file or to PostgreSQL"
    )]
    Full,
    /// Another process may write by now.
    #[error("the connection that holds the right to write was lost")]
    Lost,
    /// The thread that writes ended in the middle.
    #[error("the database of read models stopped in the middle of a write")]
    Interrupted,
    /// A row is not what its read model reads.
    #[error(
        "a row of {table} cannot be read: {reason}: count the version of the read model up, so that it is rebuilt"
    )]
    Row {
        /// The table.
        table: &'static str,
        /// What is wrong with the row.
        reason: String,
    },
    /// The file cannot be used.
    #[error("{path} cannot be used: {source}")]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

/// The codes of a statement that was ended for its time: SQLite's and PostgreSQL's.
const ENDED: [&str; 2] = ["9", "57014"];

impl From<sqlx::Error> for DatabaseError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::PoolTimedOut => Self::Busy,
            sqlx::Error::Database(database)
                if database.code().is_some_and(|code| ENDED.contains(&&*code)) =>
            {
                Self::TooExpensive
            }
            _ => Self::Read(error),
        }
    }
}

impl DatabaseError {
    /// Whether the database refused what it was given, so that trying again is of no use.
    pub(crate) fn is_refusal(&self) -> bool {
        use rusqlite::ErrorCode::{ConstraintViolation, TooBig, TypeMismatch};

        match self {
            Self::Write(error) => matches!(
                error.sqlite_error_code(),
                Some(ConstraintViolation | TooBig | TypeMismatch)
            ),
            // Of PostgreSQL's classes, 22 is data that does not fit and 23 a constraint.
            Self::Read(sqlx::Error::Database(error)) => error
                .code()
                .is_some_and(|code| code.starts_with("22") || code.starts_with("23")),
            _ => false,
        }
    }
}
