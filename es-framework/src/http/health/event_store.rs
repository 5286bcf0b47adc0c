//! Whether the event store answers and takes the credential, and how the reactions to its events are
//! doing.

use serde_json::{Map, Value, json};

use super::Component;
use crate::{
    reaction::{Status, Statuses},
    store::EventStore,
};

pub(super) async fn check(store: &dyn EventStore, reactions: &Statuses) -> Component {
    let mut details = Map::new();
    details.insert("store".into(), store.description().into());
    let reactions = reactions.all();
    if !reactions.is_empty() {
        let told = reactions.into_iter();
        let told: Map<_, _> = told
            .map(|(name, status)| (name.to_owned(), told_of(&status)))
            .collect();
        details.insert("reactions".into(), told.into());
    }
    match store.health().await {
        Ok(()) => Component::up(details.into()),
        Err(error) => {
            details.insert("error".into(), error.to_string().into());
            Component::down(details.into())
        }
    }
}

fn told_of(status: &Status) -> Value {
    json!({
        "position": status.position.map(|id| id.to_string()),
        "openDeadlines": status.open_deadlines,
        "nextDeadline": status.next_deadline,
        "stopped": status.is_stopped,
        "error": status.trouble,
    })
}
