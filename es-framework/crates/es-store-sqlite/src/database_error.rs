//! Errors of the disk, and the errors that callers get for them.

use std::{
    io,
    path::{Path, PathBuf},
};

use rusqlite::ErrorCode;

use es_store::{
    AppendError, LogDamage, RegisterError, StoreError, describe_closed_log, event_row::RowFlaw,
};

/// An embedded store that cannot be opened.
///
/// ```
/// use es_store_sqlite::OpenError;
///
/// let error = OpenError::InUse { directory: "data".into() };
/// assert_eq!(error.to_string(), "the data directory data is in use: another process has it open");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory cannot be created or used.
    #[error("cannot use the data directory {}: {source}", directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another process uses the directory. Two writers would break the hash chain.
    #[error("the data directory {} is in use: another process has it open", directory.display())]
    InUse {
        /// The directory.
        directory: PathBuf,
    },
    /// The file is not an event store.
    #[error("{} holds no event store: {found}", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// The actual content.
        found: &'static str,
    },
    /// The file has a newer format.
    #[error(
        "{} has format {found}, but this version knows only formats up to {known}: use a newer version",
        file.display()
    )]
    Newer {
        /// The file.
        file: PathBuf,
        /// The format of the database.
        found: i64,
        /// The newest format that this version knows.
        known: i64,
    },
    /// The file cannot be read or written.
    #[error("cannot open {}: {reason}", file.display())]
    Database {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// An error of a query or a transaction.
#[derive(Debug, thiserror::Error)]
pub(super) enum SqliteError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// Something that no writer of this format leaves.
    #[error("{0}")]
    Damaged(LogDamage),
    /// The log is closed for writing because of this damage.
    #[error("{}", describe_closed_log(.0))]
    Closed(LogDamage),
    /// The database could not be opened again.
    #[error("{0}")]
    Unopened(String),
}

impl From<LogDamage> for SqliteError {
    fn from(damage: LogDamage) -> Self {
        Self::Damaged(damage)
    }
}

impl From<RowFlaw> for SqliteError {
    fn from(RowFlaw { id, flaw }: RowFlaw) -> Self {
        Self::flawed_event(id, flaw)
    }
}

impl SqliteError {
    /// Creates the error of a row that no writer of this format leaves behind.
    pub(super) fn flawed_event(id: i64, flaw: impl ToString) -> Self {
        match u64::try_from(id) {
            Ok(id) => Self::Damaged(LogDamage::of_event(id, format!("it {}", flaw.to_string()))),
            Err(_) => Self::damaged_table("events", format!("it has an event with the id {id}")),
        }
    }

    /// Creates the error of a table that is not as it was written.
    pub(super) fn damaged_table(name: &str, flaw: impl Into<String>) -> Self {
        Self::Damaged(LogDamage::of_table(name, flaw))
    }

    /// Returns the damage that the error shows.
    pub(super) fn damage(&self) -> Option<LogDamage> {
        match self {
            Self::Damaged(damage) => Some(damage.clone()),
            Self::Sqlite(error) if self.is_corruption() => {
                Some(LogDamage::of_table("of a damaged page", error.to_string()))
            }
            _ => None,
        }
    }

    fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Sqlite(error) => error.sqlite_error_code(),
            Self::Damaged(_) | Self::Closed(_) | Self::Unopened(_) => None,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.code() == Some(ErrorCode::DiskFull)
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }

    pub(super) fn is_corruption(&self) -> bool {
        match self {
            Self::Sqlite(_) => matches!(
                self.code(),
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
            ),
            Self::Damaged(_) => true,
            Self::Closed(_) | Self::Unopened(_) => false,
        }
    }

    /// Returns the error that a caller of the store gets.
    pub(super) fn to_store_error(&self, file: &Path) -> StoreError {
        let (address, reason) = (file.display().to_string(), self.to_string());
        if self.is_full() {
            StoreError::Full(format!("{address}: {reason}"))
        } else if self.is_corruption() {
            StoreError::Corrupt { address, reason }
        } else {
            StoreError::Unavailable { address, reason }
        }
    }
}

/// The reason why a batch was not written, which each of its callers gets.
#[derive(Debug)]
pub(super) struct BatchFailure {
    pub(super) error: SqliteError,
    /// True if the next start may find the events or the schema although the commit failed.
    pub(super) uncertain: bool,
}

impl BatchFailure {
    /// Returns the error that each caller of the batch gets.
    pub(super) fn to_append_error(&self, file: &Path) -> AppendError {
        if self.uncertain {
            return AppendError::Unknown {
                address: file.display().to_string(),
                reason: self.error.to_string(),
            };
        }
        self.error.to_store_error(file).into()
    }

    /// Returns the error that the caller of a registration gets.
    pub(super) fn to_register_error(&self, file: &Path) -> RegisterError {
        if self.uncertain {
            return RegisterError::Unknown {
                address: file.display().to_string(),
                reason: self.error.to_string(),
            };
        }
        self.error.to_store_error(file).into()
    }
}

impl From<SqliteError> for BatchFailure {
    fn from(error: SqliteError) -> Self {
        let uncertain = false;
        Self { error, uncertain }
    }
}

impl From<rusqlite::Error> for BatchFailure {
    fn from(error: rusqlite::Error) -> Self {
        SqliteError::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registration_whose_commit_is_uncertain_is_unknown() {
        let failure = |uncertain| BatchFailure {
            error: SqliteError::Unopened("the disk is gone".into()),
            uncertain,
        };
        let error = |uncertain| failure(uncertain).to_register_error(Path::new("events.sqlite"));
        assert!(matches!(error(true), RegisterError::Unknown { .. }));
        assert!(matches!(error(false), RegisterError::Store(_)));
    }
}
