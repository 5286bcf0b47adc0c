//! Errors of the database, sorted by what to do about them.

use es_sql::postgres::{Remedy, UnsafeServer, error_code, explain_pool, remedy};
use es_store::{AppendError, LogDamage, StoreError, describe_closed_log, event_row::RowFlaw};

/// The error of a store that cannot be opened.
///
/// ```
/// use es_store_postgres::PostgresOpenError;
///
/// let error = PostgresOpenError::Newer { found: 9, known: 4 };
/// assert!(error.to_string().ends_with("use a newer one"));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum PostgresOpenError {
    /// No server of the URL accepts writes.
    #[error("no server of the {address} accepts writes: {reason}")]
    Unavailable {
        /// The database and its servers.
        address: String,
        /// The description of the failure.
        reason: String,
    },
    /// The server is too old, cannot hold all texts, or may lose what it has confirmed.
    #[error(transparent)]
    Unsafe(#[from] UnsafeServer),
    /// The role of the URL lacks rights.
    #[error(
        "the role of the URL may not write the tables of the event store: let their owner run `{grants}`"
    )]
    MissingRights {
        /// The statements that grant the rights.
        grants: String,
    },
    /// A connection pool in transaction mode stands before the server.
    #[error("{0}")]
    Pooled(String),
    /// The tables were written by a newer version of this program.
    #[error(
        "the tables of the event store have version {found}, but this program knows only versions up to {known}: use a newer one"
    )]
    Newer {
        /// The version of the tables.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The tables have only a part of the events of a copy.
    #[error(
        "a copy into this event store is not finished: run the same `event-store copy` again to finish it, or drop the tables whose names begin with es_ to discard it"
    )]
    UnfinishedCopy,
    /// The tables of an earlier version have an event that was changed, or lack one.
    #[error(
        "the tables of the event store cannot be brought to the current version, because event {event} is damaged: {reason}. Restore the events from a standby or a backup"
    )]
    Damaged {
        /// The number of the event.
        event: u64,
        /// The defect.
        reason: String,
    },
    /// The tables cannot be created or read.
    #[error("the tables of the event store cannot be used: {0}")]
    Tables(String),
}

impl From<DatabaseError> for PostgresOpenError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Server(error) => error,
            DatabaseError::Sql(error) => match explain_pool(error) {
                sqlx::Error::Configuration(error) => Self::Pooled(error.to_string()),
                error => Self::Tables(error.to_string()),
            },
            error => Self::Tables(error.to_string()),
        }
    }
}

/// The error of one statement or of a whole transaction.
#[derive(Debug, thiserror::Error)]
pub(super) enum DatabaseError {
    #[error(transparent)]
    Sql(#[from] sqlx::Error),
    /// No server can be used.
    #[error(transparent)]
    Server(#[from] PostgresOpenError),
    /// The server did not answer in time.
    #[error("the server does not answer in time")]
    Timeout,
    /// The server accepts no writes any more, or it lacks events that another server has.
    #[error("another server accepts writes by now")]
    Replaced,
    /// All connections that read are in use for too long.
    #[error("too many reads wait for a connection")]
    Busy,
    /// The database holds something that no version of this program wrote, or lacks something.
    #[error("{0}")]
    Damaged(LogDamage),
    /// The log is closed for writing because of this damage.
    #[error("{}", describe_closed_log(.0))]
    Closed(String),
    /// This program has a bug.
    #[error("{0}")]
    Bug(&'static str),
}

impl From<RowFlaw> for DatabaseError {
    fn from(RowFlaw { id, flaw }: RowFlaw) -> Self {
        Self::flawed_event(id, flaw)
    }
}

impl DatabaseError {
    /// Returns the error for the event `id`, which is not as it was written.
    pub(super) fn flawed_event(id: i64, flaw: impl std::fmt::Display) -> Self {
        match u64::try_from(id) {
            Ok(id) => Self::Damaged(LogDamage::of_event(id, format!("it {flaw}"))),
            Err(_) => Self::damaged_table("es_events", format!("it has an event with the id {id}")),
        }
    }

    /// Returns the error for a table that is not as it was written.
    pub(super) fn damaged_table(name: &str, flaw: impl Into<String>) -> Self {
        Self::Damaged(LogDamage::of_table(name, flaw))
    }

    /// Returns the error for a store without the row of its end.
    pub(super) fn missing_head() -> Self {
        let flaw = "it is empty, so the events are gone or a restore is running";
        Self::damaged_table("es_head", flaw)
    }

    /// Returns the error for callers who wanted to write: damage has closed the log.
    pub(super) fn into_write_error(self) -> Self {
        match self {
            Self::Damaged(damage) => Self::Closed(damage.to_string()),
            error => error,
        }
    }

    fn code(&self) -> Option<String> {
        match self {
            Self::Sql(error) => error_code(error),
            _ => None,
        }
    }

    /// Returns what to do about the error.
    pub(super) fn remedy(&self) -> Remedy {
        match self {
            Self::Sql(error) => remedy(error),
            Self::Server(PostgresOpenError::Unavailable { .. })
            | Self::Busy
            | Self::Timeout
            | Self::Replaced => Remedy::Reconnect,
            Self::Server(_) | Self::Damaged(_) | Self::Closed(_) | Self::Bug(_) => Remedy::GiveUp,
        }
    }

    /// Returns true if the server refuses the content of a statement.
    pub(super) fn is_refusal(&self) -> bool {
        let code = self.code();
        code.is_some_and(|code| code.starts_with("22") || code.starts_with("54"))
    }

    /// Returns true if a table does not exist.
    pub(super) fn is_undefined_table(&self) -> bool {
        self.code().as_deref() == Some("42P01")
    }

    /// Returns the error for the callers of the store.
    pub(super) fn to_store_error(&self, address: &str) -> StoreError {
        let (address, reason) = (address.to_owned(), self.to_string());
        match (self, self.code().as_deref()) {
            // Disk full. Other resources that the server lacks come back on their own.
            (_, Some("53100")) => StoreError::Full(reason),
            // Values that PostgreSQL cannot store.
            _ if self.is_refusal() => StoreError::Refused(reason),
            (Self::Damaged(_), _) | (_, Some("23505" | "42P01" | "42703")) => {
                StoreError::Corrupt { address, reason }
            }
            (Self::Sql(sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. }), _) => {
                StoreError::Corrupt { address, reason }
            }
            _ => StoreError::Unavailable { address, reason },
        }
    }

    /// Returns the error for an append that may be stored.
    pub(super) fn unknown_at(&self, address: &str) -> AppendError {
        AppendError::Unknown {
            address: address.to_owned(),
            reason: self.to_string(),
        }
    }
}
