//! Finds the event that a subscription cannot read.

use super::{EventLog, StoreError, event_with_id, newest_id};
use es_event::{EventId, PoisonEvent};

/// Returns the event after a position, if a subscription failed because this event is damaged or too large.
/// The log must answer for the event before or after it: otherwise no event is at fault.
pub async fn find_unreadable_event(
    log: &dyn EventLog,
    position: Option<EventId>,
    error: &StoreError,
) -> Option<PoisonEvent> {
    if !matches!(error, StoreError::Corrupt { .. }) {
        return None;
    }
    let next = position.map_or(Some(EventId::FIRST), EventId::next)?;
    match event_with_id(log, next).await {
        Err(reason @ StoreError::Corrupt { .. }) => {
            let neighbor = position.or_else(|| next.next())?;
            // The neighbor may be damaged, too, if an operator has skipped it.
            let answer = event_with_id(log, neighbor).await;
            let works = !matches!(answer, Err(error) if error.is_transient());
            works.then(|| PoisonEvent::unreadable(next, reason))
        }
        _ => None,
    }
}

/// Returns the id of the newest event. If that event is damaged, its id is unknown: returns `position` if
/// there is no event after it, and otherwise the greatest id.
pub async fn newest_id_or_bound(
    log: &dyn EventLog,
    position: Option<EventId>,
) -> Result<Option<EventId>, StoreError> {
    match newest_id(log).await {
        Err(StoreError::Corrupt { .. }) => {
            let next = position.map_or(Some(EventId::FIRST), EventId::next);
            let Some(next) = next else {
                return Ok(position);
            };
            match event_with_id(log, next).await {
                Ok(None) => Ok(position),
                Ok(Some(_)) | Err(StoreError::Corrupt { .. }) => Ok(EventId::new(EventId::MAX)),
                Err(error) => Err(error),
            }
        }
        newest => newest,
    }
}
