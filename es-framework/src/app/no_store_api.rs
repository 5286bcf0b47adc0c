//! Replaces the HTTP API of the embedded event store in a program without the feature `server`.

use std::sync::Arc;

use crate::{ApiToken, Result, config::Settings, store::EventStore};

/// Stands for the HTTP API in a program without the feature. It serves nothing.
pub(super) struct RunningStoreApi;

impl RunningStoreApi {
    pub(super) async fn start(
        _store: Arc<dyn EventStore>,
        _token: ApiToken,
        _settings: &Settings,
    ) -> Result<Self> {
        tracing::info!("this program has no HTTP API of the event store");
        Ok(Self)
    }

    pub(super) fn request_stop(&self) {}

    pub(super) async fn close(self) {}
}
