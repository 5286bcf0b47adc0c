//! The failures of a projection pipeline, and the states of read models that follow from them.

use super::{DatabaseError, PoisonEvent};
use es_event::EventId;
use es_runtime::operator::{SubscriberFailure, TroubleCause};
use es_store::{EventStore, StoreError, find_unreadable_event};

/// A failure of a whole pipeline.
#[derive(Debug, thiserror::Error)]
pub(super) enum PipelineError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error("the event store ended the observation")]
    SubscriptionEnded,
}

impl PipelineError {
    pub(super) fn to_failure(&self) -> SubscriberFailure {
        match self {
            Self::Database(error) => error.to_failure(),
            Self::Store(error) => {
                SubscriberFailure::new(TroubleCause::EventStore, error.is_transient(), error)
            }
            Self::SubscriptionEnded => SubscriberFailure::new(TroubleCause::EventStore, true, self),
        }
    }

    /// Returns the event behind the last one that was received, if it cannot be read.
    pub(super) async fn unreadable_event(
        &self,
        store: &dyn EventStore,
        received: Option<EventId>,
    ) -> Option<PoisonEvent> {
        match self {
            Self::Store(error) => find_unreadable_event(store, received, error).await,
            Self::Database(_) | Self::SubscriptionEnded => None,
        }
    }
}
