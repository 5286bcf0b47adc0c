//! How far a read model is behind the event store.

use futures_util::StreamExt as _;
use jiff::Timestamp;

use crate::{
    event::{EventId, Subject},
    projection::Progress,
    store::{Bound, EventStore, ReadOptions, StoreError, latest_event},
};

/// What a read model has not taken yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lag {
    /// How many events.
    pub(super) events: u64,
    /// The age of the oldest of them, unless the store does not say.
    pub(super) seconds: Option<f64>,
}

/// The newest event of the store, if it answers. One that does not has a health check of its own to
/// say so.
pub(super) async fn newest(store: &dyn EventStore) -> Option<EventId> {
    let newest = latest_event(store, Subject::root(), true).await;
    newest.ok().flatten().map(|event| event.id)
}

impl Lag {
    /// What lies between a read model and the newest event.
    pub(super) async fn of(
        progress: &Progress,
        store: &dyn EventStore,
        newest: Option<EventId>,
    ) -> Self {
        let position = progress.position();
        let next = position.map_or(Some(EventId::FIRST), EventId::next);
        let events = newest.zip(next).map(|(newest, next)| {
            let behind = newest.get().saturating_add(1);
            behind.saturating_sub(next.get())
        });
        let seconds = match next.filter(|next| newest >= Some(*next)) {
            Some(next) => age(store, next).await.unwrap_or_default(),
            None => Some(0.0),
        };
        let events = events.unwrap_or_default();
        Self { events, seconds }
    }
}

/// How many seconds ago an event was recorded.
async fn age(store: &dyn EventStore, id: EventId) -> Result<Option<f64>, StoreError> {
    let only = Some(Bound::Inclusive(id));
    let options = ReadOptions {
        lower_bound: only,
        upper_bound: only,
        ..ReadOptions::recursive()
    };
    let event = store.read(Subject::root(), options).next().await;
    let time = event
        .transpose()?
        .and_then(|event| event.time.timestamp().ok());
    Ok(time.map(|time| Timestamp::now().duration_since(time).as_secs_f64().max(0.0)))
}
