//! PostgreSQL as the event store of an application, and the inline read models beside the events.

use std::sync::Arc;

use es_http::operator::generated_token;

use crate::{
    ApiToken, Error, Result,
    config::{EventStoreUrl, Settings},
    event::Upcasters,
    projection::Database,
    store::{
        EventOpener, EventStore,
        postgres::{PostgresStore, PostgresStoreOptions, StoreAddress},
    },
};

/// An open store of an application.
pub(super) struct OpenPostgresStore {
    store: PostgresStore,
    operator_token: ApiToken,
}

impl OpenPostgresStore {
    /// Opens the store. Its token authorizes operators only. PostgreSQL has its own credentials.
    pub(super) async fn open(settings: &Settings, url: &EventStoreUrl) -> Result<Self> {
        let address: StoreAddress = url
            .reveal()
            .parse()
            .map_err(|error| Error::because("EVENT_STORE_URL", error))?;
        let address = address.hash_version(settings.event_store_hash_version);
        let operator_token = load_operator_token(settings)?;
        let mut options = PostgresStoreOptions::default();
        options.data_folder = Some(settings.data_folder()?.to_owned());
        options.accept_loss = settings.event_store_accept_loss;
        let store = PostgresStore::open_with_options(address, options)
            .await
            .map_err(|error| Error::because("EVENT_STORE_URL cannot be used", error))?;
        tracing::info!("events are stored in {}", store.description());
        Ok(Self {
            store,
            operator_token,
        })
    }

    pub(super) fn as_event_store(&self) -> Arc<dyn EventStore> {
        Arc::new(self.store.clone())
    }

    /// Returns the token of operators, from the settings or from the file in the data folder.
    pub(super) fn operator_token(&self) -> ApiToken {
        self.operator_token.clone()
    }

    pub(super) async fn close(self) {
        self.store.close().await;
    }

    /// Lets appends write the rows of the inline read models. Returns false if the rows are not in the
    /// database of the events.
    pub(super) async fn enable_inline_rows(
        &self,
        database: &Database,
        upcasters: Upcasters,
        opener: Option<Arc<dyn EventOpener>>,
    ) -> Result<bool> {
        let failed = "the inline read models cannot be set up";
        let identity = self.store.identity().await;
        let identity = identity.map_err(|error| Error::because(failed, error))?;
        let rows = database
            .create_inline_writer(identity, upcasters, opener)
            .await;
        let rows = rows.map_err(|error| Error::because(failed, error))?;
        Ok(match rows {
            Some(rows) => {
                self.store.enable_inline_rows(rows);
                true
            }
            None => false,
        })
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
