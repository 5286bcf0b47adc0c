//! The event store's server on a free port.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle, time::timeout};

use es_event::Dialect;
use es_server::{ServerSettings, serve};
use es_store::{EventStore, memory::MemoryStore};

use super::version_1_front::Version1Front;

pub(super) const TOKEN: &str = "secret-token";

/// Far longer than any answer takes: a server that hangs fails instead of blocking the run.
const LIMIT: Duration = Duration::from_secs(20);

/// A server that stops when it is dropped.
#[derive(Debug)]
pub(super) struct TestServer {
    pub(super) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<()>,
}

impl TestServer {
    pub(super) async fn start(dialect: Dialect) -> Self {
        Self::over(MemoryStore::new(), dialect).await
    }

    pub(super) async fn over(store: impl EventStore, dialect: Dialect) -> Self {
        Self::at(([127, 0, 0, 1], 0).into(), Arc::new(store), dialect).await
    }

    /// Starts at an address, such as that of a server that was stopped.
    pub(super) async fn at(
        address: SocketAddr,
        store: Arc<dyn EventStore>,
        dialect: Dialect,
    ) -> Self {
        let mut settings = ServerSettings::new(TOKEN.parse().unwrap());
        settings.dialect = dialect;
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let shutdown = async {
            let _ = stopped.await;
        };
        let served = tokio::spawn(serve(listener, store, settings, shutdown));
        Self {
            address,
            stop: Some(stop),
            served,
        }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A front of this server that passes only requests of version 1 on.
    pub(super) async fn version_1_front(&self) -> Version1Front {
        // For the HTTP client of the front.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Version1Front::of(self.address).await
    }

    pub(super) async fn stop(&mut self) {
        let _ = self.stop.take().unwrap().send(());
        timeout(LIMIT, &mut self.served).await.unwrap().unwrap();
    }
}
