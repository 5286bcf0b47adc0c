//! The open event store of an application, with what this process does for it.

use std::{path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::{task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

#[cfg(feature = "server")]
use super::store_api;
use crate::{ApiToken, Result, config::Settings, store::EventStore};

/// The time in which the event store has to close. Every acknowledged event is durable before, so the end of the
/// process is at worst a crash, from which the next start recovers.
const CLOSE_TIME: Duration = Duration::from_secs(5);

/// The open event store of an application.
pub(super) struct OpenedStore {
    store: Arc<dyn EventStore>,
    token: Option<ApiToken>,
    /// The folder on the disk that the application depends on.
    disk_folder: PathBuf,
    /// An event store server, or a store that code provides, has no engine in this process.
    engine: Option<Box<dyn StoreEngine>>,
    api: Option<JoinHandle<()>>,
    api_stop: CancellationToken,
}

/// The tasks of an engine in this process beyond those of the port.
#[async_trait]
pub(super) trait StoreEngine: Send + Sync {
    /// Returns true if the process serves the events to others.
    fn has_api(&self) -> bool {
        false
    }

    async fn close(&self);
}

impl OpenedStore {
    /// A store without an engine in this process.
    pub(super) fn new(store: Arc<dyn EventStore>, token: Option<ApiToken>) -> Self {
        Self {
            store,
            token,
            disk_folder: PathBuf::from("."),
            engine: None,
            api: None,
            api_stop: CancellationToken::new(),
        }
    }

    /// A store whose engine runs in this process.
    #[cfg(any(feature = "embedded", feature = "postgres"))]
    pub(super) fn with_engine(
        engine: impl StoreEngine + EventStore + Clone,
        token: ApiToken,
    ) -> Self {
        Self {
            engine: Some(Box::new(engine.clone())),
            ..Self::new(Arc::new(engine), Some(token))
        }
    }

    #[cfg(feature = "embedded")]
    pub(super) fn with_disk_folder(self, disk_folder: PathBuf) -> Self {
        Self {
            disk_folder,
            ..self
        }
    }

    /// Starts the HTTP API of an embedded event store.
    #[cfg_attr(not(feature = "server"), expect(unused_variables))]
    pub(super) async fn start_api(&mut self, settings: &Settings) -> Result<()> {
        let has_api = self.engine.as_ref().is_some_and(|engine| engine.has_api());
        match self.token.clone().filter(|_| has_api) {
            #[cfg(feature = "server")]
            Some(token) => {
                let (store, stop) = (self.as_event_store(), self.api_stop.clone());
                self.api = Some(store_api::start(store, token, settings, stop).await?);
            }
            #[cfg(not(feature = "server"))]
            Some(_) => tracing::info!("this program has no HTTP API of the event store"),
            None => {}
        }
        Ok(())
    }

    /// Returns the store for readers and writers.
    pub(super) fn as_event_store(&self) -> Arc<dyn EventStore> {
        Arc::clone(&self.store)
    }

    /// Returns the folder on the disk that the application depends on.
    pub(super) fn disk_folder(&self) -> PathBuf {
        self.disk_folder.clone()
    }

    /// Returns the token of operators, from the settings or from the file in the data folder.
    pub(super) fn operator_token(&self) -> Option<ApiToken> {
        self.token.clone()
    }

    /// Starts to shut down the HTTP API, which ends its subscriptions. The store stays open until it
    /// is closed.
    pub(super) fn request_api_stop(&self) {
        self.api_stop.cancel();
    }

    /// Closes the store within a limited time. An event store server stays as it is.
    pub(super) async fn close(self) {
        self.request_api_stop();
        let closing = async {
            if let Some(api) = self.api
                && let Err(error) = api.await
            {
                tracing::error!(%error, "the event store's HTTP API failed");
            }
            if let Some(engine) = self.engine {
                engine.close().await;
            }
        };
        if timeout(CLOSE_TIME, closing).await.is_err() {
            tracing::error!(
                "the event store did not close within {} seconds, so the application ends without it",
                CLOSE_TIME.as_secs()
            );
        }
    }
}
