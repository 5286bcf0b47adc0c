//! The error of a database, and what follows from it.

/// The reason why a database cannot be used, or why a statement in it failed.
///
/// ```
/// use es_sql::DatabaseError;
///
/// /// Returns true if the same query may succeed in a moment.
/// fn try_again(error: &DatabaseError) -> bool {
///     matches!(error, DatabaseError::Busy) || error.is_outage()
/// }
///
/// assert!(try_again(&DatabaseError::Busy));
/// assert!(!try_again(&DatabaseError::TooExpensive));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// PostgreSQL failed.
    #[cfg(feature = "postgres")]
    #[error("the database failed: {0}")]
    Postgres(#[source] sqlx::Error),
    /// PostgreSQL does not answer.
    #[cfg(feature = "postgres")]
    #[error("the database does not answer: {0}")]
    Unreachable(#[source] sqlx::Error),
    /// The program was compiled without PostgreSQL.
    #[cfg(not(feature = "postgres"))]
    #[error("postgres:// needs the feature `postgres`, without which this program was compiled")]
    MissingFeature,
    /// SQLite failed.
    #[error("the database failed: {0}")]
    Sqlite(#[source] rusqlite::Error),
    /// A query took longer than it may.
    #[error("the query took too long and was ended")]
    TooExpensive,
    /// Other queries use all connections.
    #[error("no connection to the database came free in time")]
    Busy,
    /// Other queries of the same caller use its share of the database.
    #[error("other queries of this caller use its share of the database")]
    ShareInUse,
    /// A database in memory has reached its size limit.
    #[error(
        "the database holds 1 GiB, more than which SQLite keeps in memory: set DATABASE_URL to a file or to PostgreSQL"
    )]
    Full,
    /// Another process may write by now.
    #[error("the connection that holds the right to write was lost")]
    Lost,
    /// The thread of a statement ended before the statement.
    #[error("the database stopped in the middle of a statement")]
    Interrupted,
    /// A statement that has to select texts selects something else.
    #[error("the first column of the statement is no text: cast it in the statement")]
    NoText,
    /// A stored row does not fit its read model.
    #[error("a row of {table} cannot be read: {reason}: rebuild the read model")]
    Row {
        /// The table.
        table: &'static str,
        /// The defect of the row.
        reason: String,
    },
    /// The database cannot hold the tables as it is set up.
    #[error("the database {defect}")]
    Unsuitable {
        /// The defect, and how to remove it.
        defect: String,
    },
    /// The file cannot be used.
    #[error("{path} cannot be used: {source}")]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
}

/// Returns the SQLSTATE of an error, if the server answered with one.
#[cfg(feature = "postgres")]
#[doc(hidden)]
#[must_use]
pub fn error_code(error: &sqlx::Error) -> Option<String> {
    error.as_database_error()?.code().map(Into::into)
}

/// PostgreSQL's error code of a statement that exceeded its time limit.
#[cfg(feature = "postgres")]
const QUERY_CANCELED: &str = "57014";

/// PostgreSQL's error code of a server that accepts no writes.
#[cfg(feature = "postgres")]
const READ_ONLY: &str = "25006";
/// The classes of PostgreSQL's error codes that one row causes: data that does not fit, a constraint, a limit such
/// as the length of an index entry, and an exception of a trigger.
#[cfg(feature = "postgres")]
const REFUSALS: [&str; 4] = ["22", "23", "54", "P0"];

/// Returns whether PostgreSQL's error code means that the data of a row is refused.
#[cfg(feature = "postgres")]
fn is_refusal(code: &str) -> bool {
    REFUSALS.iter().any(|class| code.starts_with(class))
}

/// Returns whether PostgreSQL's error code means that the server starts, stops, lost the connection, or lacks connections
/// or memory for the moment.
#[cfg(feature = "postgres")]
fn is_outage(code: &str) -> bool {
    code != DISK_FULL
        && ["08", "53", "57P"]
            .iter()
            .any(|class| code.starts_with(class))
}

#[cfg(feature = "postgres")]
impl From<sqlx::Error> for DatabaseError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::PoolTimedOut => Self::Busy,
            sqlx::Error::Io(_) | sqlx::Error::Tls(_) => Self::Unreachable(error),
            sqlx::Error::Database(database) => match database.code().as_deref() {
                Some(QUERY_CANCELED) => Self::TooExpensive,
                Some(code) if is_outage(code) => Self::Unreachable(error),
                _ => Self::Postgres(error),
            },
            _ => Self::Postgres(error),
        }
    }
}

/// PostgreSQL's error code of a table that does not exist.
#[cfg(feature = "postgres")]
const UNDEFINED_TABLE: &str = "42P01";
/// PostgreSQL's error codes of a table, a column, or a unique index that does not exist.
#[cfg(feature = "postgres")]
const TABLE_DAMAGES: [&str; 3] = [UNDEFINED_TABLE, "42703", "42P10"];
/// PostgreSQL's error code of a full disk.
#[cfg(feature = "postgres")]
const DISK_FULL: &str = "53100";

/// Returns whether PostgreSQL's error passes without help.
#[cfg(feature = "postgres")]
fn is_transient(error: &sqlx::Error) -> bool {
    // A server that accepts no writes after a failover, serialization failures, exhausted resources, locks and
    // interventions of an administrator pass.
    const TRANSIENT_CLASSES: [&str; 5] = ["25", "40", "53", "55", "57"];
    match error {
        sqlx::Error::Database(error) => {
            let code = error.code();
            let class = code.as_ref().and_then(|code| code.get(..2));
            TRANSIENT_CLASSES.contains(&class.unwrap_or_default())
        }
        _ => true,
    }
}

impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => Self::TooExpensive,
            _ => Self::Sqlite(error),
        }
    }
}

impl DatabaseError {
    /// Returns true if the database does not answer at the moment.
    #[must_use]
    pub const fn is_outage(&self) -> bool {
        match self {
            #[cfg(feature = "postgres")]
            Self::Unreachable(_) => true,
            Self::Lost => true,
            _ => false,
        }
    }

    /// Returns true if a table lacks something that its declaration has, so that the table has to be made again.
    #[must_use]
    pub fn is_table_damage(&self) -> bool {
        match self {
            Self::Sqlite(error) => {
                let text = error.to_string();
                error.sqlite_error_code() == Some(rusqlite::ErrorCode::Unknown)
                    && [
                        "no such table",
                        "no such column",
                        "has no column named",
                        "ON CONFLICT clause does not match",
                    ]
                    .iter()
                    .any(|damage| text.contains(damage))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(sqlx::Error::Database(error)) => error
                .code()
                .is_some_and(|code| TABLE_DAMAGES.contains(&&*code)),
            _ => false,
        }
    }

    /// Returns true if the database ended a statement because a number does not fit.
    #[must_use]
    pub fn is_overflow(&self) -> bool {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(sqlx::Error::Database(error)) => {
                error.code().as_deref() == Some("22003")
            }
            _ => false,
        }
    }

    /// Returns true if the space for the data is used up.
    #[must_use]
    pub fn is_full(&self) -> bool {
        match self {
            Self::Full => true,
            Self::Sqlite(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull),
            #[cfg(feature = "postgres")]
            Self::Postgres(error) => error_code(error).as_deref() == Some(DISK_FULL),
            _ => false,
        }
    }

    /// Returns true if another program holds a lock of the SQLite file.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};

        match self {
            Self::Sqlite(error) => matches!(
                error.sqlite_error_code(),
                Some(DatabaseBusy | DatabaseLocked)
            ),
            _ => false,
        }
    }

    /// Returns true if another attempt may succeed without help.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            error if error.is_full() => false,
            error if error.is_locked() => true,
            // The table is made again.
            error if error.is_table_damage() => true,
            Self::Sqlite(error) => {
                error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted)
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(error) => is_transient(error),
            #[cfg(feature = "postgres")]
            Self::Unreachable(_) => true,
            #[cfg(not(feature = "postgres"))]
            Self::MissingFeature => false,
            Self::TooExpensive | Self::Busy | Self::ShareInUse | Self::Lost | Self::Interrupted => {
                true
            }
            Self::Full
            | Self::NoText
            | Self::Row { .. }
            | Self::Unsuitable { .. }
            | Self::File { .. } => false,
        }
    }

    /// Returns true if a table does not exist.
    #[must_use]
    pub fn is_missing_table(&self) -> bool {
        match self {
            Self::Sqlite(error) => error.to_string().contains("no such table"),
            #[cfg(feature = "postgres")]
            Self::Postgres(error) => error_code(error).as_deref() == Some(UNDEFINED_TABLE),
            _ => false,
        }
    }

    /// Returns true if the database refused the data, so that a retry fails again.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        use rusqlite::ErrorCode::{ConstraintViolation, TooBig, TypeMismatch};

        match self {
            Self::Sqlite(error) => matches!(
                error.sqlite_error_code(),
                Some(ConstraintViolation | TooBig | TypeMismatch)
            ),
            #[cfg(feature = "postgres")]
            Self::Postgres(sqlx::Error::Database(error)) => {
                error.code().is_some_and(|code| is_refusal(&code))
            }
            // An event changes a row that another version of the code wrote.
            Self::Row { .. } => true,
            _ => false,
        }
    }

    /// Returns true if the session of the writing connection may be over, and its lock with it.
    #[cfg(feature = "postgres")]
    pub(crate) fn may_end_session(&self) -> bool {
        match self {
            // A server that answers with such an error has only undone the transaction. One that accepts no writes
            // is not the primary any more.
            Self::Postgres(sqlx::Error::Database(error)) => {
                error.code().as_deref() == Some(READ_ONLY)
            }
            _ => true,
        }
    }
}
