//! Whether the secondary database answers a query, and how far its read models have come.

use futures_util::StreamExt as _;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::Component;
use crate::{
    event::{EventId, Subject},
    projection::{Database, Positions, Progress},
    store::{Bound, EventStore, ReadOptions, StoreError, latest_event},
};

pub(super) async fn check(
    database: &Database,
    positions: &Positions,
    store: &dyn EventStore,
) -> Component {
    let models = read_models(positions, store).await;
    let details = |size: Option<u64>, error: Value| {
        json!({
            "database": database.kind(),
            "sizeInBytes": size,
            "error": error,
            "readModels": models,
        })
    };
    match database.size().await {
        Ok(size) => Component::up(details(Some(size), Value::Null)),
        Err(error) => Component::down(details(None, error.to_string().into())),
    }
}

async fn read_models(positions: &Positions, store: &dyn EventStore) -> Value {
    // A store that does not answer has a component of its own to say so.
    let newest = latest_event(store, Subject::root(), true).await;
    let newest = newest.ok().flatten().map(|event| event.id);
    let mut models = serde_json::Map::new();
    for (name, progress) in positions.iter() {
        models.insert(name.to_owned(), read_model(progress, store, newest).await);
    }
    Value::Object(models)
}

async fn read_model(progress: &Progress, store: &dyn EventStore, newest: Option<EventId>) -> Value {
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
    json!({
        "position": position.map(|id| id.to_string()),
        "eventsBehind": events.unwrap_or_default(),
        "secondsBehind": seconds,
        "rebuilt": progress.is_rebuilt(),
        "stopped": progress.is_stopped(),
        "error": progress.trouble(),
    })
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
