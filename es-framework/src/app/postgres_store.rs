//! PostgreSQL as the event store of an application.

use async_trait::async_trait;
use es_http::operator::generated_token;

use super::opened_store::{OpenedStore, StoreEngine};
use crate::{
    ApiToken, Error, Result,
    config::{EventStoreUrl, Settings},
    store::{
        StoreCatalog as _,
        postgres::{PostgresStore, StoreAddress},
    },
};

/// Opens the store. Its token authorizes operators only. PostgreSQL has its own credentials.
pub(super) async fn open(settings: &Settings, url: &EventStoreUrl) -> Result<OpenedStore> {
    let address: StoreAddress = url
        .reveal()
        .parse()
        .map_err(|error| Error::because("EVENT_STORE_URL", error))?;
    let address = address.hash_version(settings.event_store_hash_version);
    let token = load_operator_token(settings)?;
    let store = PostgresStore::open(address)
        .await
        .map_err(|error| Error::because("EVENT_STORE_URL cannot be used", error))?;
    tracing::info!("events are stored in {}", store.description());
    Ok(OpenedStore::with_engine(store, token))
}

#[async_trait]
impl StoreEngine for PostgresStore {
    async fn close(&self) {
        PostgresStore::close(self).await;
    }
}

fn load_operator_token(settings: &Settings) -> Result<ApiToken> {
    let folder = settings.data_folder()?;
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
    let token = generated_token::resolve_token(settings.event_store_api_token.as_ref(), folder)?;
    token.to_api_token()
}
