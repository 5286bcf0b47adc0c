//! Serves the API on a socket until it is told to end.

use std::{future::Future, sync::Arc, time::Instant};

use tokio::{
    net::TcpListener,
    sync::{Semaphore, watch},
};

use super::{Server, Settings, router};
use crate::{
    net::{self, ConnectionLimits, HttpListener},
    store::EventStore,
};

/// Serves a store's events until `shutdown` is done: observers are told to go, open requests are
/// answered, and then it returns.
///
/// ```
/// use std::sync::Arc;
///
/// use es_framework::{server::{Settings, serve}, store::memory::MemoryStore};
/// use tokio::net::TcpListener;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let settings = Settings::new("secret".parse()?);
/// let told_to_end = async {};
/// serve(listener, Arc::new(MemoryStore::new()), settings, told_to_end).await;
/// # Ok(())
/// # }
/// ```
pub async fn serve(
    listener: TcpListener,
    store: Arc<dyn EventStore>,
    settings: Settings,
    shutdown: impl Future<Output = ()>,
) {
    let limits = ConnectionLimits {
        drain_time: settings.drain,
        ..ConnectionLimits::default()
    };
    let (close, closing) = watch::channel(false);
    let places = settings.observers_limit.min(Semaphore::MAX_PERMITS);
    let router = router(Server {
        store,
        settings,
        started: Instant::now(),
        closing,
        observers: Arc::new(Semaphore::new(places)),
    });
    let shutdown = async {
        shutdown.await;
        close.send_replace(true);
    };
    net::serve(HttpListener::plain(listener), router, limits, shutdown).await;
}
