//! The health check of the event store. It asks the store whether it works, and adds the lag of each reaction.

use es_command::reaction::{ReactionStatus, ReactionStatuses};
use es_event::EventId;
use es_runtime::operator::ComponentKind;
use es_store::{EventStore, event_time_lead};
use serde_json::{Map, Value};

use super::{HealthComponent, HealthStatus, state_json};
use crate::lag::{events_behind, load_newest_id};

/// Checks the event store, and reports the reactions that follow it.
pub(super) async fn check_event_store(
    store: &dyn EventStore,
    statuses: &ReactionStatuses,
) -> HealthComponent {
    let health = store.health().await;
    let mut details = Map::new();
    details.insert("store".into(), store.description().into());
    if !statuses.all_by_name().is_empty() {
        // A store that does not answer gets no second request.
        let newest = match &health {
            Ok(()) => load_newest_id(store).await,
            Err(_) => None,
        };
        details.insert("reactions".into(), reactions(statuses, newest));
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
    statuses: &ReactionStatuses,
) -> HealthComponent {
    let mut component = check_event_store(store, statuses).await;
    let has_outage = statuses
        .all_by_name()
        .into_values()
        .any(|status| status.state.is_down());
    if has_outage {
        component.status = HealthStatus::Down;
    }
    component
}

/// Returns the status of each reaction as JSON, with its lag behind the newest event.
pub(crate) fn reactions(statuses: &ReactionStatuses, newest: Option<EventId>) -> Value {
    let told = statuses.all_by_name().into_iter();
    let told = told.map(|(name, status)| (name.to_owned(), reaction(&status, newest)));
    Value::Object(told.collect())
}

fn reaction(status: &ReactionStatus, newest: Option<EventId>) -> Value {
    let mut members = state_json(&status.state, ComponentKind::Reaction);
    let more = [
        ("position", status.position.map(|id| id.to_string()).into()),
        (
            "eventsBehind",
            events_behind(status.position, newest).into(),
        ),
        ("openDeadlines", status.open_deadlines.into()),
        (
            "nextDeadline",
            status.next_deadline.map(|next| next.to_string()).into(),
        ),
    ];
    members.extend(more.map(|(name, value): (&str, Value)| (name.to_owned(), value)));
    members.into()
}
