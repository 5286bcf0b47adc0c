//! Queries over the API.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{TestServer, candidate};
use es_event::Dialect;
use es_store::memory::MemoryStore;

async fn lines(server: &TestServer, query: &str) -> Vec<Value> {
    let answer = server
        .send("run-eventql-query", &json!({"query": query}))
        .await;
    assert_eq!(answer.status(), 200, "{query}");
    assert_eq!(answer.headers()["content-type"], "application/x-ndjson");
    let text = answer.text().await.unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn row(payload: Value) -> Value {
    json!({"type": "row", "payload": payload})
}

#[tokio::test]
async fn each_row_of_a_query_is_a_line() {
    let server = TestServer::start(Dialect::Item).await;
    assert!(
        lines(&server, "FROM e IN events PROJECT INTO e")
            .await
            .is_empty()
    );
    server.fill(&["/a", "/b", "/a"]).await;
    let of_a = "FROM e IN events WHERE e.subject == '/a' PROJECT INTO e.id AS INT";
    assert_eq!(lines(&server, of_a).await, [row(json!(0)), row(json!(2))]);
    let count = "FROM e IN events PROJECT INTO COUNT()";
    assert_eq!(lines(&server, count).await, [row(json!(3))]);
}

#[tokio::test]
async fn a_query_that_cannot_be_read_is_refused_with_its_place() {
    let server = TestServer::start(Dialect::Item).await;
    let answer = server
        .send("run-eventql-query", &json!({"query": "FROM e IN"}))
        .await;
    assert_eq!(answer.status(), 400);
    let text = answer.text().await.unwrap();
    assert!(
        text.starts_with("invalid query: ") && text.contains("line 1"),
        "{text}"
    );
    let none = server.send("run-eventql-query", &json!({})).await;
    assert_eq!(none.status(), 400);
}

#[tokio::test]
async fn a_query_that_fails_on_an_event_ends_with_an_error_line() {
    let server = TestServer::start(Dialect::Item).await;
    server.fill(&["/a"]).await;
    let lines = lines(&server, "FROM e IN events WHERE e.id PROJECT INTO e.id").await;
    let [error] = lines.as_slice() else {
        panic!("{lines:?}")
    };
    assert_eq!(error["type"], "error");
    assert!(error["payload"]["error"].is_string());
    assert_eq!(error["payload"]["startToken"]["line"], 1);
}

#[tokio::test]
async fn a_query_that_costs_too_much_ends_with_an_error_line() {
    let server = TestServer::with(MemoryStore::new(), |settings| {
        settings.query_limits.memory = 1_000;
    })
    .await;
    server.fill(&["/a"; 20]).await;
    let lines = lines(&server, "FROM e IN events ORDER BY e.time PROJECT INTO e").await;
    assert_eq!(lines.last().unwrap()["type"], "error");
}

#[tokio::test]
async fn a_client_hears_signs_of_life_only_while_there_is_no_row() {
    let server = TestServer::with(MemoryStore::new(), |settings| {
        settings.heartbeat = Duration::from_nanos(1);
        settings.dialect = Dialect::Event;
    })
    .await;
    server.fill(&["/a"]).await;
    let lines = lines(&server, "FROM e IN events PROJECT INTO e.subject").await;
    let rows: Vec<_> = lines
        .iter()
        .filter(|line| line["type"] != "heartbeat")
        .collect();
    assert_eq!(rows, [&row(json!("/a"))]);
}

async fn write_if(server: &TestServer, query: &str) -> (u16, String) {
    let condition = json!({"type": "isEventQlQueryTrue", "payload": {"query": query}});
    let body = json!({"events": [candidate("/a")], "preconditions": [condition]});
    let answer = server.send("write-events", &body).await;
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test]
async fn a_write_can_depend_on_a_query() {
    let server = TestServer::start(Dialect::Event).await;
    let empty = "FROM e IN events PROJECT INTO COUNT() == 0";
    assert_eq!(write_if(&server, empty).await.0, 200);
    let refused = write_if(&server, empty).await;
    assert_eq!(
        refused,
        (409, "state conflict: precondition failed\n".to_owned())
    );
    let some = "FROM e IN events WHERE e.subject == '/a' PROJECT INTO COUNT() > 0";
    assert_eq!(write_if(&server, some).await.0, 200);
    let failing = "FROM e IN events WHERE e.id PROJECT INTO true";
    assert_eq!(write_if(&server, failing).await.0, 400);
}

#[tokio::test]
async fn of_many_writes_that_depend_on_the_same_query_one_passes() {
    let server = TestServer::start(Dialect::Event).await;
    let empty = "FROM e IN events PROJECT INTO COUNT() == 0";
    let writes = join_all((0..16).map(|_| write_if(&server, empty))).await;
    let statuses: Vec<_> = writes.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1);
    assert_eq!(
        statuses.iter().filter(|status| **status == 409).count(),
        15,
        "{statuses:?}"
    );
}

#[tokio::test]
async fn writes_that_depend_on_queries_pass_beside_others() {
    let server = TestServer::start(Dialect::Event).await;
    let always = "FROM e IN events PROJECT INTO COUNT() >= 0";
    let writes = join_all((0..8).map(|_| write_if(&server, always))).await;
    assert!(
        writes.iter().all(|(status, _)| *status == 200),
        "{writes:?}"
    );
}
