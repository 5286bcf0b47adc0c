//! Serves the API on a socket until it is told to end.

use std::{future::Future, sync::Arc, time::Instant};

use tokio::{
    net::TcpListener,
    sync::{Semaphore, watch},
};

use super::{Server, Settings, router};
use crate::{
    net::{self, Door, Limits},
    store::EventStore,
};

/// Serves a store's events until `shutdown` is done: observers are told to go, open requests are
/// answered, and then it returns.
pub async fn serve(
    listener: TcpListener,
    store: Arc<dyn EventStore>,
    settings: Settings,
    shutdown: impl Future<Output = ()>,
) {
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
    net::serve(Door::plain(listener), router, Limits::default(), shutdown).await;
}
