//! Tests of the connection limits over real sockets and in real time.

use std::{io, net::SocketAddr};

use axum::{body::Body, routing::get};
use bytes::Bytes;
use futures_util::stream;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    sync::{Notify, oneshot},
    task::JoinHandle,
};

use tokio::time::sleep;

use super::*;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";

struct RunningServer {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

async fn start(router: Router, limits: ConnectionLimits) -> RunningServer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let shutdown = async {
        let _ = stopped.await;
    };
    let served = tokio::spawn(serve(
        HttpListener::plain(listener),
        router,
        limits,
        Box::pin(shutdown),
    ));
    RunningServer {
        address,
        stop,
        served,
    }
}

fn hello() -> Router {
    Router::new().route("/", get(|| async { "hello" }))
}

/// Reads until the server closes the connection, within a generous time.
async fn rest(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let read = stream.read_to_end(&mut text);
    let _ = timeout(Duration::from_secs(10), read).await.unwrap();
    String::from_utf8(text).unwrap()
}

async fn some(stream: &mut TcpStream) -> String {
    let mut buffer = [0; 4096];
    let read = timeout(Duration::from_secs(10), stream.read(&mut buffer));
    let count = read.await.unwrap().unwrap();
    String::from_utf8_lossy(&buffer[..count]).into_owned()
}

#[tokio::test]
async fn a_connection_that_sends_no_request_is_closed() {
    let limits = ConnectionLimits {
        head_time: Duration::from_millis(50),
        ..ConnectionLimits::default()
    };
    let server = start(hello(), limits).await;
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    assert_eq!(rest(&mut silent).await, "");
    let mut half = TcpStream::connect(server.address).await.unwrap();
    half.write_all(b"GET / HTTP/1.1\r\nhost:").await.unwrap();
    assert!(!rest(&mut half).await.contains("hello"));
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let server = start(hello(), ConnectionLimits::default()).await;
    let mut client = TcpStream::connect(server.address).await.unwrap();
    let head = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(1_000_000));
    let _ = client.write_all(head.as_bytes()).await;
    // Some systems reset a connection with unread bytes, and then the response is lost.
    let answer = rest(&mut client).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"));
}

#[tokio::test]
async fn a_response_that_is_not_modified_has_no_length() {
    let known = get(|| async { StatusCode::NOT_MODIFIED });
    let server = start(hello().route("/known", known), ConnectionLimits::default()).await;
    for (request, status, has_length) in [
        ("HEAD /known", "304 Not Modified", false),
        ("GET /known", "304 Not Modified", false),
        ("HEAD /", "200 OK", true),
    ] {
        let request = format!("{request} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let mut client = connect(&server, request.as_bytes()).await;
        let answer = rest(&mut client).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
        assert_eq!(answer.contains("content-length: "), has_length, "{answer}");
        assert!(answer.ends_with("\r\n\r\n"), "{answer}");
    }
}

/// Responds on the first path at once, and on the other path after a signal on `go`.
fn hello_or_wait(begun: &Arc<Notify>, go: &Arc<Notify>) -> Router {
    let (begun, go) = (Arc::clone(begun), Arc::clone(go));
    let wait = move || {
        let (begun, go) = (Arc::clone(&begun), Arc::clone(&go));
        async move {
            begun.notify_one();
            go.notified().await;
            "waited"
        }
    };
    hello().route("/wait", get(wait))
}

async fn connect(server: &RunningServer, request: &[u8]) -> TcpStream {
    let mut client = TcpStream::connect(server.address).await.unwrap();
    client.write_all(request).await.unwrap();
    client
}

const ONE: ConnectionLimits = ConnectionLimits {
    connections: 1,
    ..ConnectionLimits::DEFAULT
};

#[tokio::test]
async fn a_connection_beyond_the_limit_waits_for_those_that_are_answered() {
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let server = start(hello_or_wait(&begun, &go), ONE).await;
    let mut first = connect(&server, b"GET /wait HTTP/1.1\r\nhost: x\r\n\r\n").await;
    begun.notified().await;
    let mut second = connect(&server, REQUEST).await;
    let waiting = timeout(Duration::from_millis(200), second.readable()).await;
    assert!(waiting.is_err(), "the only connection is in use");
    go.notify_one();
    assert!(some(&mut first).await.contains("waited"));
    assert!(some(&mut second).await.contains("hello"));
    assert_eq!(rest(&mut first).await, "");
}

#[tokio::test]
async fn who_only_holds_a_connection_makes_room() {
    let limits = ConnectionLimits {
        connections: 3,
        first_request_time_when_full: Duration::from_millis(20),
        idle_time_when_full: Duration::from_secs(30),
        ..ConnectionLimits::DEFAULT
    };
    let server = start(hello(), limits).await;
    let mut slow = connect(&server, b"GET / HTTP/1.1\r\nhost:").await;
    let mut known = connect(&server, REQUEST).await;
    assert!(some(&mut known).await.contains("hello"));
    let mut held = Vec::new();
    for _ in 0..20 {
        held.push(connect(&server, b"").await);
    }
    let mut last = connect(&server, REQUEST).await;
    assert!(some(&mut last).await.contains("hello"));
    known.write_all(REQUEST).await.unwrap();
    assert!(some(&mut known).await.contains("hello"), "it was spared");
    assert_eq!(rest(&mut slow).await, "");
}

#[tokio::test]
async fn who_drips_a_body_makes_room() {
    let read_body = axum::routing::post(|body: String| async move { body });
    let server = start(hello().route("/body", read_body), ONE).await;
    let head = b"POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{";
    let mut slow = connect(&server, head).await;
    let mut next = connect(&server, REQUEST).await;
    let drip = async {
        while slow.write_all(b" ").await.is_ok() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    let (response, ()) = tokio::join!(some(&mut next), drip);
    assert!(response.contains("hello"));
}

#[tokio::test]
async fn idle_clients_stay_connected_below_the_limit() {
    let limits = ConnectionLimits {
        connections: 3,
        first_request_time_when_full: Duration::ZERO,
        idle_time_when_full: Duration::ZERO,
        ..ConnectionLimits::DEFAULT
    };
    let server = start(hello(), limits).await;
    let mut clients = Vec::new();
    for _ in 0..3 {
        clients.push(connect(&server, b"").await);
    }
    sleep(Duration::from_millis(100)).await;
    for client in &mut clients {
        client.write_all(REQUEST).await.unwrap();
        assert!(some(client).await.contains("hello"));
    }
}

#[tokio::test]
async fn a_client_that_stops_reading_loses_its_connection() {
    let endless = || async {
        let frames = stream::repeat_with(|| Ok::<_, io::Error>(Bytes::from(vec![b'x'; 65_536])));
        Body::from_stream(frames)
    };
    let limits = ConnectionLimits {
        connections: 1,
        write_time: Duration::from_millis(100),
        ..ConnectionLimits::default()
    };
    let router = hello().route("/endless", get(endless));
    let server = start(router, limits).await;
    let mut greedy = TcpStream::connect(server.address).await.unwrap();
    greedy
        .write_all(b"GET /endless HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    let mut next = TcpStream::connect(server.address).await.unwrap();
    next.write_all(REQUEST).await.unwrap();
    assert!(some(&mut next).await.contains("hello"));
}

#[tokio::test]
async fn an_open_request_is_answered_before_the_server_ends() {
    let slow = || async {
        sleep(Duration::from_millis(150)).await;
        "slow"
    };
    let server = start(
        Router::new().route("/", get(slow)),
        ConnectionLimits::default(),
    )
    .await;
    let mut client = TcpStream::connect(server.address).await.unwrap();
    client.write_all(REQUEST).await.unwrap();
    sleep(Duration::from_millis(50)).await;
    server.stop.send(()).unwrap();
    assert!(rest(&mut client).await.ends_with("slow"));
    timeout(Duration::from_secs(10), server.served)
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn a_request_that_never_ends_is_cut_off_when_the_drain_time_is_over() {
    let limits = ConnectionLimits {
        drain_time: Duration::from_millis(50),
        ..ConnectionLimits::default()
    };
    let router = Router::new().route("/", get(std::future::pending::<&str>));
    let server = start(router, limits).await;
    let mut client = TcpStream::connect(server.address).await.unwrap();
    client.write_all(REQUEST).await.unwrap();
    sleep(Duration::from_millis(50)).await;
    server.stop.send(()).unwrap();
    assert_eq!(rest(&mut client).await, "");
    timeout(Duration::from_secs(10), server.served)
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_occupies_its_thread_does_not_delay_the_end_for_ever() {
    let limits = ConnectionLimits {
        drain_time: Duration::from_millis(50),
        ..ConnectionLimits::default()
    };
    // A runtime whose idle threads sleep may leave its timers to the thread that is occupied.
    let awake = tokio::spawn(async {
        loop {
            tokio::task::yield_now().await;
        }
    });
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Arc::new(std::sync::Mutex::new(released));
    let occupy = move || async move {
        let _ = released.lock().unwrap().recv();
    };
    let server = start(Router::new().route("/", get(occupy)), limits).await;
    let mut client = TcpStream::connect(server.address).await.unwrap();
    client.write_all(REQUEST).await.unwrap();
    sleep(Duration::from_millis(50)).await;
    server.stop.send(()).unwrap();
    let served = timeout(Duration::from_secs(10), server.served).await;
    release.send(()).unwrap();
    awake.abort();
    served.unwrap().unwrap();
}
