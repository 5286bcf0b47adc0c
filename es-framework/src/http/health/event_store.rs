//! Whether the event store answers and takes the credential.

use serde_json::json;

use super::Component;
use crate::store::EventStore;

pub(super) async fn check(store: &dyn EventStore) -> Component {
    let description = store.description();
    match store.health().await {
        Ok(()) => Component::up(json!({ "store": description })),
        Err(error) => Component::down(json!({ "store": description, "error": error.to_string() })),
    }
}
