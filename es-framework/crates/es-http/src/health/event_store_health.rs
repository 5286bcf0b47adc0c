//! The health check of the event store. It asks the store whether it works, and adds the lag of each reaction.

use es_store::{EventStore, event_time_lead};
use es_subscribe::{ProgressRegistry, status::ReactionStatuses};
use serde_json::{Map, json};

use super::{HealthComponent, HealthStatus, load_newest_id};

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
        details.insert(
            "reactions".into(),
            json!(ReactionStatuses::new(progress, newest)),
        );
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
    // A receiver that is away is an outage of another system.
    let mut reactions = progress.iter().filter(|one| !one.is_sink());
    let has_outage = reactions.any(|one| one.state().is_down());
    if has_outage {
        component.status = HealthStatus::Down;
    }
    component
}
