//! The lag of read models behind the event store.

use es_event::EventId;
use es_store::{EventLog, StoreError, event_with_id, newest_id};
use es_subscribe::SubscriberProgress;
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
pub(super) async fn load_newest_id(log: &dyn EventLog) -> Option<EventId> {
    newest_id(log).await.ok().flatten()
}

impl ReadModelLag {
    /// Measures the lag between a read model and the newest event.
    pub(super) async fn measure(
        progress: &SubscriberProgress,
        log: &dyn EventLog,
        newest: Option<EventId>,
    ) -> Self {
        let position = progress.position();
        let next = position.map_or(Some(EventId::FIRST), EventId::next);
        let seconds = match next.filter(|next| newest >= Some(*next)) {
            Some(next) => age(log, next).await.unwrap_or_default(),
            None => Some(0.0),
        };
        let events = progress.events_behind(newest);
        Self { events, seconds }
    }
}

/// Returns the age of an event in seconds.
async fn age(log: &dyn EventLog, id: EventId) -> Result<Option<f64>, StoreError> {
    let event = event_with_id(log, id).await?;
    let time = event.and_then(|event| event.time.timestamp().ok());
    Ok(time.map(|time| Timestamp::now().duration_since(time).as_secs_f64().max(0.0)))
}
