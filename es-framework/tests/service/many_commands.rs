//! Many commands in one request: a line is a command, and has an answer of its own.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::Shutdown,
    num::NonZeroU32,
    time::{Duration, Instant},
};

use es_framework::{Settings, axum::http::Request};
use reqwest::{Body, Response};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::{
    eventually::eventually,
    http_client::client,
    raw_http,
    running_service::{RunningService, book},
};

const NDJSON: &str = "application/x-ndjson";

/// Sends lines, and returns the status of the response and its lines.
async fn send(
    service: &RunningService,
    path: &str,
    headers: &[(&str, &str)],
    body: String,
) -> (u16, Vec<Value>) {
    let url = format!("{}{path}", service.url);
    let mut request = client().post(url).header("content-type", NDJSON);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.body(body).send().await.unwrap();
    let status = response.status().as_u16();
    (status, answers(&response.text().await.unwrap()))
}

fn answers(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn purchases(ids: impl IntoIterator<Item = Uuid>) -> String {
    ids.into_iter()
        .map(|id| format!("{}\n", book(id)))
        .collect()
}

fn ids(count: u128) -> impl Iterator<Item = Uuid> {
    (1..=count).map(Uuid::from_u128)
}

fn statuses(answers: &[Value]) -> Vec<u64> {
    let all = answers.iter();
    all.map(|answer| answer["status"].as_u64().unwrap())
        .collect()
}

fn problem(answer: &Value) -> &str {
    let kind = answer["problem"]["type"].as_str().unwrap();
    kind.rsplit(':').next().unwrap()
}

#[tokio::test]
async fn each_line_is_answered_in_order_and_a_refused_one_stops_nothing() {
    let library = RunningService::start();
    let mut body = String::new();
    let mut expected = Vec::new();
    for number in 1..=300_u128 {
        match number % 6 {
            0 => {
                body += "{\"id\":\n";
                expected.push((400, Some("malformed-body")));
            }
            3 => {
                body += &purchases([Uuid::from_u128(number - 1)]);
                expected.push((409, Some("already-exists")));
            }
            5 => {
                let mut wrong = book(Uuid::from_u128(number));
                wrong["numPages"] = json!(0);
                body += &format!("{wrong}\r\n");
                expected.push((422, Some("invalid-values")));
            }
            _ => {
                body += &purchases([Uuid::from_u128(number)]);
                expected.push((201, None));
            }
        }
    }
    // The last line needs no line break.
    let (status, answers) = send(&library, "/books/purchase", &[], body.trim_end().into()).await;
    assert_eq!((status, answers.len()), (200, 300));
    for (index, (answer, (status, name))) in answers.iter().zip(expected).enumerate() {
        assert_eq!(answer["line"], index + 1);
        assert_eq!(answer["status"], status, "{answer}");
        match name {
            Some(name) => assert_eq!(problem(answer), name),
            None => {
                let id = Uuid::from_u128(index as u128 + 1);
                assert_eq!(answer["location"], format!("/books/{id}"));
                assert!(answer["eventPosition"].is_string(), "{answer}");
            }
        }
    }
    assert_eq!(library.stored_events().await.len(), 150);
    library.assert_works().await;
}

#[tokio::test]
async fn blank_lines_are_counted_and_not_answered() {
    let library = RunningService::start();
    let body = format!("\n \r\n{}\n\n", book(Uuid::from_u128(1)));
    let (_, answers) = send(&library, "/books/purchase", &[], body).await;
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["line"], 3);
}

#[tokio::test]
async fn lines_about_one_subject_are_carried_out_in_their_order() {
    let library = RunningService::start();
    send(&library, "/books/purchase", &[], purchases(ids(20))).await;
    for (number, id) in ids(20).enumerate() {
        let readers: String = ids(40)
            .map(|reader| format!("{}\n", json!({ "reader": reader })))
            .collect();
        // With a key, each line begins with a look for its idempotency record.
        let key = format!("loan-{number}");
        let keys = [("idempotency-key", &*key)];
        let keys = if number % 2 == 0 { &keys[..] } else { &[] };
        let path = format!("/books/{id}/borrow");
        let (_, answers) = send(&library, &path, keys, readers).await;
        let mut expected = vec![409; 40];
        expected[0] = 204;
        assert_eq!(statuses(&answers), expected);
    }
}

#[tokio::test]
async fn an_answer_comes_before_the_next_line_is_sent() {
    let library = RunningService::start();
    let (sender, receiver) = mpsc::channel::<String>(1);
    let lines = futures_util::stream::unfold(receiver, async |mut receiver| {
        let line = receiver.recv().await?;
        Some((Ok::<_, std::io::Error>(line), receiver))
    });
    let request = client().post(format!("{}/books/purchase", library.url));
    let request = request.header("content-type", NDJSON);
    let mut ids = ids(3);
    sender.send(purchases(ids.next())).await.unwrap();
    let sent = request.body(Body::wrap_stream(lines)).send();
    let mut response: Response = sent.await.unwrap();
    for (number, next) in [(1, ids.next()), (2, ids.next()), (3, None)] {
        let chunk = response.chunk().await.unwrap().unwrap();
        let answers = answers(std::str::from_utf8(&chunk).unwrap());
        assert_eq!(answers.len(), 1);
        assert_eq!(answers[0]["line"], number);
        if let Some(next) = next {
            sender.send(purchases([next])).await.unwrap();
        }
    }
    drop(sender);
    assert_eq!(response.chunk().await.unwrap(), None);
}

#[tokio::test]
async fn a_strict_request_carries_out_nothing_behind_a_refused_line() {
    let library = RunningService::start();
    let body = purchases([1, 2, 2, 3, 4].map(Uuid::from_u128));
    let strict = [("prefer", "wait=1, handling=strict")];
    let (status, answers) = send(&library, "/books/purchase", &strict, body).await;
    assert_eq!(status, 200);
    assert_eq!(statuses(&answers), [201, 201, 409, 424]);
    assert_eq!(problem(&answers[3]), "not-executed");
    let detail = answers[3]["problem"]["detail"].as_str().unwrap();
    assert!(detail.contains("line 3 was refused"), "{detail}");
    assert_eq!(library.stored_events().await.len(), 2);
}

#[tokio::test]
async fn a_line_that_is_too_long_ends_the_answers() {
    let library = RunningService::start_with(Settings::default().http_body_limit(1_000));
    let long = "x".repeat(1_001);
    for behind in ["\n", ""] {
        let body = format!("{}{long}{behind}", purchases(ids(1)));
        let body = body + &purchases(ids(3));
        let (_, answers) = send(&library, "/books/purchase", &[], body).await;
        assert_eq!(answers.len(), 2, "{answers:?}");
        assert_eq!(answers[1]["status"], 413);
        assert_eq!(problem(&answers[1]), "body-too-large");
    }
    assert_eq!(library.stored_events().await.len(), 1);
}

#[tokio::test]
async fn a_sender_that_pauses_for_too_long_is_told() {
    let settings = Settings::default().http_body_seconds(Duration::from_secs(1));
    let library = RunningService::start_with(settings);
    let mut slow = raw_http::connect(&library.url);
    slow.write_all(head("/books/purchase", 100_000).as_bytes())
        .unwrap();
    slow.write_all(purchases(ids(2)).as_bytes()).unwrap();
    slow.write_all(b"{\"id\":").unwrap();
    let mut text = String::new();
    slow.read_to_string(&mut text).unwrap();
    assert_eq!(text.matches("\"status\":201").count(), 2, "{text}");
    assert!(text.contains("\"line\":3,\"status\":408"), "{text}");
}

fn head(path: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {NDJSON}\r\ncontent-length: {length}\r\n\r\n"
    )
}

#[tokio::test]
async fn a_client_that_goes_away_in_a_line_leaves_only_whole_lines_behind() {
    let library = RunningService::start();
    let mut stream = raw_http::connect(&library.url);
    let whole = purchases(ids(10));
    stream
        .write_all(head("/books/purchase", 1_000_000).as_bytes())
        .unwrap();
    stream.write_all(whole.as_bytes()).unwrap();
    // The text that arrived is a whole command, but not a whole line.
    let cut = book(Uuid::from_u128(11)).to_string();
    stream.write_all(cut.as_bytes()).unwrap();
    eventually("the whole lines are carried out", async || {
        (library.stored_events().await.len() == 10).then_some(())
    })
    .await;
    stream.shutdown(Shutdown::Both).unwrap();
    drop(stream);
    library.assert_works().await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(
        library.stored_events().await.len(),
        11,
        "one of assert_works"
    );
}

#[tokio::test]
async fn a_repeated_request_with_the_same_key_writes_nothing_and_gets_the_same_answers() {
    let library = RunningService::start();
    let body = purchases(ids(100));
    let key = [("idempotency-key", "\"import-1\"")];
    // The first request broke off after some lines.
    let begin: String = body
        .lines()
        .take(30)
        .map(|line| format!("{line}\n"))
        .collect();
    let (_, first) = send(&library, "/books/purchase", &key, begin).await;
    let (_, second) = send(&library, "/books/purchase", &key, body.clone()).await;
    let (_, third) = send(&library, "/books/purchase", &key, body).await;
    assert_eq!(first, second[..30]);
    assert_eq!(second, third);
    assert_eq!(statuses(&third), vec![201; 100]);
    let stored = library.stored_events().await;
    let is_book = |subject: &str| subject.starts_with("/books/");
    let books = stored
        .iter()
        .filter(|event| is_book(event.subject.as_str()));
    assert_eq!(books.count(), 100);
    // Another command under the key of a line is refused, and the key of a line is that of a single request.
    let other = [("idempotency-key", "import-1-7")];
    let single = client().post(format!("{}/books/purchase", library.url));
    let single = single
        .header("content-type", "application/json")
        .header(other[0].0, other[0].1)
        .body(book(Uuid::from_u128(7)).to_string());
    let single = single.send().await.unwrap();
    assert_eq!(
        single.headers()["event-position"],
        third[6]["eventPosition"].as_str().unwrap()
    );
    let (_, reused) = send(
        &library,
        "/books/purchase",
        &key,
        purchases([Uuid::from_u128(500)]),
    )
    .await;
    assert_eq!(problem(&reused[0]), "idempotency-key-reused");
}

#[tokio::test]
async fn a_client_that_reads_no_answers_is_not_read() {
    const MOST: usize = 64 * 1024 * 1024;
    let library = RunningService::start();
    let mut stream = raw_http::connect(&library.url);
    stream
        .write_all(head("/books/purchase", MOST).as_bytes())
        .unwrap();
    stream
        .set_write_timeout(Some(Duration::from_secs(2)))
        .unwrap();
    // An answer is a hundred times as long as its line.
    let lines = "x\n".repeat(32 * 1024);
    let mut sent = 0;
    while sent < MOST {
        match stream.write(lines.as_bytes()) {
            Ok(length) => sent += length,
            Err(error) => {
                assert!(
                    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
                    "{error}"
                );
                break;
            }
        }
    }
    assert!(sent < MOST / 2, "the service took {sent} bytes");
    // As soon as the client reads, the service reads on.
    let mut reader = stream.try_clone().unwrap();
    let reading = std::thread::spawn(move || {
        let mut read = 0;
        let mut buffer = vec![0; 64 * 1024];
        while read < 48 * 1024 * 1024 {
            read += reader.read(&mut buffer).unwrap();
        }
    });
    stream
        .set_write_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let (goal, lines) = (sent + 64 * 1024, &lines.as_bytes()[sent % 2..]);
    while sent < goal {
        sent += stream.write(lines).unwrap();
    }
    drop(stream);
    drop(reading);
    library.assert_works().await;
}

#[tokio::test]
async fn each_line_counts_against_the_rate_of_its_client() {
    let rate = NonZeroU32::new(20);
    let library = RunningService::start_with(Settings::default().http_rate_limit(rate));
    let begin = Instant::now();
    let (_, answers) = send(&library, "/books/purchase", &[], purchases(ids(50))).await;
    assert_eq!(statuses(&answers), vec![201; 50]);
    assert!(
        begin.elapsed() > Duration::from_secs(1),
        "{:?}",
        begin.elapsed()
    );
}

#[tokio::test]
async fn a_version_is_expected_of_one_command_only() {
    let library = RunningService::start();
    let request = Request::post("/books/purchase")
        .header("content-type", NDJSON)
        .header("if-match", "*");
    let body = purchases(ids(1));
    let answer = library.client.send(request.body(body.into()).unwrap());
    let answer = answer.await.unwrap();
    let problem: Value = answer.json().unwrap();
    assert_eq!(answer.status, 400, "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("If-Match"));
    assert!(library.stored_events().await.is_empty());
}
