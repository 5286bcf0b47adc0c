//! The event store of an application: embedded with an HTTP API of its own, or a remote one.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{sync::Notify, task::JoinHandle};

use super::{
    entrance::{listen, local_address},
    token,
};
use crate::{
    Error, Result,
    config::{Config, Secret},
    event::EventId,
    server::{self, ApiToken},
    store::{
        EventStore,
        eventsourcingdb::{self, EventSourcingDbStore},
        newest_id,
        sqlite::EmbeddedStore,
    },
    telemetry::milliseconds_since,
};

/// An open event store.
pub(super) enum OpenStore {
    Remote(Arc<dyn EventStore>, ApiToken),
    Embedded(Box<Embedded>),
}

/// An event store in this process, with its own HTTP API beside the application's.
pub(super) struct Embedded {
    store: EmbeddedStore,
    folder: PathBuf,
    token: ApiToken,
    stop: Arc<Notify>,
    served: JoinHandle<()>,
}

impl OpenStore {
    pub(super) async fn open(config: &Config) -> Result<Self> {
        match &config.event_store_url {
            Some(url) => remote(config, url).map(|(store, token)| Self::Remote(store, token)),
            None => Embedded::open(config)
                .await
                .map(Box::new)
                .map(Self::Embedded),
        }
    }

    /// The store, for those who read and write.
    pub(super) fn port(&self) -> Arc<dyn EventStore> {
        match self {
            Self::Remote(store, _) => Arc::clone(store),
            Self::Embedded(embedded) => Arc::new(embedded.store.clone()),
        }
    }

    /// A folder on the disk that the application depends on.
    pub(super) fn folder(&self) -> PathBuf {
        match self {
            Self::Remote(..) => PathBuf::from("."),
            Self::Embedded(embedded) => {
                std::path::absolute(&embedded.folder).unwrap_or_else(|_| embedded.folder.clone())
            }
        }
    }

    /// What its operators are known by.
    pub(super) fn token(&self) -> ApiToken {
        match self {
            Self::Remote(_, token) => token.clone(),
            Self::Embedded(embedded) => embedded.token.clone(),
        }
    }

    /// Tells who observes its HTTP API to go. The store stays open until it is closed.
    pub(super) fn stop(&self) {
        if let Self::Embedded(embedded) = self {
            embedded.stop.notify_one();
        }
    }

    pub(super) async fn close(self) {
        if let Self::Embedded(embedded) = self {
            embedded.close().await;
        }
    }
}

fn remote(config: &Config, url: &str) -> Result<(Arc<dyn EventStore>, ApiToken)> {
    let token = config.event_store_api_token.as_ref().ok_or_else(|| {
        Error::new("EVENT_STORE_URL is set, so EVENT_STORE_API_TOKEN has to be set as well")
    })?;
    let mut settings = eventsourcingdb::ClientSettings::new(url, token.reveal());
    if let Some(file) = &config.event_store_ca_file {
        settings.certificates = std::fs::read(file).map_err(|error| {
            Error::because(format!("EVENT_STORE_CA_FILE {}", file.display()), error)
        })?;
    }
    let store = EventSourcingDbStore::new(settings)
        .map_err(|error| Error::because("EVENT_STORE_URL cannot be used", error))?;
    tracing::info!("events are kept by {}", store.description());
    Ok((Arc::new(store), known_by(token)?))
}

impl Embedded {
    async fn open(config: &Config) -> Result<Self> {
        let folder = config.event_store_data_dir.clone();
        let address = (config.event_store_host, config.event_store_port).into();
        let listener = listen(address, "EVENT_STORE_PORT").await?;
        let begin = Instant::now();
        let opening = tokio::task::spawn_blocking({
            let folder = folder.clone();
            move || EmbeddedStore::open(&folder)
        });
        let store = opening
            .await
            .map_err(|error| Error::because("the embedded event store cannot be opened", error))?
            .map_err(|error| Error::because("the embedded event store cannot be opened", error))?;
        tell(&store, &folder, begin).await?;
        let token = known_by(&api_token(config, &folder)?)?;
        let mut settings = server::ServerSettings::new(token.clone());
        settings.dialect = config.event_store_dialect.into();
        settings.observers_limit = config.limits.observers();
        settings.query_limits = config.limits.of_eventql();
        settings.drain_time = Duration::from_secs(config.shutdown_timeout);
        let address = local_address(&listener)?;
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let serving = server::serve(listener, Arc::new(store.clone()), settings, async move {
            stopped.notified().await;
        });
        tracing::info!("event store listens on http://{address}");
        let served = tokio::spawn(serving);
        Ok(Self {
            store,
            folder,
            token,
            stop,
            served,
        })
    }

    async fn close(self) {
        self.stop.notify_one();
        if let Err(error) = self.served.await {
            tracing::error!(%error, "the event store's HTTP API did not end well");
        }
        self.store.close().await;
    }
}

fn known_by(token: &Secret) -> Result<ApiToken> {
    let token = token.reveal().parse();
    token.map_err(|error| Error::because("EVENT_STORE_API_TOKEN", error))
}

/// Says where the events are, how many, and how long it took to open them.
async fn tell(store: &EmbeddedStore, folder: &Path, begin: Instant) -> Result<()> {
    let newest = newest_id(store).await;
    let newest = newest.map_err(|error| Error::because("the events cannot be read", error))?;
    let events = EventId::count_to(newest);
    let milliseconds = milliseconds_since(begin);
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    tracing::info!(
        events,
        milliseconds,
        "events are kept in {}",
        folder.display()
    );
    Ok(())
}

/// The token of the settings, or the one kept beside the data, which the log says where to find.
fn api_token(config: &Config, folder: &Path) -> Result<Secret> {
    if let Some(token) = &config.event_store_api_token {
        return Ok(token.clone());
    }
    let (token, file) = token::load_or_generate(folder)?;
    tracing::info!("the event store's API token is in {}", file.display());
    Ok(token)
}
