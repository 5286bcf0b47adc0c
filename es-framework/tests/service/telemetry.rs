//! The log and the traces of a running library.

use reqwest::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    eventually::eventually,
    http_client::{client, get, post},
    running_service::{TOKEN, book},
    service_process::ServiceProcess,
    trace_collector::{ExportedSpan, TraceCollector},
};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";

/// Lends a copy, in a trace that the client started.
async fn borrow(library: &ServiceProcess) -> Uuid {
    let id = Uuid::new_v4();
    let purchase = format!("{}/books/purchase", library.url);
    post(&purchase, book(id).to_string()).await;
    let request = client()
        .post(format!("{}/books/{id}/borrow", library.url))
        .header("content-type", "application/json")
        .header("traceparent", format!("00-{TRACE}-{CALLER}-01"))
        .body(json!({ "reader": id }).to_string());
    let status = request.send().await.unwrap().status();
    assert_eq!(status, StatusCode::NO_CONTENT);
    id
}

/// Returns the direct children of a span.
fn below<'a>(spans: &'a [ExportedSpan], parent: &ExportedSpan) -> Vec<&'a ExportedSpan> {
    let parent = parent.id();
    spans.iter().filter(|one| one.parent() == parent).collect()
}

fn one<'a>(spans: &[&'a ExportedSpan], name: &str) -> &'a ExportedSpan {
    let named: Vec<_> = spans.iter().filter(|one| one.span.name == name).collect();
    assert_eq!(named.len(), 1, "{name} in {spans:#?}");
    named[0]
}

/// Returns the spans of the trace when all steps have exported theirs.
async fn whole_trace(collector: &TraceCollector) -> Vec<ExportedSpan> {
    eventually("the trace is complete", async || {
        let spans = collector.trace(TRACE);
        let count = |head: &str| {
            spans
                .iter()
                .filter(|one| one.span.name.starts_with(head))
                .count()
        };
        let is_whole = count("POST /books/{id}/borrow") == 1
            && count("append") == 2
            && count("react ") == 1
            && count("project book_copies") >= 1;
        is_whole.then_some(spans)
    })
    .await
}

#[tokio::test]
async fn a_borrow_is_one_trace_from_the_request_to_the_read_model_and_the_reaction() {
    let collector = TraceCollector::start().await;
    let settings = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()),
        ("OTEL_BSP_SCHEDULE_DELAY", "200"),
    ];
    let library = ServiceProcess::start(&settings);
    // Events that a rebuild applies belong to no trace.
    eventually("the read models are rebuilt", async || {
        let stock = get(&format!("{}/books", library.url)).await;
        (stock.status() == StatusCode::OK).then_some(())
    })
    .await;
    let id = borrow(&library).await;
    let spans = whole_trace(&collector).await;

    let all: Vec<_> = spans.iter().collect();
    let request = one(&all, "POST /books/{id}/borrow");
    assert_eq!(request.parent(), CALLER);
    assert_eq!(
        request.attribute("http.route").unwrap(),
        "/books/{id}/borrow"
    );
    assert_eq!(
        request.attribute("http.response.status_code").unwrap(),
        "204"
    );
    let steps = below(&spans, request);
    let rebuilt = one(&steps, "rebuild");
    assert_eq!(rebuilt.attribute("state").unwrap(), "Book");
    let (decide, append) = (one(&steps, "decide"), one(&steps, "append"));
    assert_eq!(steps.len(), 3, "{steps:#?}");
    for step in &steps {
        assert!(step.span.start_time_unix_nano >= request.span.start_time_unix_nano);
        assert!(step.span.end_time_unix_nano <= request.span.end_time_unix_nano);
    }
    assert!(decide.span.end_time_unix_nano <= append.span.start_time_unix_nano);

    let followed = below(&spans, append);
    let project = one(&followed, "project book_copies");
    assert_eq!(
        project.attribute("subject").unwrap(),
        format!("/books/{id}")
    );
    assert!(project.span.end_time_unix_nano > append.span.start_time_unix_nano);
    let react = followed
        .iter()
        .find(|one| one.span.name.starts_with("react "))
        .unwrap();
    let reported = below(&spans, react);
    one(&reported, "decide");
    one(&reported, "append");
    for one in &spans {
        assert!(one.span.end_time_unix_nano >= one.span.start_time_unix_nano);
        assert_eq!(one.service, "library-service");
    }

    let parent = format!("00-{TRACE}-{}-01", append.id());
    let stored = library.stored_lines().await;
    let mut lines = stored.lines();
    let borrowed = lines.find(|line| line.contains("BookBorrowedEvent"));
    assert!(borrowed.unwrap().contains(&parent), "{stored}");
}

#[tokio::test]
async fn the_last_traces_are_sent_before_the_process_ends() {
    let collector = TraceCollector::start().await;
    let settings = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str())];
    let library = ServiceProcess::start(&settings);
    get(&format!("{}/books", library.url)).await;
    let stopped = tokio::task::spawn_blocking(|| library.process.stop())
        .await
        .unwrap();
    assert!(stopped.success());
    assert!(collector.count() > 0);
}

#[tokio::test]
async fn a_collector_that_is_away_is_told_and_does_no_harm() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nowhere = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let settings = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", nowhere.as_str()),
        ("OTEL_BSP_SCHEDULE_DELAY", "200"),
    ];
    let library = ServiceProcess::start(&settings);
    borrow(&library).await;
    eventually("the log tells of it", async || {
        library.process.log().contains("ExportError").then_some(())
    })
    .await;
    borrow(&library).await;
}

/// The lines of the log, each a JSON object.
fn json_lines(library: &ServiceProcess) -> Vec<Value> {
    let log = library.process.log();
    log.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[tokio::test]
async fn each_request_is_one_line_of_json_that_names_no_client_text() {
    let library = ServiceProcess::start(&[("LOG_FORMAT", "json"), ALL_REQUESTS]);
    let id = borrow(&library).await;
    let odd = format!("{}/books/{id}?title=%0AERROR%20forged", library.url);
    get(&odd).await;
    get(&format!("{}/nowhere%0d%0aERROR", library.url)).await;
    let requests = eventually("every request is logged", async || {
        let lines = json_lines(&library);
        let of_http = |line: &Value| line["target"] == "es_framework::http";
        let requests: Vec<_> = lines.into_iter().filter(of_http).collect();
        (requests.len() == 4).then_some(requests)
    })
    .await;
    let told: Vec<_> = requests
        .iter()
        .map(|line| format!("{} {} {}", line["method"], line["route"], line["status"]))
        .collect();
    assert_eq!(
        told,
        [
            r#""POST" "/books/purchase" 201"#,
            r#""POST" "/books/{id}/borrow" 204"#,
            r#""GET" "/books/{id}" 400"#,
            r#""GET" "unmatched" 404"#,
        ]
    );
    assert_eq!(requests[1]["trace_id"], TRACE);
    assert!(
        requests
            .iter()
            .all(|line| line["duration_ms"].as_f64().unwrap() > 0.0)
    );
    assert!(
        requests
            .iter()
            .all(|line| line["timestamp"].is_string() && line["level"] == "DEBUG")
    );
    let log = library.process.log();
    for hidden in ["forged", "nowhere", TOKEN, &id.to_string()] {
        assert!(!log.contains(hidden), "{hidden}: {log}");
    }
}

/// Brings a line for each request.
const ALL_REQUESTS: (&str, &str) = ("RUST_LOG", "info,es_framework::http=debug");

#[tokio::test]
async fn a_request_is_one_line_of_text() {
    let library = ServiceProcess::start(&[ALL_REQUESTS]);
    get(&format!("{}/books", library.url)).await;
    eventually("the request is logged", async || {
        let log = library.process.log();
        let mut lines = log.lines().filter(|line| line.contains("request method="));
        let line = lines.next()?;
        assert!(
            line.contains("method=GET route=/books status=200 duration_ms="),
            "{line}"
        );
        Some(())
    })
    .await;
}

#[tokio::test]
async fn only_requests_that_an_operator_wants_to_know_of_have_a_line_by_default() {
    let library = ServiceProcess::start(&[]);
    borrow(&library).await;
    for path in ["/books", "/nowhere"] {
        get(&format!("{}{path}", library.url)).await;
    }
    let retry = format!("{}/actuator/projections/book_copies/retry", library.url);
    post(&retry, String::new()).await;
    let log = eventually("the denied request is logged", async || {
        let log = library.process.log();
        log.contains("status=401").then_some(log)
    })
    .await;
    assert_eq!(log.matches("request method=").count(), 1, "{log}");
}
