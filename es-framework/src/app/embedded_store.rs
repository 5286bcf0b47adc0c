//! The embedded event store of an application, and its HTTP API.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use tokio::{sync::Notify, task::JoinHandle};

use super::listener::{listen, local_address};
use crate::{
    Error, Result,
    config::{Secret, Settings},
    event::EventId,
    generated_token,
    server::{self, ApiToken},
    store::{EventStore, newest_id, sqlite::EmbeddedStore},
    telemetry::milliseconds_since,
};

/// An embedded event store with its HTTP API.
pub(super) struct EmbeddedStoreService {
    store: EmbeddedStore,
    folder: PathBuf,
    token: ApiToken,
    stop: Arc<Notify>,
    server: Option<JoinHandle<()>>,
}

impl EmbeddedStoreService {
    pub(super) async fn open(settings: &Settings) -> Result<Self> {
        let folder = settings.event_store_data_dir.clone();
        let begin = Instant::now();
        let opening = tokio::task::spawn_blocking({
            let folder = folder.clone();
            move || EmbeddedStore::open(&folder)
        });
        let store = opening
            .await
            .map_err(|error| Error::because("the embedded event store cannot be opened", error))?
            .map_err(|error| Error::because("the embedded event store cannot be opened", error))?;
        log_opened(&store, &folder, begin).await?;
        let token = parse_token(&load_token(settings, &folder)?)?;
        Ok(Self {
            store,
            folder,
            token,
            stop: Arc::new(Notify::new()),
            server: None,
        })
    }

    /// Starts the HTTP API of the event store.
    pub(super) async fn listen(&mut self, settings: &Settings) -> Result<()> {
        let address = (settings.event_store_host, settings.event_store_port).into();
        let listener = listen(address, "EVENT_STORE_PORT").await?;
        let mut server = server::ServerSettings::new(self.token.clone());
        server.dialect = settings.event_store_dialect;
        server.observers_limit = settings.event_store_observer_limit;
        server.query_limits = settings.eventql_limits();
        server.drain_time = settings.shutdown_timeout;
        let address = local_address(&listener)?;
        let stopped = Arc::clone(&self.stop);
        let serving = server::serve(listener, self.port(), server, async move {
            stopped.notified().await;
        });
        tracing::info!("event store listens on http://{address}");
        self.server = Some(tokio::spawn(serving));
        Ok(())
    }

    pub(super) fn port(&self) -> Arc<dyn EventStore> {
        Arc::new(self.store.clone())
    }

    pub(super) fn folder(&self) -> PathBuf {
        std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone())
    }

    pub(super) fn token(&self) -> ApiToken {
        self.token.clone()
    }

    pub(super) fn stop(&self) {
        self.stop.notify_one();
    }

    pub(super) async fn close(self) {
        self.stop.notify_one();
        if let Some(server) = self.server
            && let Err(error) = server.await
        {
            tracing::error!(%error, "the event store's HTTP API failed");
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

/// Returns the token of the settings, or the generated one, whose file the log names.
fn load_token(settings: &Settings, folder: &Path) -> Result<Secret> {
    if let Some(token) = &settings.event_store_api_token {
        return Ok(token.clone());
    }
    let (token, file) = generated_token::load_or_generate(folder)?;
    tracing::info!("the event store's API token is in {}", file.display());
    Ok(token)
}

pub(super) fn parse_token(token: &Secret) -> Result<ApiToken> {
    let token = token.reveal().parse();
    token.map_err(|error| Error::because("EVENT_STORE_API_TOKEN", error))
}
