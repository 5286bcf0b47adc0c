//! The health check of the event store. It asks the store whether it works, and adds the lag of each reaction.

use es_event::EventId;
use es_store::{EventStore, event_time_lead};
use es_subscribe::{ProgressRegistry, SubscriberProgress};
use serde_json::{Map, json};

use super::{
    HealthComponent, HealthStatus,
    component_status::{ReactionStatus, ReactionStatuses},
};
use crate::lag::load_newest_id;

/// Checks the event store, and reports the reactions that follow it.
pub(super) async fn check_event_store(
    store: &dyn EventStore,
    progress: &ProgressRegistry,
) -> HealthComponent {
    let health = store.health().await;
    let mut details = Map::new();
    details.insert("store".into(), store.description().into());
    if progress.iter().next().is_some() {
        // A store that does not answer gets no second request.
        let newest = match &health {
            Ok(()) => load_newest_id(store).await,
            Err(_) => None,
        };
        details.insert("reactions".into(), json!(reactions(progress, newest)));
    }
    if health.is_ok()
        && let Ok(Some(seconds)) = event_time_lead(store).await
    {
        details.insert("eventTimesAheadSeconds".into(), seconds.into());
    }
    match health {
        Ok(()) => HealthComponent::up(details.into()),
        Err(error) => {
            details.insert("error".into(), error.to_string().into());
            HealthComponent::down(details.into())
        }
    }
}

/// Checks the event store and the reactions. A stopped reaction is no reason to send requests to another
/// instance, so the readiness probe checks only the store.
pub(super) async fn check_store_and_reactions(
    store: &dyn EventStore,
    progress: &ProgressRegistry,
) -> HealthComponent {
    let mut component = check_event_store(store, progress).await;
    let has_outage = progress.iter().any(|one| one.state().is_down());
    if has_outage {
        component.status = HealthStatus::Down;
    }
    component
}

/// Returns the status of each reaction, with its lag behind the newest event.
pub(crate) fn reactions(progress: &ProgressRegistry, newest: Option<EventId>) -> ReactionStatuses {
    let status = |one: &SubscriberProgress| ReactionStatus::new(one, one.events_behind(newest));
    let reactions = progress.iter().map(|one| (one.name(), status(one)));
    ReactionStatuses(reactions.collect())
}
