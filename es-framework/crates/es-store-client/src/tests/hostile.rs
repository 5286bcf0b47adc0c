//! Servers that are silent, break off, send wrong data or send data without end.

use std::{net::SocketAddr, time::Duration};

use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::sleep,
};

use super::{ClientSettings, EventSourcingDbStore, ReconnectPolicy, TOKEN, candidate};
use es_event::{Dialect, EventId, EventTime, Hash, RecordedEvent, Subject};
use es_store::{
    AppendError, EventLog as _, FromLatestEvent, IfEventIsMissing, ObserveOptions, ReadOptions,
    StoreCatalog as _, StoreError,
};

/// The reaction of a faulty server to the head of a request.
#[derive(Clone)]
pub(super) enum ServerFault {
    Silence,
    Close,
    /// These bytes, then the end of the connection.
    Say(String),
    /// These bytes, then silence.
    SayAndHang(String),
    /// A streamed line without an end.
    Endless,
    /// These bytes, also to the request that detects version 2.
    Always(String),
    /// A server of version 2: its response to a ping, and its response to any other request.
    Version2 {
        ping: String,
        then: String,
    },
}

/// The start of the request by which a client detects version 2, and the answer of an older server.
pub(super) const PROBE: &[u8] = b"GET /api/v2/system/ping ";
pub(super) const NO_VERSION_2: &[u8] = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";

async fn server(fault: ServerFault) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(misbehave(stream, fault.clone()));
        }
    });
    address
}

async fn misbehave(mut stream: TcpStream, fault: ServerFault) {
    let mut request = [0; 64 * 1024];
    let length = stream.read(&mut request).await.unwrap_or_default();
    let is_probe = request[..length].starts_with(PROBE);
    if is_probe && !matches!(fault, ServerFault::Always(_)) {
        let answer = match &fault {
            ServerFault::Version2 { ping, .. } => ping.as_bytes(),
            _ => NO_VERSION_2,
        };
        let _ = stream.write_all(answer).await;
        let _ = stream.read(&mut request).await;
    }
    match fault {
        ServerFault::Silence => sleep(Duration::from_secs(60)).await,
        ServerFault::Close => {}
        ServerFault::Say(text)
        | ServerFault::Always(text)
        | ServerFault::Version2 { then: text, .. } => {
            let _ = stream.write_all(text.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
        ServerFault::SayAndHang(text) => {
            let _ = stream.write_all(text.as_bytes()).await;
            sleep(Duration::from_secs(60)).await;
        }
        ServerFault::Endless => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
        }
    }
}

pub(super) async fn client(fault: ServerFault) -> EventSourcingDbStore {
    // The timeout is short only for the faults that are meant to reach it.
    let time = match fault {
        ServerFault::Silence | ServerFault::SayAndHang(_) => Duration::from_millis(300),
        _ => Duration::from_secs(20),
    };
    let mut settings = ClientSettings::new(format!("http://{}", server(fault).await), TOKEN);
    settings.request_time = time;
    settings.read_silence = time;
    settings.observe_silence = time;
    settings.reconnect = ReconnectPolicy::never();
    settings.line_limit = 100_000;
    settings.response_limit = 100_000;
    EventSourcingDbStore::new(settings).unwrap()
}

pub(super) fn answer(status: &str, body: &str) -> ServerFault {
    let length = body.len();
    ServerFault::Say(format!(
        "HTTP/1.1 {status}\r\nretry-after: 7\r\ncontent-length: {length}\r\n\r\n{body}"
    ))
}

async fn append(fault: ServerFault) -> AppendError {
    let store = client(fault).await;
    let written = store.append(vec![candidate("/a", "{}")], vec![]).await;
    written.unwrap_err()
}

async fn read(fault: ServerFault) -> Result<Vec<RecordedEvent>, StoreError> {
    let store = client(fault).await;
    let events = store.read("/a".parse().unwrap(), ReadOptions::default());
    events.try_collect().await
}

fn event(subject: &str, id: u64) -> RecordedEvent {
    let id = EventId::new(id).unwrap();
    RecordedEvent::record(candidate(subject, "{}"), id, EventTime::now(), Hash::ZERO)
}

fn lines(events: &[RecordedEvent]) -> String {
    let mut out = Vec::new();
    for event in events {
        Dialect::Event.write_line(event, None, &mut out);
    }
    String::from_utf8(out).unwrap()
}

#[tokio::test]
async fn a_write_that_was_sent_and_not_answered_has_an_unknown_outcome() {
    let event = |id: u64| {
        let mut out = b"[".to_vec();
        Dialect::Event.write_recorded(&event("/a", id), None, &mut out);
        String::from_utf8(out).unwrap() + "]"
    };
    let other = event(0).replace("/a", "/b");
    let changed = event(0).replace("\"data\":{}", "\"data\":{\"a\":1}");
    let faults = [
        ServerFault::Silence,
        ServerFault::Close,
        ServerFault::Say("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n[{".into()),
        ServerFault::SayAndHang("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n[{".into()),
        ServerFault::Say("no http at all".into()),
        ServerFault::Endless,
        answer("200 OK", "<html>"),
        answer("200 OK", "[]"),
        answer("200 OK", "[{}]"),
        answer("200 OK", &other),
        answer("200 OK", &changed),
        answer("204 No Content", ""),
        answer("500 Internal Server Error", "disk"),
        answer("502 Bad Gateway", "<html>"),
        answer("504 Gateway Timeout", "<html>"),
    ];
    for fault in faults {
        let error = append(fault).await;
        assert!(matches!(error, AppendError::Unknown { .. }), "{error:?}");
        assert!(error.to_string().contains("http://127.0.0.1:"), "{error}");
    }
}

#[tokio::test]
async fn a_refused_write_says_why() {
    let conflict = append(answer(
        "409 Conflict",
        "state conflict: precondition failed\n",
    ))
    .await;
    assert!(matches!(conflict, AppendError::Conflict(_)), "{conflict:?}");
    let refused = |error: AppendError| matches!(error, AppendError::Store(StoreError::Refused(_)));
    assert!(refused(
        append(answer("409 Conflict", "schema conflict: …")).await
    ));
    assert!(refused(append(answer("400 Bad Request", "no")).await));
    assert!(refused(append(answer("302 Found", "")).await));
    let full = append(answer("507 Insufficient Storage", "insufficient storage")).await;
    assert!(
        matches!(full, AppendError::Store(StoreError::Full(_))),
        "{full:?}"
    );
    for status in ["503 Service Unavailable", "429 Too Many Requests"] {
        let busy = append(answer(status, "busy")).await;
        assert!(
            matches!(busy, AppendError::Store(StoreError::Unavailable { .. })),
            "{busy:?}"
        );
        let text = busy.to_string();
        assert!(text.contains("busy (Retry-After: 7)"), "{text}");
    }
    let stranger = append(answer("401 Unauthorized", "unauthorized")).await;
    assert!(
        matches!(
            stranger,
            AppendError::Store(StoreError::Unauthorized { .. })
        ),
        "{stranger:?}"
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_was_sent_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("http://{address}");
    let store = EventSourcingDbStore::new(ClientSettings::new(&url, TOKEN)).unwrap();
    let appended = store.append(vec![candidate("/a", "{}")], vec![]).await;
    let error = appended.unwrap_err();
    assert!(
        matches!(error, AppendError::Store(StoreError::Unavailable { .. })),
        "{error:?}"
    );
    assert!(error.to_string().contains(&url), "{error}");
    assert!(store.health().await.unwrap_err().to_string().contains(&url));
}

#[tokio::test]
async fn the_text_of_a_refusal_is_bounded_and_never_holds_the_token() {
    let text = format!("you sent {TOKEN}\r\n\u{7} {}", "x".repeat(1_000));
    let error = append(answer("400 Bad Request", &text)).await.to_string();
    assert!(error.contains("you sent ***"), "{error}");
    assert!(
        error.len() < 700 && !error.contains(TOKEN) && !error.contains('\n'),
        "{error}"
    );
    let endless = format!("HTTP/1.1 400 Bad Request\r\n\r\n{}", "x".repeat(1_000_000));
    let error = append(ServerFault::Say(endless)).await;
    assert!(
        matches!(error, AppendError::Store(StoreError::Refused(_))),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_read_that_is_not_whole_is_an_error() {
    let first = lines(&[event("/a", 0)]);
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = format!("{head}{:x}\r\n{first}\r\n", first.len());
    for fault in [
        ServerFault::Silence,
        ServerFault::Close,
        ServerFault::Say(chunk.clone()),
        ServerFault::SayAndHang(chunk),
        ServerFault::Say(format!("HTTP/1.1 200 OK\r\n\r\n{first}{{\"type\":")),
        answer("500 Internal Server Error", "disk"),
        answer(
            "200 OK",
            "{\"type\":\"error\",\"payload\":{\"error\":\"disk\"}}\n",
        ),
    ] {
        let error = read(fault).await.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
    }
}

#[tokio::test]
async fn what_is_no_event_or_not_the_one_asked_for_is_broken() {
    let good = event("/a", 3);
    let mut changed = good.clone();
    changed.hash = Hash::ZERO;
    for body in [
        "<html>\n".to_owned(),
        "{}\n".to_owned(),
        "null\n".to_owned(),
        "\u{0}\u{1}\n".to_owned(),
        "{\"type\":\"row\",\"payload\":1}\n".to_owned(),
        format!("{}\n", "[".repeat(50_000)),
        "x".repeat(200_000),
        lines(&[changed]),
        lines(&[event("/b", 0)]),
        lines(&[good.clone(), event("/a", 2)]),
        lines(&[good.clone(), good]),
    ] {
        let error = read(answer("200 OK", &body)).await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    }
    let error = read(ServerFault::Endless).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
}

#[tokio::test]
async fn heartbeats_and_blank_lines_are_passed_over() {
    let heartbeat = "{\"type\":\"heartbeat\",\"payload\":{}}\n";
    let body = format!("{heartbeat}\n{}\r\n{heartbeat}", lines(&[event("/a", 0)]));
    assert_eq!(read(answer("200 OK", &body)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_read_of_so_many_events_does_not_wait_for_the_end() {
    let first = lines(&[event("/a", 0), event("/a", 1)]);
    let hanging = ServerFault::SayAndHang(format!("HTTP/1.1 200 OK\r\n\r\n{first}"));
    let store = client(hanging.clone()).await;
    let options = ReadOptions::default().first_only();
    let events = store.read("/a".parse().unwrap(), options);
    assert_eq!(events.try_collect::<Vec<_>>().await.unwrap().len(), 1);
    assert!(read(hanging).await.is_err(), "whoever wants all waits");
}

#[tokio::test]
async fn a_start_behind_the_end_reads_as_nothing() {
    let store = client(answer(
        "409 Conflict",
        "state conflict: fromLatestEvent …\n",
    ))
    .await;
    let options = ReadOptions {
        from_latest_event: Some(FromLatestEvent {
            subject: Subject::root(),
            event_type: "io.example.test".parse().unwrap(),
            if_missing: IfEventIsMissing::Nothing,
        }),
        ..ReadOptions::default()
    };
    assert!(store.read(Subject::root(), options).next().await.is_none());
}

#[tokio::test]
async fn an_observation_never_just_ends() {
    let first = lines(&[event("/a", 0)]);
    for fault in [
        answer("200 OK", &first),
        ServerFault::SayAndHang(format!("HTTP/1.1 200 OK\r\n\r\n{first}")),
    ] {
        let store = client(fault).await;
        let mut events = store.observe("/a".parse().unwrap(), ObserveOptions::default());
        assert!(events.next().await.unwrap().is_ok());
        let error = events.next().await.unwrap().unwrap_err();
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
        assert!(events.next().await.is_none());
    }
}

#[tokio::test]
async fn a_server_that_is_something_else_is_not_healthy() {
    let html = client(answer("200 OK", "<html>")).await.health().await;
    assert!(matches!(html, Err(StoreError::Corrupt { .. })), "{html:?}");
    for fault in [
        ServerFault::Silence,
        ServerFault::Close,
        answer("503 Service Unavailable", ""),
    ] {
        let health = client(fault).await.health().await;
        assert!(
            matches!(health, Err(StoreError::Unavailable { .. })),
            "{health:?}"
        );
    }
}
