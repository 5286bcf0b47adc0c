//! The health check of the database: it runs a query and reports the read models.

use serde_json::{Value, json};

use super::HealthComponent;
use crate::{
    http::{
        health::poison_event_json,
        lag::{ReadModelLag, load_newest_id},
    },
    projection::{Database, ProgressRegistry, ReadModelProgress},
    store::EventStore,
};

/// Checks the database and the read models in it.
pub(super) async fn check_database(
    database: &Database,
    positions: &ProgressRegistry,
    store: &dyn EventStore,
) -> HealthComponent {
    let models = read_models(positions, store).await;
    let details = |size: Option<u64>, error: Value| {
        json!({
            "database": database.kind(),
            "sizeInBytes": size,
            "error": error,
            "readModels": models,
        })
    };
    match database.probe().await {
        Ok(()) => HealthComponent::up(details(database.size().await.ok(), Value::Null)),
        Err(error) => HealthComponent::down(details(None, error.to_string().into())),
    }
}

/// Returns the status of each read model as JSON.
pub(in crate::http) async fn read_models(
    positions: &ProgressRegistry,
    store: &dyn EventStore,
) -> Value {
    let newest = load_newest_id(store).await;
    let mut models = serde_json::Map::new();
    for (name, progress) in positions.iter() {
        let lag = ReadModelLag::measure(progress, store, newest).await;
        models.insert(name.to_owned(), read_model(progress, lag));
    }
    Value::Object(models)
}

fn read_model(progress: &ReadModelProgress, lag: ReadModelLag) -> Value {
    json!({
        "position": progress.visible_position().map(|id| id.to_string()),
        "eventsBehind": lag.events,
        "secondsBehind": lag.seconds,
        "rebuilt": progress.has_caught_up(),
        "stopped": progress.is_stopped(),
        "error": progress.trouble(),
        "event": progress.poison_event().map(poison_event_json),
        "rebuild": rebuild(progress),
    })
}

/// Returns the progress of a rebuild, in place or in a shadow table.
fn rebuild(progress: &ReadModelProgress) -> Value {
    let shadow = progress.shadow_progress();
    if shadow.is_none() && progress.has_caught_up() {
        return Value::Null;
    }
    let rebuilt = shadow.as_ref().unwrap_or(progress);
    let pace = rebuilt.rebuild_pace();
    json!({
        "beside": shadow.is_some(),
        "position": rebuilt.visible_position().map(|id| id.to_string()),
        "eventsLeft": pace.map(|pace| pace.events_left),
        "eventsPerSecond": pace.map(|pace| pace.events_per_second),
        "secondsLeft": pace.and_then(|pace| pace.seconds_left),
        "error": rebuilt.trouble(),
        "event": rebuilt.poison_event().map(poison_event_json),
    })
}
