//! Opens the event store of an application: embedded, remote, or provided by code.

use std::sync::Arc;

#[cfg(feature = "embedded")]
use super::embedded_store;
use super::opened_store::OpenedStore;
#[cfg(feature = "postgres")]
use super::postgres_store;
use crate::{
    Error, Result,
    config::{Secret, Settings},
    store::EventStore,
};

/// Uses the provided store, connects to the one at the URL of the settings, or opens the
/// embedded one.
pub(super) async fn open_event_store(
    settings: &Settings,
    provided: Option<Arc<dyn EventStore>>,
) -> Result<OpenedStore> {
    if let Some(store) = provided {
        let token = settings.event_store_api_token.as_ref();
        let token = token.map(Secret::to_api_token).transpose()?;
        return Ok(OpenedStore::new(store, token));
    }
    match &settings.event_store_url {
        #[cfg(feature = "postgres")]
        Some(url) if url.is_postgres() => postgres_store::open(settings, url).await,
        #[cfg(feature = "client")]
        Some(url) if !url.is_postgres() => create_client(settings, url.reveal()),
        #[cfg(feature = "embedded")]
        None => embedded_store::open(settings).await,
        // The check of the settings has named the feature.
        _ => Err(Error::new(
            "this program was compiled without the event store of EVENT_STORE_URL",
        )),
    }
}

/// Creates the client of the event store server at a URL. It connects with its first request.
#[cfg(feature = "client")]
fn create_client(settings: &Settings, url: &str) -> Result<OpenedStore> {
    use crate::store::{
        StoreCatalog as _,
        eventsourcingdb::{ClientSettings, EventSourcingDbStore},
    };

    let token = settings.event_store_api_token.as_ref().ok_or_else(|| {
        Error::new("EVENT_STORE_URL is set, so EVENT_STORE_API_TOKEN has to be set as well")
    })?;
    let mut client = ClientSettings::new(url, token.reveal());
    if let Some(file) = &settings.event_store_ca_file {
        client.certificates = es_event::foreign_text::read_file(file).map_err(|error| {
            Error::because(format!("EVENT_STORE_CA_FILE {}", file.display()), error)
        })?;
    }
    let store = EventSourcingDbStore::new(client)
        .map_err(|error| Error::because("EVENT_STORE_URL cannot be used", error))?;
    tracing::info!("events are stored in {}", store.description());
    Ok(OpenedStore::new(
        Arc::new(store),
        Some(token.to_api_token()?),
    ))
}
