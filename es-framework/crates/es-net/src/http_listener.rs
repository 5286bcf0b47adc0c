//! The loop behind every HTTP listener: accepts connections, limits each of them, and lets open
//! requests end before it returns.

#[cfg(test)]
mod tests;

use std::{
    convert::Infallible, future::Future, io, net::SocketAddr, pin::Pin, sync::Arc, time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{StatusCode, header},
};
use hyper::{
    body::{Body as _, Incoming},
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
    time::timeout,
};
use tokio_io_timeout::TimeoutWriter;

use crate::{
    client_wait::{BodyWithGuard, ClientWait},
    connection_limit::ConnectionLimit,
    limits::ConnectionLimits,
    peer_address::PeerAddress,
    tls::ServerTls,
};

/// The socket that clients connect to.
#[doc(hidden)]
#[derive(Debug)]
pub struct HttpListener {
    /// The socket.
    pub tcp: TcpListener,
    /// `None` means plain HTTP.
    pub tls: Option<ServerTls>,
    /// Responses have headers such as `Content-Type` instead of `content-type`.
    title_case_headers: bool,
}

impl HttpListener {
    /// Creates the listener of HTTP on a socket. `None` means plain HTTP.
    pub const fn new(tcp: TcpListener, tls: Option<ServerTls>) -> Self {
        Self {
            tcp,
            tls,
            title_case_headers: false,
        }
    }

    /// Wraps a socket that serves plain HTTP.
    pub const fn plain(tcp: TcpListener) -> Self {
        Self::new(tcp, None)
    }

    /// Writes headers such as `Content-Type` instead of `content-type`, for clients that compare their
    /// case.
    #[must_use]
    pub const fn with_title_case_headers(mut self) -> Self {
        self.title_case_headers = true;
        self
    }
}

/// The pause after the system refuses a connection. That happens when files run out, and they come
/// back only as other connections end.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The time that connections have to end after the drain time. An aborted task ends where it next waits,
/// which a task that occupies its thread does not.
const ABORT_TIME: Duration = Duration::from_secs(2);

/// A future whose code is compiled where it is created. That of an `async fn` is compiled in each crate that awaits it.
type BoxFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Serves HTTP until `shutdown` completes, and then waits for open requests within the drain time.
#[doc(hidden)]
pub fn serve(
    listener: HttpListener,
    router: Router,
    limits: ConnectionLimits,
    shutdown: BoxFuture<'_>,
) -> BoxFuture<'_> {
    Box::pin(accept_until(listener, router, limits, shutdown))
}

async fn accept_until(
    listener: HttpListener,
    router: Router,
    limits: ConnectionLimits,
    mut shutdown: BoxFuture<'_>,
) {
    let HttpListener {
        tcp,
        tls,
        title_case_headers,
    } = listener;
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let limit = ConnectionLimit::new(limits.connections);
    let mut http = http1_builder(&limits);
    http.title_case_headers(title_case_headers);
    let limits = Arc::new(limits);
    loop {
        let (stream, peer) = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&tcp, &limit) => accepted,
            Some(_) = connections.join_next() => continue,
        };
        let permit = tokio::select! {
            () = &mut shutdown => break,
            permit = limit.acquire() => permit,
        };
        let wait = ClientWait::new();
        let connection = AcceptedConnection {
            http: http.clone(),
            router: router.clone(),
            peer: PeerAddress(peer.ip()),
            wait: Arc::clone(&wait),
            watcher: graceful.watcher(),
        };
        let (tls, limit, limits) = (tls.clone(), limit.clone(), Arc::clone(&limits));
        connections.spawn(async move {
            let _permit = permit;
            tokio::select! {
                served = connection.serve(stream, tls, &limits) => {
                    if let Err(error) = served {
                        tracing::debug!(%error, "a connection broke");
                    }
                }
                () = limit.idle_too_long(&wait, &limits) => {
                    tracing::debug!("an idle connection was closed because the connection limit is reached");
                }
            }
        });
    }
    drop(tcp);
    if timeout(limits.drain_time, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("the drain time ended while requests were still open");
    }
    if timeout(ABORT_TIME, connections.shutdown()).await.is_err() {
        tracing::error!(
            "open requests occupy threads, so the shutdown no longer waits for their end"
        );
    }
}

/// A connection that was accepted.
struct AcceptedConnection {
    http: http1::Builder,
    router: Router,
    peer: PeerAddress,
    wait: Arc<ClientWait>,
    watcher: Watcher,
}

impl AcceptedConnection {
    /// Serves the requests of this connection, after the TLS handshake if there is one.
    async fn serve(
        self,
        stream: TcpStream,
        tls: Option<ServerTls>,
        limits: &ConnectionLimits,
    ) -> io::Result<()> {
        let stream = with_write_timeout(stream, limits.write_time);
        match tls {
            None => self.serve_requests(stream).await,
            #[cfg(feature = "tls")]
            Some(tls) => {
                let handshake = timeout(limits.handshake_time, tls.accept(stream)).await;
                let stream = handshake.map_err(io::Error::other)??;
                self.serve_requests(stream).await
            }
        }
    }

    async fn serve_requests<S>(self, stream: S) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self { peer, wait, .. } = self;
        let routes = TowerToHyperService::new(self.router);
        let service = service_fn(move |request: Request<Incoming>| {
            let response_guard = wait.begin_responding();
            let mut request = request.map(|body| guard_request_body(body, &wait));
            request.extensions_mut().insert(peer);
            let response = routes.call(request);
            async move {
                let mut response = response.await?;
                // The router counts the bytes of the body. The length would be that of the `200` (RFC 9110,
                // section 8.6).
                if response.status() == StatusCode::NOT_MODIFIED {
                    response.headers_mut().remove(header::CONTENT_LENGTH);
                }
                Ok::<_, Infallible>(response.map(|body| BodyWithGuard {
                    body,
                    _guard: response_guard,
                }))
            }
        });
        let served = self.http.serve_connection(TokioIo::new(stream), service);
        self.watcher.watch(served).await.map_err(io::Error::other)
    }
}

fn guard_request_body(body: Incoming, wait: &Arc<ClientWait>) -> Body {
    if body.is_end_stream() {
        return Body::empty();
    }
    let _guard = wait.start_request_body();
    Body::new(BodyWithGuard { body, _guard })
}

/// Breaks the connection when the client does not read. Without it, a client that stops reading a
/// stream would occupy a connection for ever.
fn with_write_timeout(stream: TcpStream, time: Duration) -> Pin<Box<TimeoutWriter<TcpStream>>> {
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(time));
    Box::pin(stream)
}

fn http1_builder(limits: &ConnectionLimits) -> http1::Builder {
    // hyper panics below this size.
    const SMALLEST_BUFFER: usize = 8 * 1024;
    // hyper's default limit. Up to it, hyper parses headers without an allocation.
    const DEFAULT_HEADERS: usize = 100;
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(limits.head_bytes.max(SMALLEST_BUFFER))
        .keep_alive(true);
    if limits.headers > DEFAULT_HEADERS {
        http.max_headers(limits.headers);
    }
    http
}

/// Accepts the next connection.
async fn accept(listener: &TcpListener, limit: &ConnectionLimit) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Responses are written whole, so waiting to fill a packet only delays them.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "TCP_NODELAY cannot be set on a connection");
                }
                return (stream, peer);
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                limit.reach_for(ACCEPT_PAUSE).await;
            }
        }
    }
}
