//! The state that all endpoints share.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::timeout,
};

use super::{error_response::ErrorResponse, server_settings::ServerSettings};
use es_store::EventStore;

/// The store, the settings and the limits that all endpoints share.
#[derive(Debug)]
pub(super) struct ServerState {
    pub(super) store: Arc<dyn EventStore>,
    pub(super) settings: ServerSettings,
    pub(super) started: Instant,
    /// Turns true when the server shuts down. Observers would keep it running otherwise.
    pub(super) is_shutting_down: watch::Receiver<bool>,
    /// One permit for each observer.
    pub(super) observers: Arc<Semaphore>,
    /// One permit for each query.
    pub(super) queries: Arc<Semaphore>,
}

/// The time that a query waits for others to end.
const QUERY_WAIT: Duration = Duration::from_secs(2);

impl ServerState {
    /// Waits until fewer queries run than the limit.
    pub(super) async fn admit_query(&self) -> Result<OwnedSemaphorePermit, ErrorResponse> {
        let permit = Arc::clone(&self.queries).acquire_owned();
        match timeout(QUERY_WAIT, permit).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(ErrorResponse::too_many_queries(self.settings.queries_limit)),
        }
    }
}
