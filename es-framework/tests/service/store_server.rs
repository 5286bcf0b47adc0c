//! An event store server in this process, which a test can kill and start again.

use std::{path::Path, sync::Arc, thread::JoinHandle};

use es_framework::{
    server::{ServerSettings, serve},
    store::sqlite::EmbeddedStore,
};
use tokio::{net::TcpListener, sync::oneshot};

use crate::running_service::TOKEN;

/// A server of the events in a folder.
pub(crate) struct StoreServer {
    pub(crate) port: u16,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl StoreServer {
    /// Starts a server on a port; 0 chooses a free one.
    pub(crate) fn start(folder: &Path, port: u16) -> Self {
        let folder = folder.to_owned();
        let (started, address) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(async {
                let store = EmbeddedStore::open(&folder).unwrap();
                let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
                started.send(listener.local_addr().unwrap()).unwrap();
                let settings = ServerSettings::new(TOKEN.parse().unwrap());
                let shared = Arc::new(store.clone());
                let serving = serve(listener, shared, settings, std::future::pending());
                // The end of the runtime breaks all connections.
                let serving = tokio::spawn(serving);
                let _ = stopped.await;
                serving.abort();
                store.close().await;
            });
        });
        Self {
            port: address.recv().expect("the server starts").port(),
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for StoreServer {
    fn drop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
