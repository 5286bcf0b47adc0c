//! Public commands and queries beside those that need a token: what a caller without one gets, and nothing else.

use std::{collections::BTreeSet, num::NonZeroU32};

use es_framework::{Settings, prelude::*};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value as Json, json};

use crate::{
    authentication::{ALICE, BOB, GuardedService},
    eventually::eventually,
    http_client::{client, json_of},
    live_query::LiveQuery,
    running_service::RunningService,
};

/// Suggests a title to the library.
#[derive(Command)]
#[command(subject = "/suggestions/{id}", condition = pristine, role = public)]
struct SuggestTitleCommand {
    id: Uuid,
    title: String,
    email: String,
}

/// A title was suggested.
#[derive(Event)]
struct TitleSuggestedEvent {
    id: Uuid,
    title: String,
    email: String,
    is_anonymous: bool,
}

#[handler]
fn suggest(command: SuggestTitleCommand, caller: &Caller) -> TitleSuggestedEvent {
    TitleSuggestedEvent {
        id: command.id,
        title: command.title,
        email: command.email,
        is_anonymous: *caller == Caller::Anonymous,
    }
}

/// Withdraws a suggestion.
#[derive(Command)]
#[command(subject = "/suggestions/{id}", condition = exists, path = "/suggestions")]
struct WithdrawTitleCommand {
    id: Uuid,
}

/// A suggestion was withdrawn.
#[derive(Event)]
struct TitleWithdrawnEvent {}

#[handler]
fn withdraw(_: WithdrawTitleCommand) -> TitleWithdrawnEvent {
    TitleWithdrawnEvent {}
}

/// A title that somebody suggested.
#[derive(ReadModel)]
#[read_model(table = "suggestions", subject = "/suggestions/{id}")]
struct Suggestion {
    #[key]
    id: Uuid,
    title: String,
    is_anonymous: bool,
    /// Staff answer.
    #[visible(role = "staff", owner)]
    email: Option<String>,
}

#[projection]
impl Suggestion {
    fn suggested(event: TitleSuggestedEvent) -> Self {
        Self {
            id: event.id,
            title: event.title,
            is_anonymous: event.is_anonymous,
            email: Some(event.email),
        }
    }

    fn withdrawn(self, _: &TitleWithdrawnEvent) -> Option<Self> {
        None
    }
}

/// Browses what others suggested.
#[derive(Query)]
#[query(path = "/suggestions", rows = Suggestion, role = public)]
struct BrowseSuggestions {
    #[filter(eq)]
    email: Option<String>,
}

const SUGGESTIONS: &str = "/suggestions";
const SUGGEST: &str = "/suggestions/suggest";

impl GuardedService {
    async fn send(&self, method: Method, path: &str, authorization: Option<&str>) -> Response {
        let mut request = client().request(method.clone(), format!("{}{path}", self.library.url));
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        if method == Method::POST {
            let id = Uuid::new_v4();
            let body = json!({ "id": id, "title": "Emma", "email": "a@example.com" });
            let request_of_json = request.header("content-type", "application/json");
            request = request_of_json.body(body.to_string());
        }
        request.send().await.unwrap()
    }

    async fn status(&self, method: Method, path: &str, authorization: Option<&str>) -> StatusCode {
        self.send(method, path, authorization).await.status()
    }

    /// Suggests a title without a token, and returns the position of the event.
    async fn suggest(&self) -> String {
        let suggested = self.send(Method::POST, SUGGEST, None).await;
        assert_eq!(suggested.status(), StatusCode::CREATED);
        let position = &suggested.headers()["event-position"];
        position.to_str().unwrap().to_owned()
    }

    /// Returns the suggestions once they contain the event.
    async fn suggestions(&self, position: &str, token: Option<&str>) -> Json {
        let request = client().get(format!("{}{SUGGESTIONS}", self.library.url));
        let mut request = request.header("event-position", position);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        json_of(request.send().await.unwrap()).await["items"].take()
    }
}

#[tokio::test]
async fn a_public_command_and_a_public_query_need_no_token() {
    let guarded = GuardedService::start();
    let position = guarded.suggest().await;
    let shown = guarded.suggestions(&position, None).await;
    assert_eq!(shown[0]["title"], "Emma");
    assert_eq!(shown[0]["isAnonymous"], true);
    let head = guarded.status(Method::HEAD, SUGGESTIONS, None).await;
    assert_eq!(head, StatusCode::OK);
    let mut live = LiveQuery::open(&guarded.library.url, SUGGESTIONS).await;
    assert_eq!(live.next().await.data["items"][0]["title"], "Emma");
}

#[tokio::test]
async fn an_invalid_token_is_refused_also_where_none_is_needed() {
    let guarded = GuardedService::start();
    for authorization in ["Bearer a-guess", "Bearer ", "Basic YTpi", ""] {
        for (method, path) in [(Method::GET, SUGGESTIONS), (Method::POST, SUGGEST)] {
            let status = guarded.status(method, path, Some(authorization)).await;
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{authorization} {path}");
        }
    }
}

#[tokio::test]
async fn a_caller_without_a_token_sees_only_what_everybody_sees() {
    let guarded = GuardedService::start();
    let position = guarded.suggest().await;
    for token in [None, Some(BOB)] {
        let shown = guarded.suggestions(&position, token).await;
        assert!(shown[0].get("email").is_none(), "{shown}");
    }
    let shown = guarded.suggestions(&position, Some(ALICE)).await;
    assert_eq!(shown[0]["email"], "a@example.com");
    let path = format!("{SUGGESTIONS}?email=a@example.com");
    let refused = guarded.send(Method::GET, &path, None).await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let problem = json_of(refused).await;
    assert_eq!(problem["type"], "tag:es-framework,2026:problem:not-visible");
}

#[tokio::test]
async fn a_caller_with_a_token_is_known_to_a_public_command() {
    let guarded = GuardedService::start();
    let bearer = format!("Bearer {BOB}");
    let suggested = guarded.send(Method::POST, SUGGEST, Some(&bearer)).await;
    let position = suggested.headers()["event-position"].to_str().unwrap();
    let shown = guarded.suggestions(position, None).await;
    assert_eq!(shown[0]["isAnonymous"], false);
}

#[tokio::test]
async fn an_address_that_calls_public_operations_too_often_is_told_when_to_come_back() {
    let settings = Settings::default().http_public_rate_limit(NonZeroU32::new(3).unwrap());
    let guarded = GuardedService::start_with(settings);
    let refused = eventually("a request is refused", async || {
        let sent = (0..20).map(|_| guarded.send(Method::GET, SUGGESTIONS, None));
        let answers = futures_util::future::join_all(sent).await;
        let mut refused = answers.into_iter();
        refused.find(|answer| answer.status() == StatusCode::TOO_MANY_REQUESTS)
    })
    .await;
    assert_eq!(refused.headers()["retry-after"], "1");
    let problem = json_of(refused).await;
    let kind = "tag:es-framework,2026:problem:too-many-requests";
    assert_eq!(problem["type"], kind);
    // Commands and queries share the limit. A caller with a token does not have it.
    eventually("a command is refused", async || {
        let status = guarded.status(Method::POST, SUGGEST, None).await;
        (status == StatusCode::TOO_MANY_REQUESTS).then_some(())
    })
    .await;
    let bearer = format!("Bearer {BOB}");
    for _ in 0..20 {
        let status = guarded
            .status(Method::GET, SUGGESTIONS, Some(&bearer))
            .await;
        assert_eq!(status, StatusCode::OK);
    }
    eventually("the address may call again", async || {
        (guarded.status(Method::GET, SUGGESTIONS, None).await == StatusCode::OK).then_some(())
    })
    .await;
}

/// Returns a path with a value for each parameter.
fn fill(template: &str) -> String {
    let filled = template.split('/').map(|segment| match segment {
        parameter if parameter.starts_with('{') => "0b6ef6a3-7d0e-4f5c-9a63-6a1b6d2f8c55",
        fixed => fixed,
    });
    filled.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn nothing_else_answers_without_a_token() {
    let guarded = GuardedService::start();
    let document = guarded.library.client.clone().with_bearer(BOB);
    let document: Json = document.get("/openapi.json").await.unwrap().json().unwrap();
    let mut public = BTreeSet::new();
    for (template, operations) in document["paths"].as_object().unwrap() {
        let path = fill(template);
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] {
            let declared = match method {
                "HEAD" => &operations["get"],
                method => &operations[method.to_lowercase()],
            };
            let is_public = declared["security"] == json!([]);
            let status = guarded.status(method.parse().unwrap(), &path, None).await;
            let is_refused = status == StatusCode::UNAUTHORIZED;
            // The paths of operators are not behind the authentication of callers, which hides whether a path exists.
            let is_unknown = status == StatusCode::METHOD_NOT_ALLOWED && declared.is_null();
            assert!(
                is_public != (is_refused || is_unknown),
                "{method} {path}: {status}"
            );
            if is_public && method != "HEAD" {
                public.insert(format!("{method} {template}"));
            }
        }
    }
    let expected = [
        "GET /actuator/health",
        "GET /actuator/health/liveness",
        "GET /actuator/health/readiness",
        "GET /suggestions",
        "POST /suggestions/suggest",
    ];
    assert_eq!(public, expected.map(str::to_owned).into());
    // The routes that the document does not have. Those of the try-it page show files of the program.
    for path in [
        "/nothing",
        "/suggestions/",
        "/suggestions/suggest",
        "//suggestions",
        "/%73uggestions",
        "/console",
        "/console/overview",
        "/console/model",
        "/console/subjects",
        "/console/events/live",
    ] {
        let status = guarded.status(Method::GET, path, None).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{path}");
    }
}

#[tokio::test]
async fn a_request_in_process_can_come_from_a_caller_without_a_credential() {
    let library = RunningService::start();
    let anonymous = library.client.clone().with_caller(&Caller::Anonymous);
    assert_eq!(anonymous.get(SUGGESTIONS).await.unwrap().status, 200);
    assert_eq!(anonymous.get("/books").await.unwrap().status, 401);
    let body = json!({ "id": Uuid::new_v4() });
    let withdrawn = anonymous.post(SUGGESTIONS, &body).await.unwrap();
    assert_eq!(withdrawn.status, 401);
}
