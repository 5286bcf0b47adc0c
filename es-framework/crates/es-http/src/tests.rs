//! The routes over declarations written by hand.

mod decision;
mod facade;
mod fair_shares;
mod live;
mod rejection;

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    http::{Method, Request, StatusCode},
};
use es_catalog::{Catalog, CatalogBuilder};
use es_command::command::CommandResources;
use es_read::{
    projection::{Database, Processor},
    query::QueryDescriptor,
};
use es_store::memory::MemoryStore;
use es_subscribe::{
    ProgressRegistry,
    operator::{ComponentKind, OperatorClient},
};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::{
    CustomRoutes, HttpContext, LiveQueries, RequestLimits,
    auth::Auth,
    headers::BrowserPolicy,
    health::{Health, Lifecycle},
    live::LiveQuerySettings,
    router,
};
use crate::test_fixture::{PlantTreeCommand, TREES};

async fn garden() -> Router {
    serve(Catalog::builder().command::<PlantTreeCommand>()).await
}

async fn serve(catalog: CatalogBuilder) -> Router {
    serve_with(catalog, [], LiveQuerySettings::default()).await
}

async fn serve_with(
    catalog: CatalogBuilder,
    queries: impl IntoIterator<Item = QueryDescriptor>,
    live: LiveQuerySettings,
) -> Router {
    let (router, processor) =
        serve_without_rows(catalog, queries, live, RequestLimits::default()).await;
    tokio::spawn(processor.run());
    router
}

/// Returns the routes, and the processor of the read models, which does not run yet.
async fn serve_without_rows(
    catalog: CatalogBuilder,
    queries: impl IntoIterator<Item = QueryDescriptor>,
    live: LiveQuerySettings,
    limits: RequestLimits,
) -> (Router, Processor) {
    let store = Arc::new(MemoryStore::new());
    let catalog = catalog.read_models([TREES]).queries(queries);
    let catalog = catalog.build().unwrap();
    let models = catalog.read_models().clone();
    let database = Database::in_memory(&models).await.unwrap();
    let processor = Processor::new(store.clone(), database.clone(), models);
    let positions = processor.progress();
    let health = Health {
        store: store.clone(),
        keys: None,
        database: database.clone(),
        positions: positions.clone(),
        reactions: ProgressRegistry::default(),
        folder: ".".into(),
        certificates: None,
        lifecycle: Lifecycle::begin("garden", "0.1.0"),
        tls: None,
    };
    let context = HttpContext {
        command_resources: CommandResources::new(store, "garden"),
        database,
        positions,
        health,
        live: LiveQueries::with_settings(live),
        limits,
        auth: Auth::default(),
        rate: None,
        public_rate: std::num::NonZeroU32::MIN,
        browsers: BrowserPolicy::default(),
        metadata_headers: Vec::new(),
        metadata_caller: false,
        read_models: processor.operator_client(),
        reactions: OperatorClient::with_own_queues(ComponentKind::Reaction, [].into_iter()).0,
        operator_token: None,
        personal_data: None,
    };
    let custom = CustomRoutes::default();
    let router = router("garden", &catalog, context, custom, None)
        .await
        .unwrap();
    (router, processor)
}

struct Answer {
    status: StatusCode,
    headers: axum::http::HeaderMap,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}

async fn send(garden: &Router, request: Request<Body>) -> Answer {
    let response = garden.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Answer {
        status: parts.status,
        headers: parts.headers,
        body: String::from_utf8(body.to_vec()).unwrap(),
    }
}

async fn plant(garden: &Router, id: &str, body: &Value) -> Answer {
    let request = Request::post(format!("/trees/{id}/plant"))
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .unwrap();
    send(garden, request).await
}

async fn get(garden: &Router, path: &str, position: Option<&str>) -> Answer {
    let mut request = Request::get(path);
    if let Some(position) = position {
        request = request.header("event-position", position);
    }
    send(garden, request.body(Body::empty()).unwrap()).await
}

fn oak() -> Value {
    json!({ "kind": "oak", "numLeaves": 7 })
}

#[tokio::test]
async fn a_pristine_command_creates_its_subject_and_says_where() {
    let garden = garden().await;
    let answer = plant(&garden, "t1", &oak()).await;
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (StatusCode::CREATED, "")
    );
    assert_eq!(answer.header("location"), "/trees/t1");
    assert_eq!(answer.header("event-position"), "0");
}

#[tokio::test]
async fn who_sends_the_position_reads_what_was_written() {
    let garden = garden().await;
    for number in 0..20 {
        let id = format!("t{number}");
        let written = plant(&garden, &id, &oak()).await;
        let position = written.header("event-position").to_owned();
        let found = get(&garden, &format!("/trees/{id}"), Some(&position)).await;
        assert_eq!((found.status, found.json()), (StatusCode::OK, oak()));
    }
}

#[tokio::test]
async fn rows_come_in_pages() {
    let garden = garden().await;
    for number in 0..5 {
        plant(&garden, &format!("t{number}"), &oak()).await;
    }
    let first = get(&garden, "/trees?limit=3", Some("4")).await.json();
    assert_eq!(first["items"].as_array().unwrap().len(), 3);
    let cursor = first["nextCursor"].as_str().unwrap();
    let rest = get(&garden, &format!("/trees?limit=3&cursor={cursor}"), None).await;
    assert_eq!(rest.json(), json!({ "items": [oak(), oak()] }));
    for path in ["/trees?colour=red", "/trees/t1?colour=red"] {
        let unknown = get(&garden, path, None).await;
        assert_eq!(unknown.status, StatusCode::BAD_REQUEST, "{path}");
    }
}

#[tokio::test]
async fn a_second_command_on_a_pristine_subject_is_a_conflict() {
    let garden = garden().await;
    plant(&garden, "t1", &oak()).await;
    let answer = plant(&garden, "t1", &oak()).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert_eq!(answer.header("content-type"), "application/problem+json");
    let problem = answer.json();
    assert_eq!(
        problem["type"],
        "tag:es-framework,2026:problem:already-exists"
    );
    assert_eq!(problem["detail"], "/trees/t1 already exists");
}

#[tokio::test]
async fn all_violations_are_told_at_once_with_their_pointers() {
    let garden = garden().await;
    let answer = plant(&garden, "t1", &json!({ "kind": " ", "numLeaves": 0 })).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    let pointers = |problem: &Value| -> Vec<String> {
        let errors = problem["errors"].as_array().unwrap().iter();
        errors
            .map(|error| error["pointer"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(pointers(&answer.json()), ["/kind", "/numLeaves"]);
    let wrong_type = plant(&garden, "t1", &json!({ "kind": "oak", "numLeaves": "7" })).await;
    assert_eq!(pointers(&wrong_type.json()), ["/numLeaves"]);
}

#[tokio::test]
async fn a_path_parameter_fills_its_field_and_no_other_subject() {
    let garden = garden().await;
    let contradiction = json!({ "id": "t2", "kind": "oak", "numLeaves": 7 });
    let answer = plant(&garden, "t1", &contradiction).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    let escape = plant(&garden, "a%2Fb", &oak()).await;
    assert_eq!(escape.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(escape.json()["errors"][0]["pointer"], "/id");
}

#[tokio::test]
async fn a_path_or_method_that_is_not_there_is_a_problem() {
    let garden = garden().await;
    let missing = get(&garden, "/nothing", None).await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    assert_eq!(missing.header("content-type"), "application/problem+json");
    let request = Request::builder()
        .method(Method::DELETE)
        .uri("/trees/t1/plant");
    let wrong = send(&garden, request.body(Body::empty()).unwrap()).await;
    assert_eq!(wrong.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(wrong.header("content-type"), "application/problem+json");
    assert_eq!(wrong.header("allow"), "POST");
    assert_eq!(
        get(&garden, "/trees/unknown", None).await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn health_shows_every_component_with_its_details() {
    let garden = garden().await;
    let answer = get(&garden, "/actuator/health", None).await;
    let report = answer.json();
    assert_eq!(
        (answer.status, &report["status"]),
        (StatusCode::OK, &json!("UP")),
        "{report}"
    );
    for component in ["db", "diskSpace", "eventstore", "ping", "ssl"] {
        assert_eq!(
            report["components"][component]["status"], "UP",
            "{component}"
        );
    }
    assert!(
        report["components"]["diskSpace"]["details"]["free"]
            .as_u64()
            .unwrap()
            > 0
    );
}

#[tokio::test]
async fn health_shows_how_far_behind_each_read_model_is() {
    let garden = garden().await;
    plant(&garden, "t1", &oak()).await;
    get(&garden, "/trees", Some("0")).await;
    let report = get(&garden, "/actuator/health", None).await.json();
    let trees = &report["components"]["db"]["details"]["readModels"]["trees"];
    assert_eq!(trees["position"], "0");
    assert_eq!(
        (&trees["eventsBehind"], &trees["secondsBehind"]),
        (&json!(0), &json!(0.0))
    );
    assert_eq!(
        (&trees["stopped"], &trees["error"]),
        (&json!(false), &Value::Null)
    );
}
