//! The health check of the database: it runs a query and reports the read models.

use es_read::projection::Database;
use es_store::{EventStore, StoreCatalog};
use es_subscribe::{ProgressRegistry, SubscriberState, TroubleCause, status::ReadModelStatuses};
use serde_json::{Value, json};

use super::{HealthComponent, load_newest_id};

/// Checks the database and the read models in it.
pub(super) async fn check_database(
    database: &Database,
    positions: &ProgressRegistry,
    store: &dyn EventStore,
) -> HealthComponent {
    let newest = load_newest_id(store).await;
    let models = ReadModelStatuses::measure(positions, store, newest).await;
    let details = |size: Option<u64>, error: Value| {
        json!({
            "database": database.kind(),
            "sizeInBytes": size,
            "error": error,
            "readModels": models,
        })
    };
    let has_outage = has_outage(positions, store).await;
    match database.probe().await {
        Ok(()) => {
            let details = details(database.size().await.ok(), Value::Null);
            if has_outage {
                HealthComponent::down(details)
            } else {
                HealthComponent::up(details)
            }
        }
        Err(error) => HealthComponent::down(details(None, error.to_string().into())),
    }
}

/// Returns true if a read model has stopped, or has retried for some time. While the event store is away, its own
/// component reports that.
async fn has_outage(positions: &ProgressRegistry, catalog: &dyn StoreCatalog) -> bool {
    let mut down = Vec::new();
    for progress in positions.iter() {
        let shadow = progress.shadow_progress().map(|shadow| shadow.state());
        down.extend([Some(progress.state()), shadow].into_iter().flatten());
    }
    down.retain(SubscriberState::is_down);
    let is_of_store = |state: &SubscriberState| {
        let cause = state.trouble().map(|trouble| trouble.cause);
        !state.is_stopped() && cause == Some(TroubleCause::EventStore)
    };
    if down.iter().all(is_of_store) {
        !down.is_empty() && catalog.health().await.is_ok()
    } else {
        true
    }
}
