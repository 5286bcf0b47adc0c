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

/// Starts to serve the event store over HTTP, until `stop` is cancelled.
pub(super) async fn start(
    store: Arc<dyn EventStore>,
    token: ApiToken,
    settings: &Settings,
    stop: CancellationToken,
) -> Result<JoinHandle<()>> {
    let address = (settings.event_store_host, settings.event_store_port).into();
    let listener = listen(address, "EVENT_STORE_PORT").await?;
    let address = local_address(&listener)?;
    let mut api = ServerSettings::new(token);
    api.dialect = settings.event_store_dialect;
    api.observers_limit = settings.event_store_observer_limit;
    api.query_limits = settings.eventql_limits();
    api.drain_time = settings.shutdown_timeout;
    let serving = server::serve(listener, store, api, stop.cancelled_owned());
    tracing::info!("event store listens on http://{address}");
    Ok(tokio::spawn(serving))
}
