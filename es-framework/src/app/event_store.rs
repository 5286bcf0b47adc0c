//! The event store of an application: embedded with an HTTP API of its own, or a remote one.

use std::{path::PathBuf, sync::Arc};

use tokio::{sync::oneshot, task::JoinHandle};

use super::{listen, local_address, token};
use crate::{
    Error, Result,
    config::{Config, Secret},
    net, server,
    store::{EventStore, eventsourcingdb::EventSourcingDbStore, sql::EmbeddedStore},
};

/// An open event store.
pub(super) enum OpenStore {
    Remote(Arc<EventSourcingDbStore>),
    Embedded(Embedded),
}

/// An event store in this process, with its own HTTP API beside the application's.
pub(super) struct Embedded {
    store: EmbeddedStore,
    folder: PathBuf,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

impl OpenStore {
    pub(super) async fn open(config: &Config) -> Result<Self> {
        match &config.event_store_url {
            Some(url) => remote(config, url).map(Self::Remote),
            None => Embedded::open(config).await.map(Self::Embedded),
        }
    }

    /// The store, for those who read and write.
    pub(super) fn port(&self) -> Arc<dyn EventStore> {
        match self {
            Self::Remote(store) => Arc::<EventSourcingDbStore>::clone(store),
            Self::Embedded(embedded) => Arc::new(embedded.store.clone()),
        }
    }

    /// A folder on the disk that the application depends on.
    pub(super) fn folder(&self) -> PathBuf {
        match self {
            Self::Remote(_) => PathBuf::from("."),
            Self::Embedded(embedded) => embedded.folder.clone(),
        }
    }

    pub(super) async fn close(self) {
        if let Self::Embedded(embedded) = self {
            embedded.close().await;
        }
    }
}

fn remote(config: &Config, url: &str) -> Result<Arc<EventSourcingDbStore>> {
    let token = config.event_store_api_token.clone().ok_or_else(|| {
        Error::new("EVENT_STORE_URL is set, so EVENT_STORE_API_TOKEN must be set as well")
    })?;
    todo!()
}

impl Embedded {
    async fn open(config: &Config) -> Result<Self> {
        let folder = config.event_store_data_dir.clone();
        let address = (config.event_store_host, config.event_store_port).into();
        let listener = listen(address, "EVENT_STORE_PORT").await?;
        let opened = tokio::task::spawn_blocking({
            let folder = folder.clone();
            move || EmbeddedStore::open(&folder)
        });
        todo!()
    }
}
