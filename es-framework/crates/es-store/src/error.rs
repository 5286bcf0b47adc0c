//! The errors of an event store, sorted by how the caller should handle them.

use super::{Conflict, InvalidOptions, SchemaConflict};

/// The error of a request to the event store.
///
/// ```
/// use es_store::StoreError;
///
/// let (address, reason) = ("http://localhost:3000".into(), "connection refused".into());
/// assert!(StoreError::Unavailable { address, reason }.is_transient());
/// assert!(!StoreError::Refused("no such subject".into()).is_transient());
/// ```
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store does not answer, or it reports a temporary failure. Nothing was written; retry later.
    #[error("the event store {address} is unavailable: {reason}")]
    Unavailable {
        /// The expected address of the store.
        address: String,
        /// The description of the failure.
        reason: String,
    },
    /// The store refused the API token. A retry does not help.
    #[error("the event store {address} refused the API token: check EVENT_STORE_API_TOKEN")]
    Unauthorized {
        /// The address of the store.
        address: String,
    },
    /// The store refused the request as invalid. A retry does not help.
    #[error("the event store refused the request: {0}")]
    Refused(String),
    /// The options of the request contradict each other.
    #[error(transparent)]
    Options(#[from] InvalidOptions),
    /// The store of the persons' keys fails, so no personal value can be sealed or opened. Nothing was written; retry later.
    #[error("{0}")]
    KeyStore(String),
    /// The store has no space for more events.
    #[error("the event store is full: {0}")]
    Full(String),
    /// The store sent or contains invalid data, or another event than expected.
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
        matches!(
            self,
            Self::Unavailable { .. } | Self::KeyStore(_) | Self::Full(_)
        )
    }
}

/// The error of an append. Only with [`AppendError::Unknown`], the events may be stored.
///
/// ```
/// use es_store::AppendError;
///
/// /// Whether the events are certainly not there.
/// fn is_certain(error: &AppendError) -> bool {
///     !matches!(error, AppendError::Unknown { .. })
/// }
///
/// assert!(is_certain(&AppendError::Conflict(es_store::Conflict::at(0))));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// A precondition does not hold. Decide again on the current events.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// An event does not follow the schema of its type. A retry does not help.
    #[error(transparent)]
    Schema(#[from] SchemaConflict),
    /// The connection broke after the request was sent, so the events may or may not be stored. Read
    /// the subject to find out; never repeat the append blindly.
    #[error("it is unknown whether the event store {address} wrote the events: {reason}")]
    Unknown {
        /// The address of the store.
        address: String,
        /// The description of the failure.
        reason: String,
    },
    /// An event holds personal data of somebody who is erased. A retry does not help.
    #[error("the personal data of {0} is erased, and no more of it is stored")]
    ErasedPerson(String),
    /// The store failed before it wrote anything.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The error of a registration of a schema.
///
/// ```
/// use es_store::{RegisterError, SchemaConflict};
///
/// let error = RegisterError::from(SchemaConflict::Exists);
/// assert_eq!(error.to_string(), "schema conflict: schema already exists");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// The type already has a schema, or an event that does not follow this one.
    #[error(transparent)]
    Conflict(#[from] SchemaConflict),
    /// The connection broke after the request was sent, so the schema may or may not be registered.
    /// Read the event type to find out.
    #[error("it is unknown whether the event store {address} registered the schema: {reason}")]
    Unknown {
        /// The address of the store.
        address: String,
        /// The description of the failure.
        reason: String,
    },
    /// The store failed before it registered the schema.
    #[error(transparent)]
    Store(#[from] StoreError),
}
