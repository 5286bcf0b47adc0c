//! Whether the event store answers and takes the credential, and how the reactions to its events are
//! doing.

use serde_json::{Map, Value, json};

use super::Component;
use crate::{
    event::EventId,
    http::{
        lag::{events_behind, newest},
        operators::refused,
    },
    reaction::{ReactionStatus, ReactionStatuses},
    store::EventStore,
};

pub(super) async fn check(store: &dyn EventStore, statuses: &ReactionStatuses) -> Component {
    let health = store.health().await;
    let mut details = Map::new();
    details.insert("store".into(), store.description().into());
    if !statuses.all().is_empty() {
        // One that does not answer is not asked twice.
        let newest = match &health {
            Ok(()) => newest(store).await,
            Err(_) => None,
        };
        details.insert("reactions".into(), reactions(statuses, newest));
    }
    match health {
        Ok(()) => Component::up(details.into()),
        Err(error) => {
            details.insert("error".into(), error.to_string().into());
            Component::down(details.into())
        }
    }
}

/// How each reaction is doing, when this is the newest event of the store.
pub(in crate::http) fn reactions(statuses: &ReactionStatuses, newest: Option<EventId>) -> Value {
    let told = statuses.all().into_iter();
    let told = told.map(|(name, status)| (name.to_owned(), reaction(&status, newest)));
    Value::Object(told.collect())
}

fn reaction(status: &ReactionStatus, newest: Option<EventId>) -> Value {
    json!({
        "position": status.position.map(|id| id.to_string()),
        "eventsBehind": events_behind(status.position, newest),
        "openDeadlines": status.open_deadlines,
        "nextDeadline": status.next_deadline,
        "stopped": status.is_stopped(),
        "error": status.trouble,
        "event": status.stopped_at.clone().map(refused),
    })
}
