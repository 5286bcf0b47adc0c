//! The error of the state database.

use es_event::EventId;
use es_sql::DatabaseError;
use es_store::StoreError;

/// The reason why the state database cannot be used.
///
/// ```
/// use es_subscribe::state::StateError;
///
/// assert!(StateError::NotOwner.is_ownership_lost() && StateError::NotOwner.is_transient());
/// assert!(StateError::OtherDatabase.needs_rebuild());
/// ```
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The database failed.
    #[error("the state database does not do its work: {0}{remedy}", remedy = remedy(.0))]
    Database(#[from] DatabaseError),
    /// The event store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// This process does not own the database.
    #[error("another process runs the reactions")]
    NotOwner,
    /// A later release has created the tables.
    #[error(
        "the state database has the tables of a later release (version {0}): start that release"
    )]
    LaterRelease(i64),
    /// A row cannot be read.
    #[error(
        "a row of {table} in the state database cannot be read: {reason}: restore the database from its last copy"
    )]
    Row {
        /// The table.
        table: &'static str,
        /// The defect.
        reason: String,
    },
    /// The events name another state database.
    #[error(
        "the reactions of these events have their tasks in another state database, so they do not run with this one: bring that database back, or rebuild each reaction, which then forgets its open tasks and begins as at its first start"
    )]
    OtherDatabase,
    /// The database was restored from a copy that is older than the events.
    #[error(
        "the state database is older than the events: it was restored from a copy, so the reactions do not run with it: bring the newest copy back, or rebuild each reaction, which then forgets its open tasks and begins as at its first start"
    )]
    OldCopy,
    /// The tasks of a reaction were lost.
    #[error(
        "the tasks of the reaction {0} were lost with a state database: bring that database back, or rebuild the reaction, which then begins as at its first start"
    )]
    TasksLost(String),
    /// The receiver of a sink wants no more events.
    #[error(
        "the receiver of the sink {0} has answered that it wants no more events (410 Gone), so nothing is delivered to it: remove the sink from the settings, or rebuild it, and then it begins as at its first start"
    )]
    Ended(String),
    /// The event at a position is missing or is another one.
    #[error(
        "event {0}, up to which the reaction has planned its tasks, is missing or is another one: the events were restored from an older copy: bring back the events, or rebuild the reaction, which then begins as at its first start"
    )]
    OtherEvents(EventId),
}

/// Returns the end of the sentence about an error: how the reactions go on.
fn remedy(error: &DatabaseError) -> &'static str {
    if error.is_full() {
        ": free some space for it, and the reactions go on"
    } else if error.is_locked() {
        ": another program has locked the file: end that program, and the reactions go on"
    } else {
        ""
    }
}

impl StateError {
    /// Returns true if another attempt may succeed without help.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Database(error) => error.is_transient(),
            Self::Store(error) => error.is_transient(),
            Self::NotOwner => true,
            Self::LaterRelease(_)
            | Self::Row { .. }
            | Self::OtherDatabase
            | Self::OldCopy
            | Self::TasksLost(_)
            | Self::Ended(_)
            | Self::OtherEvents(_) => false,
        }
    }

    /// Returns true if the process may no longer own the database, so that it has to ask for it again.
    #[must_use]
    pub const fn is_ownership_lost(&self) -> bool {
        match self {
            Self::NotOwner => true,
            Self::Database(error) => error.is_outage(),
            _ => false,
        }
    }

    /// Returns true if the reaction can only begin without its tasks: when an operator rebuilds it.
    #[must_use]
    pub const fn needs_rebuild(&self) -> bool {
        matches!(
            self,
            Self::OtherDatabase
                | Self::OldCopy
                | Self::TasksLost(_)
                | Self::Ended(_)
                | Self::OtherEvents(_)
        )
    }
}
