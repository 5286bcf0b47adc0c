//! The official client for Rust against this server: queries.

use eventsourcingdb::{Client, EventCandidate, Precondition, error::ClientError};
use futures_util::TryStreamExt as _;
use serde_json::{Value, json};

use crate::served_client::ServedClient;

/// A client of a server with two events.
async fn client() -> ServedClient {
    let client = ServedClient::of(super::start(&[]).await);
    let candidates = [23, 42].map(candidate);
    client
        .write_events(candidates.to_vec(), vec![])
        .await
        .unwrap();
    client
}

fn candidate(value: u32) -> EventCandidate {
    EventCandidate::builder()
        .source("https://www.eventsourcingdb.io".to_string())
        .data(json!({"value": value}))
        .subject("/test".to_string())
        .ty("io.eventsourcingdb.test".to_string())
        .build()
}

async fn rows(client: &Client, query: &str) -> Vec<Value> {
    let rows = client.run_eventql_query(query).await.unwrap();
    rows.try_collect().await.unwrap()
}

#[tokio::test]
async fn the_official_client_reads_the_rows_of_a_query() {
    let client = client().await;
    let events = rows(&client, "FROM e IN events PROJECT INTO e").await;
    assert_eq!(events.len(), 2);
    assert_eq!(events[1]["data"]["value"], 42);
    let none =
        "FROM e IN events WHERE e.subject == '/none' ORDER BY e.time DESC TOP 100 PROJECT INTO e";
    assert!(rows(&client, none).await.is_empty());
    let average = "FROM e IN events PROJECT INTO { average: AVG(e.data.value), count: COUNT() }";
    assert_eq!(
        rows(&client, average).await,
        [json!({"average": 32.5, "count": 2})]
    );
}

#[tokio::test]
async fn the_official_client_hears_what_is_wrong_with_a_query() {
    let client = client().await;
    for wrong in ["FROM e IN", "FROM e IN events WHERE e.id PROJECT INTO e"] {
        // Version 2 reports both within the stream.
        let rows = async { client.run_eventql_query(wrong).await?.try_collect().await };
        let rows: Result<Vec<Value>, ClientError> = rows.await;
        assert!(rows.is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn the_official_client_writes_only_if_a_query_is_true() {
    let client = client().await;
    let write_if = async |query: &str| {
        let condition = Precondition::is_eventql_query_true(query);
        client
            .write_events(vec![candidate(1)], vec![condition])
            .await
    };
    let two = "FROM e IN events PROJECT INTO COUNT() == 2";
    assert!(write_if(two).await.is_ok());
    assert!(write_if(two).await.is_err());
}
