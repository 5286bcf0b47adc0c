//! PostgreSQL as the event store of an application.

use std::sync::Arc;

use crate::{
    ApiToken, Error, Result,
    config::{EventStoreUrl, Settings},
    generated_token,
    store::{
        EventStore,
        postgres::{PostgresStore, StoreAddress},
    },
};

/// Opens the store. Its token authorizes operators, because PostgreSQL has credentials of its own.
pub(super) async fn open(
    settings: &Settings,
    url: &EventStoreUrl,
) -> Result<(Arc<dyn EventStore>, ApiToken)> {
    let address: StoreAddress = url
        .reveal()
        .parse()
        .map_err(|error| Error::because("EVENT_STORE_URL", error))?;
    let address = address.hash_version(settings.event_store_hash_version);
    let token = token(settings)?;
    let store = PostgresStore::open(address)
        .await
        .map_err(|error| Error::because("EVENT_STORE_URL cannot be used", error))?;
    tracing::info!("events are stored in {}", store.description());
    Ok((Arc::new(store), token))
}

fn token(settings: &Settings) -> Result<ApiToken> {
    let folder = &settings.event_store_data_dir;
    if settings.event_store_api_token.is_none() {
        let created = std::fs::create_dir_all(folder);
        created.map_err(|error| {
            let folder = folder.display();
            Error::because(
                format!("set EVENT_STORE_API_TOKEN, because none can be stored in {folder}"),
                error,
            )
        })?;
    }
    let token = generated_token::load_token(settings.event_store_api_token.as_ref(), folder)?;
    token.to_api_token()
}
