//! The lag of read models and reactions behind the event store.

use es_event::EventId;
use es_read::projection::ReadModelProgress;
use es_store::{EventStore, StoreError, event_with_id, newest_id};
use jiff::Timestamp;

/// The lag of a read model behind the event store.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadModelLag {
    /// The number of events that are not applied yet.
    pub(super) events: u64,
    /// The age of the oldest event that is not applied yet, if the store answers.
    pub(super) seconds: Option<f64>,
}

/// Returns the newest event of the store, if it answers. The health check of the event store reports
/// a store that does not.
pub(super) async fn load_newest_id(store: &dyn EventStore) -> Option<EventId> {
    newest_id(store).await.ok().flatten()
}

/// Returns the number of events after a position.
pub(super) fn events_behind(position: Option<EventId>, newest: Option<EventId>) -> u64 {
    EventId::count_to(newest).saturating_sub(EventId::count_to(position))
}

impl ReadModelLag {
    /// Measures the lag between a read model and the newest event.
    pub(super) async fn measure(
        progress: &ReadModelProgress,
        store: &dyn EventStore,
        newest: Option<EventId>,
    ) -> Self {
        let position = progress.visible_position();
        let next = position.map_or(Some(EventId::FIRST), EventId::next);
        let seconds = match next.filter(|next| newest >= Some(*next)) {
            Some(next) => age(store, next).await.unwrap_or_default(),
            None => Some(0.0),
        };
        let events = events_behind(position, newest);
        Self { events, seconds }
    }
}

/// Returns the age of an event in seconds.
async fn age(store: &dyn EventStore, id: EventId) -> Result<Option<f64>, StoreError> {
    let event = event_with_id(store, id).await?;
    let time = event.and_then(|event| event.time.timestamp().ok());
    Ok(time.map(|time| Timestamp::now().duration_since(time).as_secs_f64().max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_from_the_position_to_the_newest() {
        let id = EventId::new;
        for (position, newest, behind) in [
            (None, None, 0),
            (None, id(0), 1),
            (id(0), id(0), 0),
            (id(4), id(9), 5),
            (id(9), id(4), 0),
        ] {
            assert_eq!(events_behind(position, newest), behind);
        }
    }
}
