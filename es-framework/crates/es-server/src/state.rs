//! The state that all endpoints share.

use std::{sync::Arc, time::Instant};

use tokio::sync::{Semaphore, watch};

use super::server_settings::ServerSettings;
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
}
