//! The HTTP API of the embedded event store.

use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::listener::{listen, local_address};
use crate::{
    ApiToken, Result,
    config::Settings,
    server::{self, ServerSettings},
    store::EventStore,
};

/// A running HTTP API of the embedded event store.
pub(super) struct RunningStoreApi {
    stop: CancellationToken,
    server: JoinHandle<()>,
}

impl RunningStoreApi {
    pub(super) async fn start(
        store: Arc<dyn EventStore>,
        token: ApiToken,
        settings: &Settings,
    ) -> Result<Self> {
        let address = (settings.event_store_host, settings.event_store_port).into();
        let listener = listen(address, "EVENT_STORE_PORT").await?;
        let address = local_address(&listener)?;
        let mut api = ServerSettings::new(token);
        api.dialect = settings.event_store_dialect;
        api.observers_limit = settings.event_store_observer_limit;
        api.query_limits = settings.eventql_limits();
        api.drain_time = settings.shutdown_timeout;
        let stop = CancellationToken::new();
        let serving = server::serve(listener, store, api, stop.clone().cancelled_owned());
        tracing::info!("event store listens on http://{address}");
        Ok(Self {
            stop,
            server: tokio::spawn(serving),
        })
    }

    /// Starts to shut down the HTTP API, which ends the subscriptions.
    pub(super) fn request_stop(&self) {
        self.stop.cancel();
    }

    pub(super) async fn close(self) {
        self.request_stop();
        if let Err(error) = self.server.await {
            tracing::error!(%error, "the event store's HTTP API failed");
        }
    }
}
