//! Subscriptions to servers that stop, return or never work.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use futures_util::StreamExt as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    time::{sleep, timeout},
};

use super::hostile::{NO_VERSION_2, PROBE};
use super::{ClientSettings, EventSourcingDbStore, ReconnectPolicy, TOKEN, candidate};
use es_event::{Dialect, EventId, EventTime, Hash, RecordedEvent};
use es_store::{
    EventLog as _, EventStream, FromLatestEvent, IfEventIsMissing, ObserveOptions, StoreError,
};

const OK: &str = "HTTP/1.1 200 OK\r\n\r\n";
const HEARTBEAT: &str = "{\"type\":\"heartbeat\",\"payload\":{}}\n";

/// The requests that arrived, with their times.
type Requests = Arc<Mutex<Vec<(Instant, String)>>>;

/// A server that sends each connection the next of these texts, and repeats the last one. It closes
/// the connection after a text, or stays silent if the text ends in `…`.
async fn server(answers: Vec<String>) -> (String, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let requests = Requests::default();
    let seen = Arc::clone(&requests);
    tokio::spawn(async move {
        for number in 0.. {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 64 * 1024];
            let mut length = stream.read(&mut request).await.unwrap_or_default();
            if request[..length].starts_with(PROBE) {
                let _ = stream.write_all(NO_VERSION_2).await;
                length = stream.read(&mut request).await.unwrap_or_default();
            }
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            seen.lock().unwrap().push((Instant::now(), request));
            let answer = answers.get(number).or(answers.last()).unwrap();
            let said = answer.trim_end_matches('…');
            let _ = stream.write_all(said.as_bytes()).await;
            if said.len() < answer.len() {
                tokio::spawn(async move {
                    sleep(Duration::from_secs(60)).await;
                    drop(stream);
                });
            }
        }
    });
    (url, requests)
}

fn observe_with(
    url: &str,
    options: ObserveOptions,
    change: impl FnOnce(&mut ClientSettings),
) -> EventStream {
    let mut settings = ClientSettings::new(url, TOKEN);
    settings.reconnect.first_pause = Duration::from_millis(10);
    settings.observe_silence = Duration::from_millis(400);
    change(&mut settings);
    let store = EventSourcingDbStore::new(settings).unwrap();
    store.observe("/a".parse().unwrap(), options)
}

fn observe(url: &str) -> EventStream {
    observe_with(url, ObserveOptions::default(), |_| {})
}

async fn next(events: &mut EventStream) -> Result<u64, StoreError> {
    let next = timeout(Duration::from_secs(20), events.next()).await;
    let event = next.expect("the observation hangs");
    event.unwrap().map(|event| event.id.get())
}

/// The first events of a chain, as lines.
fn chain(length: u64) -> Vec<String> {
    let mut before = Hash::ZERO;
    let line = |id| {
        let id = EventId::new(id).unwrap();
        let event = RecordedEvent::record(candidate("/a", "{}"), id, EventTime::now(), before);
        before = event.hash;
        let mut out = Vec::new();
        Dialect::Event.write_line(&event, None, &mut out);
        String::from_utf8(out).unwrap()
    };
    (0..length).map(line).collect()
}

fn refusal(status: &str) -> String {
    format!("HTTP/1.1 {status}\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n")
}

#[tokio::test]
async fn an_interrupted_observation_goes_on_after_the_last_event() {
    let lines = chain(5);
    let (url, requests) = server(vec![
        refusal("500 Internal Server Error"),
        format!("{OK}{}{}", lines[0], lines[1]),
        "no http at all".into(),
        refusal("503 Service Unavailable"),
        format!("{OK}{}{{\"type\":", lines[2]),
        format!("{OK}{}…", lines[3]),
        format!("{OK}{HEARTBEAT}{{\"type\":\"error\",\"payload\":{{\"error\":\"stop\"}}}}\n"),
        format!("{OK}{}…", lines[4]),
    ])
    .await;
    let mut events = observe(&url);
    for id in 0..5 {
        assert_eq!(next(&mut events).await.unwrap(), id);
    }
    let requests = requests.lock().unwrap();
    for (request, expected) in [
        (1, None),
        (2, Some(1)),
        (4, Some(1)),
        (5, Some(2)),
        (7, Some(3)),
    ] {
        let body = &requests[request].1;
        match expected {
            None => assert!(!body.contains("lowerBound"), "{body}"),
            Some(id) => {
                let bound = format!(r#""lowerBound":{{"id":"{id}","type":"exclusive"}}"#);
                assert!(body.contains(&bound), "{body}");
            }
        }
    }
    let asked = requests[4].0.duration_since(requests[3].0);
    assert!(asked >= Duration::from_secs(1), "{asked:?}");
}

#[tokio::test]
async fn what_a_server_sends_again_is_handed_out_once() {
    let lines = chain(4);
    let (url, _) = server(vec![
        format!("{OK}{}", lines[..2].concat()),
        format!("{OK}{}…", lines.concat()),
    ])
    .await;
    let mut events = observe(&url);
    for id in 0..4 {
        assert_eq!(next(&mut events).await.unwrap(), id);
    }
}

#[tokio::test]
async fn what_another_attempt_cannot_mend_ends_the_observation() {
    let lines = chain(1);
    for (answer, expected) in [
        (refusal("401 Unauthorized"), "refused the API token"),
        (refusal("400 Bad Request"), "400"),
        (refusal("404 Not Found"), "404"),
        (format!("{OK}<html>\n"), "broken"),
    ] {
        let (url, requests) = server(vec![format!("{OK}{}", lines[0]), answer]).await;
        let mut events = observe(&url);
        assert_eq!(next(&mut events).await.unwrap(), 0);
        let error = next(&mut events).await.unwrap_err();
        assert!(!error.is_transient(), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(events.next().await.is_none());
        assert_eq!(requests.lock().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn an_outage_longer_than_the_patience_is_told() {
    let (url, requests) = server(vec![refusal("502 Bad Gateway")]).await;
    let longest_outage = Duration::from_millis(300);
    let begun = Instant::now();
    let mut events = observe_with(&url, ObserveOptions::default(), |settings| {
        settings.reconnect.longest_outage = longest_outage;
    });
    let error = next(&mut events).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    let count = requests.lock().unwrap().len();
    assert!((2..20).contains(&count), "{count}");
    // One second is more than the longest outage, so there is no second attempt.
    let (url, requests) = server(vec![refusal("429 Too Many Requests")]).await;
    let mut events = observe_with(&url, ObserveOptions::default(), |settings| {
        settings.reconnect.longest_outage = longest_outage;
    });
    let error = next(&mut events).await.unwrap_err();
    assert!(error.to_string().contains("Retry-After: 1"), "{error}");
    assert_eq!(requests.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_start_that_the_server_chose_is_not_chosen_again() {
    let lines = chain(2);
    let options = || ObserveOptions {
        from_latest_event: Some(FromLatestEvent {
            subject: "/a".parse().unwrap(),
            event_type: "io.example.test".parse().unwrap(),
            if_missing: IfEventIsMissing::Nothing,
        }),
        ..ObserveOptions::default()
    };
    let (url, _) = server(vec![format!("{OK}{HEARTBEAT}")]).await;
    let error = next(&mut observe_with(&url, options(), |_| {})).await;
    assert!(matches!(error, Err(StoreError::Unavailable { .. })));
    let (url, requests) = server(vec![
        format!("{OK}{}", lines[0]),
        format!("{OK}{}…", lines[1]),
    ])
    .await;
    let mut events = observe_with(&url, options(), |_| {});
    for id in 0..2 {
        assert_eq!(next(&mut events).await.unwrap(), id);
    }
    assert!(!requests.lock().unwrap()[1].1.contains("fromLatestEvent"));
}

#[tokio::test]
async fn neighbours_that_are_not_linked_are_broken_if_that_is_checked() {
    let (one, other) = (chain(2), chain(2));
    let together = format!("{OK}{}{}…", one[0], other[1]);
    let apart = vec![format!("{OK}{}", one[0]), format!("{OK}{}…", other[1])];
    for answers in [vec![together], apart] {
        for verify_chain in [true, false] {
            let (url, _) = server(answers.clone()).await;
            let mut events = observe_with(&url, ObserveOptions::default(), |settings| {
                settings.verify_chain = verify_chain;
            });
            assert_eq!(next(&mut events).await.unwrap(), 0);
            let second = next(&mut events).await;
            if verify_chain {
                assert!(matches!(second, Err(StoreError::Corrupt { .. })))
            } else {
                assert_eq!(second.unwrap(), 1)
            }
        }
    }
}

#[tokio::test]
async fn without_reconnecting_the_first_failure_is_the_last() {
    let (url, requests) = server(vec![format!("{OK}{}", chain(1)[0])]).await;
    let mut events = observe_with(&url, ObserveOptions::default(), |settings| {
        settings.reconnect = ReconnectPolicy::never();
    });
    assert_eq!(next(&mut events).await.unwrap(), 0);
    assert!(next(&mut events).await.unwrap_err().is_transient());
    assert_eq!(requests.lock().unwrap().len(), 1);
}
