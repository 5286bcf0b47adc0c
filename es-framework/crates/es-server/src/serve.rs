//! Serves the API on a socket until the shutdown.

use std::{future::Future, sync::Arc, time::Instant};

use es_net::{self as net, ConnectionLimits, HttpListener};
use tokio::{net::TcpListener, sync::Semaphore};
use tokio_util::sync::CancellationToken;

use super::{router::router, server_settings::ServerSettings, state::ServerState};
use es_store::EventStore;

/// Serves the events of a store until `shutdown` completes. It then ends the streams of observers, waits
/// for open requests, and returns.
///
/// ```
/// use std::sync::Arc;
///
/// use es_server::{ServerSettings, serve};
/// use es_store::memory::MemoryStore;
/// use tokio::net::TcpListener;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let settings = ServerSettings::new("secret".parse()?);
/// let shutdown = async {};
/// serve(listener, Arc::new(MemoryStore::new()), settings, shutdown).await;
/// # Ok(())
/// # }
/// ```
pub async fn serve(
    listener: TcpListener,
    store: Arc<dyn EventStore>,
    settings: ServerSettings,
    shutdown: impl Future<Output = ()> + Send,
) {
    let limits = ConnectionLimits {
        drain_time: settings.drain_time,
        ..ConnectionLimits::default()
    };
    let shutting_down = CancellationToken::new();
    // Streams end with the server, also if nobody waits for its shutdown.
    let start_shutdown = shutting_down.clone().drop_guard();
    let permits = |limit: usize| Arc::new(Semaphore::new(limit.min(Semaphore::MAX_PERMITS)));
    let observers = permits(settings.observers_limit);
    let queries = permits(settings.queries_limit);
    let router = router(ServerState {
        store,
        settings,
        started: Instant::now(),
        shutdown: shutting_down,
        observers,
        queries,
    });
    let shutdown = async {
        shutdown.await;
        drop(start_shutdown);
    };
    let listener = HttpListener::plain(listener).with_title_case_headers();
    net::serve(listener, router, limits, Box::pin(shutdown)).await;
}
