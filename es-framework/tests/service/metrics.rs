//! The metrics that a running library exports.

use std::collections::BTreeSet;

use es_framework::metrics::ALL;
use reqwest::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    eventually::eventually,
    http_client::{client, get, post},
    running_service::book,
    service_process::ServiceProcess,
};

async fn scrape(library: &ServiceProcess) -> String {
    let answer = get(&format!("{}/actuator/prometheus", library.url)).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let content_type = answer.headers()["content-type"].to_str().unwrap();
    assert!(content_type.starts_with("text/plain; version=0.0.4"));
    answer.text().await.unwrap()
}

/// Returns the value of the only line that starts with `series` and contains all of these labels.
fn value(text: &str, series: &str, labels: &[(&str, &str)]) -> f64 {
    let labels: Vec<_> = labels
        .iter()
        .map(|(name, value)| format!("{name}=\"{value}\""))
        .collect();
    let is_asked = |line: &&str| {
        let name = line.split(['{', ' ']).next();
        name == Some(series) && labels.iter().all(|label| line.contains(label))
    };
    let lines: Vec<_> = text.lines().filter(is_asked).collect();
    assert_eq!(lines.len(), 1, "{series} {labels:?}: {lines:?}\n{text}");
    lines[0].rsplit_once(' ').unwrap().1.parse().unwrap()
}

/// Sends an accepted, a rejected and an invalid purchase, a loan, and a request to an unknown path.
async fn use_it(library: &ServiceProcess) -> Uuid {
    let id = Uuid::new_v4();
    let send = async |path: &str, body: Value| {
        let url = format!("{}{path}", library.url);
        post(&url, body.to_string()).await
    };
    for body in [book(id), book(id), json!({ "id": "none" })] {
        send("/books/purchase", body).await;
    }
    let borrowed = send(&format!("/books/{id}/borrow"), json!({ "reader": id })).await;
    assert_eq!(borrowed.status(), StatusCode::NO_CONTENT);
    // The query waits until the row has the loan.
    let found = client().get(format!("{}/books/{id}", library.url));
    let found = found.header("event-position", &borrowed.headers()["event-position"]);
    assert_eq!(found.send().await.unwrap().status(), StatusCode::OK);
    get(&format!("{}/nothing/{id}", library.url)).await;
    let odd = reqwest::Method::from_bytes(b"BREW").unwrap();
    let odd = client().request(odd, format!("{}/nothing", library.url));
    odd.send().await.unwrap();
    id
}

#[tokio::test]
async fn requests_and_commands_are_counted_by_route_and_outcome() {
    let library = ServiceProcess::start(&[]);
    let id = use_it(&library).await;
    let text = scrape(&library).await;
    let requests = |method, route, status| {
        let labels = [("method", method), ("route", route), ("status", status)];
        value(&text, "http_request_duration_seconds_count", &labels)
    };
    assert_eq!(requests("POST", "/books/purchase", "201"), 1.0);
    assert_eq!(requests("POST", "/books/purchase", "409"), 1.0);
    assert_eq!(requests("POST", "/books/purchase", "422"), 1.0);
    assert_eq!(requests("POST", "/books/{id}/borrow", "204"), 1.0);
    assert_eq!(requests("GET", "/books/{id}", "200"), 1.0);
    assert_eq!(requests("GET", "unmatched", "404"), 1.0);
    assert_eq!(requests("other", "unmatched", "404"), 1.0);
    let commands = |outcome, reason| {
        let labels = [
            ("command", "PurchaseBookCommand"),
            ("outcome", outcome),
            ("reason", reason),
        ];
        value(&text, "es_commands_total", &labels)
    };
    assert_eq!(commands("accepted", ""), 1.0);
    assert_eq!(commands("rejected", "already-exists"), 1.0);
    assert_eq!(commands("invalid", "invalid-values"), 1.0);
    // The appends are the purchase, the rejected purchase and the loan. A reaction may also have written its checkpoint
    // and a report.
    let of_commits = [
        "es_store_commit_appends_sum",
        "es_store_commit_events_sum",
        "es_store_commit_duration_seconds_count",
    ];
    for series in of_commits {
        let count = value(&text, series, &[]);
        assert!((2.0..=6.0).contains(&count), "{series} {count}");
    }
    let recorded = [("outcome", "recorded")];
    let appends = value(&text, "es_append_duration_seconds_count", &recorded);
    assert!(
        (2.0..=5.0).contains(&appends),
        "the second purchase was a conflict: {appends}"
    );
    let book = [("state", "Book"), ("source", "events")];
    assert_eq!(value(&text, "es_state_lookups_total", &book), 1.0);
    assert_eq!(value(&text, "es_state_rebuild_events_sum", &book[..1]), 1.0);
    assert!(!text.contains(&id.to_string()), "{text}");
    assert!(
        !text.contains("nothing/") && !text.contains("BREW"),
        "{text}"
    );
}

#[tokio::test]
async fn every_metric_of_the_catalogue_is_there_and_no_other() {
    let library = ServiceProcess::start(&[]);
    use_it(&library).await;
    let text = scrape(&library).await;
    let shown = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let shown: BTreeSet<_> = shown.map(|line| line.split(' ').next().unwrap()).collect();
    // These metrics need a conflict, an external event store, a poison event, a reaction or a sink.
    let rare = [
        "es_read_model_held_rows",
        "es_read_model_held_first_seconds",
        "es_read_model_held_last_seconds",
        "es_command_retries_total",
        "es_subscription_reconnects_total",
        "es_reaction_held_subjects",
        "es_reaction_waiting_subjects",
        "es_reaction_lag_events",
        "es_reaction_open_deadlines",
        "es_reaction_stopped",
        "es_sink_delivered_total",
        "es_sink_failed_total",
    ];
    let expected = ALL.iter().map(|metric| metric.name);
    let expected: BTreeSet<_> = expected.filter(|name| !rare.contains(name)).collect();
    let shown: BTreeSet<_> = shown
        .into_iter()
        .filter(|name| !rare.contains(name))
        .collect();
    assert_eq!(shown, expected, "{text}");
}

#[tokio::test]
async fn a_read_model_that_is_up_to_date_has_no_lag() {
    let library = ServiceProcess::start(&[]);
    use_it(&library).await;
    let model = [("read_model", "book_copies")];
    eventually("nothing is missing", async || {
        let text = scrape(&library).await;
        let lag = value(&text, "es_read_model_lag_events", &model);
        let seconds = value(&text, "es_read_model_lag_seconds", &model);
        assert_eq!(value(&text, "es_read_model_stopped", &model), 0.0);
        (lag == 0.0 && seconds == 0.0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_reaction_that_goes_on_has_no_lag_and_open_live_queries_are_counted() {
    let library = ServiceProcess::start(&[]);
    use_it(&library).await;
    let live = client().get(format!("{}/books", library.url));
    let live = live.header("accept", "text/event-stream").send().await;
    let reaction = [("reaction", "LoanReporter")];
    eventually("nothing is missing", async || {
        let text = scrape(&library).await;
        assert_eq!(value(&text, "es_live_queries", &[]), 1.0);
        assert_eq!(value(&text, "es_reaction_stopped", &reaction), 0.0);
        (value(&text, "es_reaction_lag_events", &reaction) == 0.0).then_some(())
    })
    .await;
    drop(live.unwrap());
    eventually("the live query is closed", async || {
        let text = scrape(&library).await;
        (value(&text, "es_live_queries", &[]) == 0.0).then_some(())
    })
    .await;
}
