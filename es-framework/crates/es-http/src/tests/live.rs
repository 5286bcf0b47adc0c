//! Live queries over real sockets, with limits that are small enough to meet.

use std::{
    future::pending,
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use es_catalog::Catalog;
use es_macros::Query;
use es_net::{self as net, HttpListener};
use es_read::{
    projection::Processor,
    query::{QueryContext, QueryDescriptor, QueryError, QueryHandler},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpSocket, TcpStream},
    time::timeout,
};

use axum::Router;
use serde_json::{Value, json};

use super::{plant, serve_with, serve_without_rows};
use crate::{RequestLimits, live::LiveQuerySettings, test_fixture::PlantTreeCommand};

const PATIENCE: Duration = Duration::from_secs(60);

const HASTY: LiveQuerySettings = LiveQuerySettings {
    max_open: 1,
    heartbeat: Duration::from_millis(50),
    gather_window: Duration::ZERO,
    catch_up_time: Duration::from_secs(60),
};

/// Starts the fixture application with a short limit for clients that do not read.
async fn listen(garden: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let limits = net::ConnectionLimits {
        write_time: Duration::from_millis(100),
        ..net::ConnectionLimits::default()
    };
    tokio::spawn(net::serve(
        HttpListener::plain(listener),
        garden,
        limits,
        Box::pin(pending()),
    ));
    address
}

/// Starts the fixture application while its read models do not work yet.
async fn listen_without_rows(live: LiveQuerySettings) -> (Router, SocketAddr, Processor) {
    let limits = RequestLimits {
        position_wait: Duration::from_millis(20),
        ..RequestLimits::default()
    };
    let catalog = Catalog::builder().command::<PlantTreeCommand>();
    let (garden, processor) = serve_without_rows(catalog, [], live, limits).await;
    let address = listen(garden.clone()).await;
    (garden, address, processor)
}

/// Sends the request of a live query and reads no response yet.
async fn open(address: SocketAddr, path: &str) -> TcpStream {
    open_after(address, path, "").await
}

/// Sends the request of a client that reconnects, with its header `Last-Event-ID`.
async fn open_after(address: SocketAddr, path: &str, last_event_id: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n{last_event_id}\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// Reads until the text contains `end`.
async fn until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while !text.contains(end) {
        let read = timeout(PATIENCE, stream.read(&mut buffer)).await;
        let count = read.expect("more comes").unwrap();
        assert!(count > 0, "the end came before {end}:\n{text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    text
}

#[tokio::test]
async fn a_client_is_sent_signs_of_life_while_nothing_is_new() {
    let garden = serve_with(Catalog::builder().command::<PlantTreeCommand>(), [], HASTY).await;
    let address = listen(garden).await;
    let mut client = open(address, "/trees").await;
    let begin = until(&mut client, "retry: 2000\n").await;
    assert!(begin.starts_with("HTTP/1.1 200 OK"), "{begin}");
    let text = until(&mut client, ": no change\n").await;
    assert!(!text.contains("data"), "{text}");
}

#[tokio::test]
async fn a_client_that_takes_nothing_loses_its_place_to_another() {
    let garden = serve_with(Catalog::builder().command::<PlantTreeCommand>(), [], HASTY).await;
    let address = listen(garden.clone()).await;
    let path = "/trees?limit=1000&total=true";
    let mut slow = open(address, path).await;
    until(&mut slow, "data").await;
    let admitted = async {
        for number in 0.. {
            let tree = json!({ "kind": "o".repeat(10), "numLeaves": 7 });
            plant(&garden, &format!("t{number}"), &tree).await;
            let mut other = open(address, path).await;
            let answer = until(&mut other, "\r\n\r\n").await;
            if answer.starts_with("HTTP/1.1 200") {
                return answer;
            } else {
                assert!(answer.starts_with("HTTP/1.1 503"), "{answer}")
            }
        }
        unreachable!("there are enough numbers")
    };
    timeout(PATIENCE, admitted)
        .await
        .expect("the slow client goes");
}

const LAGS: &str = ": the read models have not applied all events yet\n";

#[tokio::test]
async fn a_client_of_an_instance_that_lags_waits_in_an_open_stream() {
    let (garden, address, processor) = listen_without_rows(HASTY).await;
    for id in ["t1", "t2"] {
        plant(&garden, id, &json!({ "kind": "oak", "numLeaves": 7 })).await;
    }
    let seen = format!("last-event-id: 1-{}\r\n", "0".repeat(32));
    let mut client = open_after(address, "/trees?total=true", &seen).await;
    let begin = until(&mut client, LAGS).await;
    assert!(begin.starts_with("HTTP/1.1 200 OK"), "{begin}");
    // Another comment keeps the connection open.
    until(&mut client, LAGS).await;
    tokio::spawn(processor.run());
    let text = until(&mut client, r#""total":2"#).await;
    assert!(text.contains("id: 1-"), "{text}");
    assert!(!text.contains("problem"), "{text}");
}

#[tokio::test]
async fn a_client_of_an_instance_that_does_not_catch_up_is_sent_elsewhere() {
    let impatient = LiveQuerySettings {
        catch_up_time: Duration::from_millis(100),
        ..HASTY
    };
    let (_, address, _processor) = listen_without_rows(impatient).await;
    let mut client = open(address, "/trees").await;
    let text = until(&mut client, "\r\n0\r\n\r\n").await;
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    assert!(text.contains("retry: 2000\n"), "{text}");
    let (_, problem) = text
        .split_once("event: problem\ndata: ")
        .expect("a problem");
    assert!(problem.contains("problem:position-not-reached"), "{text}");
}

#[tokio::test]
async fn a_client_that_saw_events_which_a_restored_store_lacks_begins_anew() {
    let garden = serve_with(Catalog::builder().command::<PlantTreeCommand>(), [], HASTY).await;
    let tree = json!({ "kind": "oak", "numLeaves": 7 });
    plant(&garden, "t1", &tree).await;
    let address = listen(garden.clone()).await;
    let seen = format!("last-event-id: 999999-{}\r\n", "0".repeat(32));
    let mut client = open_after(address, "/trees?total=true", &seen).await;
    let text = until(&mut client, r#""total":1"#).await;
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    assert!(text.contains("id: 0-"), "{text}");
    plant(&garden, "t2", &tree).await;
    until(&mut client, r#""total":2"#).await;
}

#[tokio::test]
async fn a_parameter_that_is_not_valid_is_refused_before_the_stream() {
    let (_, address, _processor) = listen_without_rows(HASTY).await;
    let seen = format!("last-event-id: 1-{}\r\n", "0".repeat(32));
    let mut client = open_after(address, "/trees?colour=red", &seen).await;
    let text = until(&mut client, "\r\n\r\n").await;
    assert!(text.starts_with("HTTP/1.1 400"), "{text}");
}

static IS_GONE: AtomicBool = AtomicBool::new(false);

/// Shows something that disappears later.
#[derive(Query)]
#[es(crate = "crate::tests::facade")]
#[query(path = "/fading")]
struct FadingQuery {}

impl QueryHandler for FadingQuery {
    type Output = u32;

    async fn handle(self, _: &QueryContext<'_>) -> Result<u32, QueryError> {
        if IS_GONE.load(Ordering::Relaxed) {
            Err(QueryError::NotFound)
        } else {
            Ok(7)
        }
    }
}

#[tokio::test]
async fn what_is_gone_is_told_and_ends_the_stream() {
    let fading = [QueryDescriptor::of::<FadingQuery>()];
    let garden = serve_with(
        Catalog::builder().command::<PlantTreeCommand>(),
        fading,
        HASTY,
    )
    .await;
    let mut client = open(listen(garden).await, "/fading").await;
    until(&mut client, "data: 7\n").await;
    IS_GONE.store(true, Ordering::Relaxed);
    // The empty chunk ends the response.
    let end = until(&mut client, "\r\n0\r\n\r\n").await;
    let (_, problem) = end.split_once("event: problem\ndata: ").expect("a problem");
    let problem: Value = serde_json::from_str(problem.lines().next().unwrap()).unwrap();
    assert_eq!(problem["status"], 404);
    assert_eq!(problem["detail"], "nothing is known of /fading");
}

#[tokio::test]
async fn a_change_is_shown_within_fifty_milliseconds() {
    let live = LiveQuerySettings::default();
    let garden = serve_with(Catalog::builder().command::<PlantTreeCommand>(), [], live).await;
    let mut client = open(listen(garden.clone()).await, "/trees?total=true").await;
    until(&mut client, r#""total":0"#).await;
    let mut delays = Vec::new();
    for number in 1..=20 {
        let tree = json!({ "kind": "oak", "numLeaves": 7 });
        plant(&garden, &format!("t{number}"), &tree).await;
        let begin = Instant::now();
        until(&mut client, &format!(r#""total":{number}"#)).await;
        delays.push(begin.elapsed());
    }
    // Each change comes just after the last run of the query. Other tests share the processor, so only the
    // fastest one tells the window.
    let fastest = delays.iter().min().unwrap();
    assert!(*fastest < Duration::from_millis(50), "{delays:?}");
}
