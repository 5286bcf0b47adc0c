//! The state that all endpoints share.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{api_error::ApiError, server_settings::ServerSettings, stream_format::StreamFormat};
use es_store::EventStore;

/// The store, the settings and the limits that all endpoints share.
#[derive(Debug)]
pub(super) struct ServerState {
    pub(super) store: Arc<dyn EventStore>,
    pub(super) settings: ServerSettings,
    pub(super) started: Instant,
    /// Cancelled when the server shuts down. Observers would keep it running otherwise.
    pub(super) shutdown: CancellationToken,
    /// One permit for each observer.
    pub(super) observers: Arc<Semaphore>,
    /// One permit for each query.
    pub(super) queries: Arc<Semaphore>,
}

/// The time that a query waits for others to end.
const QUERY_WAIT: Duration = Duration::from_secs(2);

impl ServerState {
    /// Waits until fewer queries run than the limit.
    pub(super) async fn admit_query(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let permit = Arc::clone(&self.queries).acquire_owned();
        match timeout(QUERY_WAIT, permit).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => {
                let limit = self.settings.queries_limit;
                Err(ApiError::unavailable(format!(
                    "there are {limit} queries already: try again later"
                )))
            }
        }
    }

    /// The format of streams of version 1.
    pub(super) const fn v1_format(&self) -> StreamFormat {
        StreamFormat::V1(self.settings.dialect)
    }
}
