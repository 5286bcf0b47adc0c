//! The event store of an application: embedded, remote, or provided by code.

use std::{path::PathBuf, sync::Arc, time::Duration};

use es_personal::PersonalStore;
use tokio::time::timeout;

use super::{embedded_store::OpenEmbeddedStore, postgres_store::OpenPostgresStore};
use crate::{
    ApiToken, Error, Result,
    config::{Secret, Settings},
    event::Upcasters,
    projection::Database,
    store::{EventOpener, EventStore},
};

/// The time in which the event store has to close. Every acknowledged event is durable before, so the end of the
/// process is at worst a crash, from which the next start recovers.
const CLOSE_TIME: Duration = Duration::from_secs(5);

/// The open event store of an application.
pub(super) enum OpenedStore {
    /// An event store server, or a store that code provides.
    External {
        store: Arc<dyn EventStore>,
        token: Option<ApiToken>,
    },
    Postgres(Box<OpenPostgresStore>),
    Embedded(Box<OpenEmbeddedStore>),
}

impl OpenedStore {
    /// Uses the provided store, connects to the one at the URL of the settings, or opens the
    /// embedded one.
    pub(super) async fn open(
        settings: &Settings,
        provided: Option<Arc<dyn EventStore>>,
    ) -> Result<Self> {
        if let Some(store) = provided {
            let token = settings.event_store_api_token.as_ref();
            let token = token.map(Secret::to_api_token).transpose()?;
            return Ok(Self::External { store, token });
        }
        match &settings.event_store_url {
            Some(url) if url.is_postgres() => OpenPostgresStore::open(settings, url)
                .await
                .map(Box::new)
                .map(Self::Postgres),
            Some(url) => create_client(settings, url.reveal()),
            None => OpenEmbeddedStore::open(settings)
                .await
                .map(Box::new)
                .map(Self::Embedded),
        }
    }

    /// Lets the event store write the rows of the inline read models, if they are in its database.
    pub(super) async fn enable_inline_rows(
        &self,
        database: &Database,
        upcasters: &Upcasters,
        personal: Option<&PersonalStore>,
    ) -> Result<()> {
        let models = database.inline_model_names().join(", ");
        if models.is_empty() {
            return Ok(());
        }
        let is_inline = match self {
            Self::Postgres(postgres) => {
                let opener = personal.map(|store| Arc::new(store.clone()) as Arc<dyn EventOpener>);
                postgres
                    .enable_inline_rows(database, upcasters.clone(), opener)
                    .await?
            }
            Self::External { .. } | Self::Embedded(_) => false,
        };
        if is_inline {
            tracing::info!("appends write the rows of the inline read models {models}");
        } else {
            tracing::warn!(
                "the read models {models} are not inline, because EVENT_STORE_URL and DATABASE_URL do not name \
                 the same PostgreSQL database and user: they are updated after the events are stored"
            );
        }
        Ok(())
    }

    /// Starts the HTTP API of an embedded event store.
    pub(super) async fn start_api(&mut self, settings: &Settings) -> Result<()> {
        match self {
            Self::External { .. } | Self::Postgres(_) => Ok(()),
            Self::Embedded(embedded) => embedded.start_api(settings).await,
        }
    }

    /// Returns the store for readers and writers.
    pub(super) fn as_event_store(&self) -> Arc<dyn EventStore> {
        match self {
            Self::External { store, .. } => Arc::clone(store),
            Self::Postgres(postgres) => postgres.as_event_store(),
            Self::Embedded(embedded) => embedded.as_event_store(),
        }
    }

    /// Returns the folder on the disk that the application depends on.
    pub(super) fn disk_folder(&self) -> PathBuf {
        match self {
            Self::External { .. } | Self::Postgres(_) => PathBuf::from("."),
            Self::Embedded(embedded) => embedded.folder(),
        }
    }

    /// Returns the token of operators, from the settings or from the file in the data folder.
    pub(super) fn operator_token(&self) -> Option<ApiToken> {
        match self {
            Self::External { token, .. } => token.clone(),
            Self::Postgres(postgres) => Some(postgres.operator_token()),
            Self::Embedded(embedded) => Some(embedded.operator_token()),
        }
    }

    /// Starts to shut down the HTTP API, which ends its subscriptions. The store stays open until it
    /// is closed.
    pub(super) fn request_api_stop(&self) {
        if let Self::Embedded(embedded) = self {
            embedded.request_api_stop();
        }
    }

    /// Closes the store within a limited time. An event store server stays as it is.
    pub(super) async fn close(self) {
        let closing = async {
            match self {
                Self::External { .. } => {}
                Self::Postgres(postgres) => postgres.close().await,
                Self::Embedded(embedded) => embedded.close().await,
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

/// Refuses the URL, because the program has no client.
#[cfg(not(feature = "client"))]
fn create_client(_: &Settings, _: &str) -> Result<OpenedStore> {
    Err(Error::missing_feature("EVENT_STORE_URL", "client"))
}

/// Creates the client of the event store server at a URL. It connects with its first request.
#[cfg(feature = "client")]
fn create_client(settings: &Settings, url: &str) -> Result<OpenedStore> {
    use crate::store::eventsourcingdb::{ClientSettings, EventSourcingDbStore};

    let token = settings.event_store_api_token.as_ref().ok_or_else(|| {
        Error::new("EVENT_STORE_URL is set, so EVENT_STORE_API_TOKEN has to be set as well")
    })?;
    let mut client = ClientSettings::new(url, token.reveal());
    if let Some(file) = &settings.event_store_ca_file {
        client.certificates = std::fs::read(file).map_err(|error| {
            Error::because(format!("EVENT_STORE_CA_FILE {}", file.display()), error)
        })?;
    }
    let store = EventSourcingDbStore::new(client)
        .map_err(|error| Error::because("EVENT_STORE_URL cannot be used", error))?;
    tracing::info!("events are stored in {}", store.description());
    Ok(OpenedStore::External {
        store: Arc::new(store),
        token: Some(token.to_api_token()?),
    })
}
