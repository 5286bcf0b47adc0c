//! The embedded event store of an application, and its HTTP API.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use es_http::operator::generated_token;

use super::store_api::RunningStoreApi;
use crate::{
    ApiToken, Error, Result,
    config::Settings,
    event::{Dialect, EventId, HashVersion},
    store::{
        EventStore, newest_id,
        sqlite::{EmbeddedStore, EmbeddedStoreOptions},
    },
    telemetry::milliseconds_since,
};

/// An embedded event store with its HTTP API.
pub(super) struct OpenEmbeddedStore {
    store: EmbeddedStore,
    folder: PathBuf,
    token: ApiToken,
    api: Option<RunningStoreApi>,
}

impl OpenEmbeddedStore {
    pub(super) async fn open(settings: &Settings) -> Result<Self> {
        if settings.event_store_hash_version == HashVersion::V2
            && settings.event_store_dialect == Dialect::Item
        {
            return Err(Error::new(
                "EVENT_STORE_HASH_VERSION=2 needs EVENT_STORE_DIALECT=event: clients of dialect item know version 1 only",
            ));
        }
        let mut options = EmbeddedStoreOptions::default();
        options.hash_version = settings.event_store_hash_version;
        options.accept_loss = settings.event_store_accept_loss;
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
        let token =
            generated_token::resolve_token(settings.event_store_api_token.as_ref(), &folder)?
                .to_api_token()?;
        Ok(Self {
            store,
            folder,
            token,
            api: None,
        })
    }

    /// Starts the HTTP API of the event store.
    pub(super) async fn start_api(&mut self, settings: &Settings) -> Result<()> {
        self.api = Some(
            RunningStoreApi::start(self.as_event_store(), self.operator_token(), settings).await?,
        );
        Ok(())
    }

    pub(super) fn as_event_store(&self) -> Arc<dyn EventStore> {
        Arc::new(self.store.clone())
    }

    pub(super) fn folder(&self) -> PathBuf {
        std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone())
    }

    pub(super) fn operator_token(&self) -> ApiToken {
        self.token.clone()
    }

    pub(super) fn request_api_stop(&self) {
        if let Some(api) = &self.api {
            api.request_stop();
        }
    }

    pub(super) async fn close(self) {
        if let Some(api) = self.api {
            api.close().await;
        }
        self.store.close().await;
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
