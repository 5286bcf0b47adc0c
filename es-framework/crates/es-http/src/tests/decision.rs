//! Responses to commands with many events, with none, and with another subject that must exist.

use axum::{
    Router,
    body::Body,
    http::{Request, StatusCode},
};
use es_catalog::{Catalog, CatalogBuilder};
use serde_json::{Value, json};

use super::{Answer, send, serve};
use es_macros::{Command, Event, Rejection, handler};

/// Lays out a park.
#[derive(Command)]
#[es(crate = "crate::tests::facade")]
#[command(subject = "/parks/{id}", condition = pristine)]
struct OpenParkCommand {
    id: String,
}

/// Sows a bed of a park.
#[derive(Command)]
#[es(crate = "crate::tests::facade")]
#[command(subject = "/beds/{id}", condition = pristine, exists = "/parks/{park}")]
struct SowBedCommand {
    id: String,
    park: String,
    seeds: u8,
}

#[derive(Event)]
#[es(crate = "crate::tests::facade")]
#[event(package = "com.example.garden")]
struct ParkOpenedEvent {}

#[derive(Event)]
#[es(crate = "crate::tests::facade")]
#[event(package = "com.example.garden")]
struct SeedSownEvent {
    row: u8,
}

/// A bed has eight seeds
#[derive(Debug, Rejection)]
#[es(crate = "crate::tests::facade")]
#[rejection(conflict)]
struct SowingError;

#[handler]
#[es(crate = "crate::tests::facade")]
fn open(_: OpenParkCommand) -> ParkOpenedEvent {
    ParkOpenedEvent {}
}

type Eight<E> = (E, E, E, E, E, E, E, E);

#[handler]
#[es(crate = "crate::tests::facade")]
fn sow(command: SowBedCommand) -> Result<Option<Eight<SeedSownEvent>>, SowingError> {
    let seed = |row| SeedSownEvent { row };
    match command.seeds {
        0 => Ok(None),
        8 => {
            let (one, two, three, four) = (seed(1), seed(2), seed(3), seed(4));
            let eight = (one, two, three, four, seed(5), seed(6), seed(7), seed(8));
            Ok(Some(eight))
        }
        _ => Err(SowingError),
    }
}

fn catalog() -> CatalogBuilder {
    let catalog = Catalog::builder().command::<OpenParkCommand>();
    catalog.command::<SowBedCommand>()
}

async fn post(garden: &Router, path: &str, body: &Value) -> Answer {
    let request = Request::post(path)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()));
    send(garden, request.unwrap()).await
}

async fn garden_with_a_park() -> Router {
    let garden = serve(catalog()).await;
    let opened = post(&garden, "/parks/open", &json!({ "id": "p1" })).await;
    assert_eq!(opened.header("event-position"), "0");
    garden
}

async fn sow_over_http(garden: &Router, park: &str, seeds: u8) -> Answer {
    let body = json!({ "id": "b1", "park": park, "seeds": seeds });
    post(garden, "/beds/sow", &body).await
}

#[tokio::test]
async fn a_handler_returns_eight_events_as_a_tuple() {
    let garden = garden_with_a_park().await;
    let answer = sow_over_http(&garden, "p1", 8).await;
    assert_eq!(answer.status, StatusCode::CREATED);
    assert_eq!(answer.header("event-position"), "8");
    assert_eq!(answer.header("location"), "/beds/b1");
}

#[tokio::test]
async fn a_command_without_events_writes_nothing_and_creates_nothing() {
    let garden = garden_with_a_park().await;
    let answer = sow_over_http(&garden, "p1", 0).await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    for absent in ["location", "event-position", "etag"] {
        assert_eq!(answer.header(absent), "", "{absent}");
    }
    let later = sow_over_http(&garden, "p1", 8).await;
    assert_eq!(later.header("event-position"), "8");
    let again = sow_over_http(&garden, "p1", 0).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn another_subject_that_must_exist_and_does_not_is_named() {
    let garden = garden_with_a_park().await;
    for seeds in [8, 0, 5] {
        let answer = sow_over_http(&garden, "p2", seeds).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
        let expected = json!({
            "type": "tag:es-framework,2026:problem:not-found",
            "title": "There is no such thing",
            "status": 404,
            "detail": "/parks/p2 does not exist",
        });
        assert_eq!(answer.json(), expected);
    }
}

#[tokio::test]
async fn the_document_has_the_responses_of_both() {
    let document = crate::openapi::document("garden", &catalog().build().unwrap());
    let responses = |path: &str| document["paths"][path]["post"]["responses"].clone();
    let (open, sow) = (responses("/parks/open"), responses("/beds/sow"));
    for status in ["201", "204", "404", "409"] {
        assert!(!sow[status].is_null(), "{status}: {sow}");
    }
    assert!(open["204"].is_null() && open["404"].is_null(), "{open}");
}
