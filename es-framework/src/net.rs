//! The loop behind every HTTP surface: accepts connections, bounds what one of them may cost, and
//! drains them before it ends.

mod patient;
mod places;
#[cfg(test)]
mod tests;
pub(crate) mod tls;
mod watched;

use std::{
    convert::Infallible,
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{Router, body::Body, extract::Request};
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};

use patient::Patient;
use places::{Place, Places};
use tls::Tls;
use watched::{Answering, Received, Sent};

/// Where clients come in.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) listener: TcpListener,
    /// Without it, nothing is encrypted.
    pub(crate) tls: Option<Tls>,
}

impl Door {
    pub(crate) const fn plain(listener: TcpListener) -> Self {
        let tls = None;
        Self { listener, tls }
    }
}

/// The address at the other end of a connection, among the extensions of its requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// What a client may cost before its request reaches a route.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// Connections open at once. One more takes the place of one that is idle, or waits.
    pub(crate) connections: usize,
    /// How long the head of a request may take, and a connection may stay idle before it.
    pub(crate) head_time: Duration,
    /// How long it may take to agree on a cipher.
    pub(crate) handshake: Duration,
    /// The longest head of a request, in bytes, to within one read. Not below 8 KiB.
    pub(crate) head_bytes: usize,
    /// How many header fields a request may have. Not below 100.
    pub(crate) headers: usize,
    /// How long a client may take nothing of what is sent to it.
    pub(crate) write_stall: Duration,
    /// How long open requests may go on once the server is told to end.
    pub(crate) drain: Duration,
}

impl Limits {
    pub(crate) const DEFAULT: Self = Self {
        // Two surfaces of one process stay below the 1,024 open files that systems commonly allow.
        connections: 480,
        head_time: Duration::from_secs(30),
        handshake: Duration::from_secs(10),
        head_bytes: 64 * 1024,
        headers: 64,
        write_stall: Duration::from_secs(30),
        drain: Duration::from_secs(10),
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How long to wait after the system refused a connection, which is when files run out: they come
/// back only as other connections end.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves until `shutdown` is done, then ends open requests within the drain time.
pub(crate) async fn serve(
    door: Door,
    router: Router,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) {
    let Door { listener, tls } = door;
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let places = Places::new(limits.connections);
    let http = http1_builder(&limits);
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let (stream, peer) = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &places) => accepted,
            Some(_) = connections.join_next() => continue,
        };
        let place = tokio::select! {
            () = &mut shutdown => break,
            place = places.take() => Arc::new(place),
        };
        let connection = Connection {
            http: http.clone(),
            router: router.clone(),
            peer: Peer(peer.ip()),
            place: Arc::clone(&place),
            watcher: graceful.watcher(),
        };
        let stream = Patient::new(stream, limits.write_stall);
        let (tls, handshake) = (tls.clone(), limits.handshake);
        connections.spawn(async move {
            tokio::select! {
                ended = connection.open(stream, tls, handshake) => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, "a connection broke");
                    }
                }
                () = place.is_needed() => {
                    tracing::debug!("an idle connection was closed, for there are too many");
                }
            }
        });
    }
    drop(listener);
    if timeout(limits.drain, graceful.shutdown()).await.is_err() {
        tracing::warn!("requests were still open when the drain time was over");
    }
    connections.shutdown().await;
}

/// A connection that was accepted.
struct Connection {
    http: http1::Builder,
    router: Router,
    peer: Peer,
    place: Arc<Place>,
    watcher: Watcher,
}

impl Connection {
    async fn open(self, stream: Patient, tls: Option<Tls>, patience: Duration) -> io::Result<()> {
        let Some(tls) = tls else {
            return self.answer(stream).await;
        };
        let handshake = timeout(patience, tls.acceptor().accept(stream)).await;
        self.answer(handshake.map_err(io::Error::other)??).await
    }

    async fn answer<S>(self, stream: S) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self { peer, place, .. } = self;
        let routes = TowerToHyperService::new(self.router);
        let service = service_fn(move |request: Request<Incoming>| {
            let answering = Answering::begin(&place);
            let place = Arc::clone(&place);
            let mut request = request.map(|body| Body::new(Received { body, place }));
            request.extensions_mut().insert(peer);
            let answer = routes.call(request);
            async move {
                let answer = answer.await?;
                Ok::<_, Infallible>(answer.map(|body| Sent {
                    body,
                    _answering: answering,
                }))
            }
        });
        let answered = self.http.serve_connection(TokioIo::new(stream), service);
        self.watcher.watch(answered).await.map_err(io::Error::other)
    }
}

fn http1_builder(limits: &Limits) -> http1::Builder {
    // hyper panics below this size.
    const SMALLEST_BUFFER: usize = 8 * 1024;
    // hyper's own limit, the only one for which it needs no memory of the heap.
    const FREE_HEADERS: usize = 100;
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(limits.head_bytes.max(SMALLEST_BUFFER))
        .keep_alive(true);
    if limits.headers > FREE_HEADERS {
        http.max_headers(limits.headers);
    }
    http
}

/// The next connection.
async fn accept(listener: &TcpListener, places: &Places) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Answers are written whole, so waiting to fill a packet only delays them.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "a connection stays without TCP_NODELAY");
                }
                return (stream, peer);
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                places.make_room();
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
