//! Finds the event that a subscription cannot read.

use super::{EventStore, StoreError, event_with_id, newest_id};
use es_event::{EventId, PoisonEvent};

/// Returns the event after a position, if a subscription failed because this event is damaged or too large.
/// Another event, or the store itself, must be readable: otherwise no event is at fault.
#[doc(hidden)]
pub async fn find_unreadable_event(
    store: &dyn EventStore,
    position: Option<EventId>,
    error: &StoreError,
) -> Option<PoisonEvent> {
    if !matches!(error, StoreError::Corrupt { .. }) {
        return None;
    }
    let next = position.map_or(Some(EventId::FIRST), EventId::next)?;
    match event_with_id(store, next).await {
        Err(reason @ StoreError::Corrupt { .. }) => {
            let works = match position {
                // The event before may be damaged, too, if an operator has skipped it.
                Some(last) => !matches!(
                    event_with_id(store, last).await,
                    Err(error) if error.is_transient()
                ),
                None => store.health().await.is_ok(),
            };
            works.then(|| PoisonEvent::unreadable(next, reason))
        }
        _ => None,
    }
}

/// Returns the id of the newest event. If that event is damaged, its id is unknown: returns `position` if
/// there is no event after it, and otherwise the greatest id.
#[doc(hidden)]
pub async fn newest_id_or_bound(
    store: &dyn EventStore,
    position: Option<EventId>,
) -> Result<Option<EventId>, StoreError> {
    match newest_id(store).await {
        Err(StoreError::Corrupt { .. }) => {
            let next = position.map_or(Some(EventId::FIRST), EventId::next);
            let Some(next) = next else {
                return Ok(position);
            };
            match event_with_id(store, next).await {
                Ok(None) => Ok(position),
                Ok(Some(_)) | Err(StoreError::Corrupt { .. }) => Ok(EventId::new(EventId::MAX)),
                Err(error) => Err(error),
            }
        }
        newest => newest,
    }
}
