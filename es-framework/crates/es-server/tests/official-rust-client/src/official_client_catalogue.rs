//! The official client for Rust against this server: subjects, event types and schemas.

use std::{future::Future, time::Duration};

use eventsourcingdb::{
    Client, EventCandidate,
    error::{ClientError, code},
    request_options::ReadSubjectsOptions,
};
use futures_util::TryStreamExt as _;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::served_client::ServedClient;

const TYPE: &str = "io.eventsourcingdb.test";

/// A server that hangs fails instead of blocking the run.
async fn within_time<T>(work: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(20), work).await.unwrap()
}

async fn client() -> ServedClient {
    ServedClient::of(super::start(&[]).await)
}

fn candidate(subject: &str, data: Value) -> EventCandidate {
    EventCandidate::builder()
        .source("https://www.eventsourcingdb.io".to_string())
        .data(data)
        .subject(subject.to_string())
        .ty(TYPE.to_string())
        .build()
}

async fn write(client: &Client, subjects: &[&str]) {
    for subject in subjects {
        let candidates = vec![candidate(subject, json!({"value": 1}))];
        within_time(client.write_events(candidates, vec![]))
            .await
            .unwrap();
    }
}

async fn subjects(client: &Client, subject: &str, recursive: bool) -> Vec<String> {
    let options = ReadSubjectsOptions { recursive };
    let listed = within_time(client.read_subjects(subject, options)).await;
    within_time(listed.unwrap().try_collect()).await.unwrap()
}

fn named() -> Value {
    json!({
        "type": "object",
        "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
        "required": ["id", "name"],
    })
}

fn code_of<T: std::fmt::Debug>(answer: Result<T, ClientError>) -> String {
    match answer {
        Err(ClientError::DbApiError(error)) => error.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn it_lists_subjects() {
    let client = client().await;
    assert!(subjects(&client, "/", true).await.is_empty());
    write(&client, &["/test", "/test/42", "/other"]).await;
    let all = ["/", "/other", "/test", "/test/42"];
    assert_eq!(subjects(&client, "/", true).await, all);
    assert_eq!(
        subjects(&client, "/test", true).await,
        ["/test", "/test/42"]
    );
    assert_eq!(subjects(&client, "/test", false).await, ["/test"]);
    assert!(subjects(&client, "/missing", false).await.is_empty());
}

#[tokio::test]
async fn it_lists_event_types_and_their_schemas() {
    let client = client().await;
    within_time(client.register_event_schema(TYPE, &named()))
        .await
        .unwrap();
    let types = within_time(client.read_event_types()).await.unwrap();
    let types: Vec<_> = within_time(types.try_collect()).await.unwrap();
    let [only] = types.as_slice() else {
        panic!("{types:?}")
    };
    assert_eq!((only.ty.as_str(), only.has_events), (TYPE, false));
    assert_eq!(only.schema, Some(named()));
    let data = json!({"id": "1", "name": "a"});
    let writing = client.write_events(vec![candidate("/test", data)], vec![]);
    within_time(writing).await.unwrap();
    let one = within_time(client.read_event_type(TYPE)).await.unwrap();
    assert!(one.has_events && one.schema.is_some());
    let unknown = within_time(client.read_event_type("io.eventsourcingdb.none")).await;
    assert_eq!(code_of(unknown), code::EVENT_TYPE_UNKNOWN);
}

#[tokio::test]
async fn it_learns_of_each_conflict_with_a_schema() {
    let client = client().await;
    let register = async |schema: Value| {
        let registering = client.register_event_schema(TYPE, &schema);
        within_time(registering).await
    };
    assert!(register(json!({"x": "asd"})).await.is_err());
    write(&client, &["/test"]).await;
    assert_eq!(
        code_of(register(named()).await),
        code::EVENT_SCHEMA_VIOLATED
    );
    let valued = json!({"type": "object", "properties": {"value": {"type": "number"}}});
    let registered = register(valued.clone()).await.unwrap();
    let route = if super::IS_VERSION_2 {
        "/api/v2/data/register-event-schema"
    } else {
        "/api/v1/register-event-schema"
    };
    assert_eq!(registered.subject(), route);
    let again = register(valued).await;
    assert_eq!(code_of(again), code::EVENT_SCHEMA_ALREADY_REGISTERED);
    let wrong = vec![candidate("/test", json!({"value": "x"}))];
    let refused = within_time(client.write_events(wrong, vec![])).await;
    assert_eq!(code_of(refused), code::EVENT_SCHEMA_VIOLATED);
}
