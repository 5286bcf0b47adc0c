//! The errors of an event store, sorted by how the caller should handle them.

use super::{Conflict, InvalidOptions, SchemaConflict};

/// The event store did not do what was asked.
///
/// ```
/// use es_framework::store::StoreError;
///
/// let (address, reason) = ("http://localhost:3000".into(), "connection refused".into());
/// assert!(StoreError::Unavailable { address, reason }.is_transient());
/// assert!(!StoreError::Refused("no such subject".into()).is_transient());
/// ```
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It does not answer, or says that it cannot at the moment. Nothing was done; try again later.
    #[error("the event store {address} is unavailable: {reason}")]
    Unavailable {
        /// The expected address of the store.
        address: String,
        /// The description of the failure.
        reason: String,
    },
    /// It refused the credential. Trying again does not help.
    #[error("the event store {address} refused the API token: check EVENT_STORE_API_TOKEN")]
    Unauthorized {
        /// The address of the store.
        address: String,
    },
    /// It found the request wrong. Trying again does not help.
    #[error("the event store refused the request: {0}")]
    Refused(String),
    /// The options of the request contradict each other.
    #[error(transparent)]
    Options(#[from] InvalidOptions),
    /// There is no room for more events.
    #[error("the event store is full: {0}")]
    Full(String),
    /// It sent or holds something that is no event, or not the one that should be there.
    #[error("the event store {address} holds or sent something broken: {reason}")]
    Corrupt {
        /// The address of the store.
        address: String,
        /// The description of the damage.
        reason: String,
    },
}

impl StoreError {
    /// Returns true if the same request may succeed later.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Full(_))
    }
}

/// An append that was not, or perhaps not, done.
///
/// ```
/// use es_framework::store::AppendError;
///
/// /// Whether the events are certainly not there.
/// fn is_certain(error: &AppendError) -> bool {
///     !matches!(error, AppendError::Unknown { .. })
/// }
///
/// assert!(is_certain(&AppendError::Conflict(es_framework::store::Conflict)));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// A precondition does not hold: decide again on what is there now.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// An event does not follow the schema of its type. Trying again does not help.
    #[error(transparent)]
    Schema(#[from] SchemaConflict),
    /// The connection broke after the request was sent: the events may be there or not. Read the
    /// subject to find out; never just send them again.
    #[error("it is unknown whether the event store {address} wrote the events: {reason}")]
    Unknown {
        /// The address of the store.
        address: String,
        /// The description of the failure.
        reason: String,
    },
    /// Nothing was written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A schema that was not registered.
///
/// ```
/// use es_framework::store::{RegisterError, SchemaConflict};
///
/// let error = RegisterError::from(SchemaConflict::Exists);
/// assert_eq!(error.to_string(), "schema conflict: schema already exists");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// The type has a schema already, or an event that does not follow this one.
    #[error(transparent)]
    Conflict(#[from] SchemaConflict),
    /// The connection broke after the request was sent: the schema may be there or not. Read the
    /// event type to find out.
    #[error("it is unknown whether the event store {address} registered the schema: {reason}")]
    Unknown {
        /// The address of the store.
        address: String,
        /// The description of the failure.
        reason: String,
    },
    /// The store did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}
