//! The checkpoint of a subscriber: the last event that it has handled.

use es_event::{EventId, Hash, RecordedEvent};
use es_sql::Cell;
use es_store::{EventLog, StoreError, event_with_id};

/// The last event that a subscriber has handled. The hash tells events of different event stores apart.
///
/// ```
/// use es_event::{EventId, Hash};
/// use es_store::memory::MemoryStore;
/// use es_subscribe::SubscriberCheckpoint;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_store::StoreError> {
/// let seen = SubscriberCheckpoint { event: EventId::FIRST, hash: Hash::ZERO };
/// assert!(!seen.is_in_event_store(&MemoryStore::new()).await?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscriberCheckpoint {
    /// The event.
    pub event: EventId,
    /// Its hash.
    pub hash: Hash,
}

impl SubscriberCheckpoint {
    /// Returns the checkpoint behind an event.
    #[must_use]
    pub const fn from_event(event: &RecordedEvent) -> Self {
        Self {
            event: event.id,
            hash: event.hash,
        }
    }

    /// Returns true if an event store contains the event.
    ///
    /// # Errors
    /// The event store does not answer.
    pub async fn is_in_event_store(self, store: &dyn EventLog) -> Result<bool, StoreError> {
        match event_with_id(store, self.event).await {
            // The subscriber has handled the event, which was damaged later.
            Err(error @ StoreError::Corrupt { .. }) => {
                tracing::error!(event = %self.event, %error, "the last event of a subscriber is damaged");
                Ok(true)
            }
            stored => Ok(stored?.is_some_and(|event| Self::from_event(&event) == self)),
        }
    }

    /// Returns the cells that store the id and the hash, which are null without a checkpoint.
    #[must_use]
    pub fn to_cells(checkpoint: Option<Self>) -> [Cell; 2] {
        checkpoint.map_or([Cell::Null, Cell::Null], |last| {
            let hash = last.hash.to_string();
            [Cell::Integer(last.event.get().cast_signed()), hash.into()]
        })
    }
}
