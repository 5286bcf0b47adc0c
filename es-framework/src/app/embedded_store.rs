//! The embedded event store of an application.

use std::{path::Path, time::Instant};

use async_trait::async_trait;
use es_http::operator::generated_token;

use super::opened_store::{OpenedStore, StoreEngine};
use crate::{
    Error, Result,
    config::Settings,
    event::{Dialect, EventId, HashVersion},
    store::{
        newest_id,
        sqlite::{EmbeddedStore, EmbeddedStoreOptions},
    },
    telemetry::milliseconds_since,
};

/// Opens the embedded event store.
pub(super) async fn open(settings: &Settings) -> Result<OpenedStore> {
    if settings.event_store_hash_version == HashVersion::V2
        && settings.event_store_dialect == Dialect::Item
    {
        return Err(Error::new(
            "EVENT_STORE_HASH_VERSION=2 needs EVENT_STORE_DIALECT=event: clients of dialect item know version 1 only",
        ));
    }
    let mut options = EmbeddedStoreOptions::default();
    options.hash_version = settings.event_store_hash_version;
    let folder = settings.data_folder()?.to_owned();
    let begin = Instant::now();
    let opening = tokio::task::spawn_blocking({
        let folder = folder.clone();
        move || EmbeddedStore::open_with_options(&folder, options)
    });
    let store = opening
        .await
        .map_err(|error| Error::because("the embedded event store cannot be opened", error))?
        .map_err(|error| Error::because("the embedded event store cannot be opened", error))?;
    log_opened(&store, &folder, begin).await?;
    let token = generated_token::resolve_token(settings.event_store_api_token.as_ref(), &folder)?
        .to_api_token()?;
    let absolute = std::path::absolute(&folder).unwrap_or(folder);
    Ok(OpenedStore::with_engine(store, token).with_disk_folder(absolute))
}

#[async_trait]
impl StoreEngine for EmbeddedStore {
    fn has_api(&self) -> bool {
        true
    }

    async fn close(&self) {
        EmbeddedStore::close(self).await;
    }
}

/// Logs the folder of the events, their number, and the time that opening took.
async fn log_opened(store: &EmbeddedStore, folder: &Path, begin: Instant) -> Result<()> {
    let newest = newest_id(store).await;
    let newest = newest.map_err(|error| Error::because("the events cannot be read", error))?;
    let events = EventId::count_to(newest);
    let milliseconds = milliseconds_since(begin);
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    tracing::info!(
        events,
        milliseconds,
        "events are stored in {}",
        folder.display()
    );
    Ok(())
}
