//! Routes of operators: who has the token commands read models and reactions.

use es_framework::{
    ClientResponse,
    axum::{
        body::Body,
        http::{Request, header},
    },
};
use serde_json::Value;
use uuid::Uuid;

use crate::running_service::{RunningService, TOKEN, book};

/// Sends a command of an operator with these words in `Authorization`.
async fn command(library: &RunningService, path: &str, authorization: &str) -> ClientResponse {
    let request = Request::post(format!("/actuator/{path}"));
    let request = request.header(header::AUTHORIZATION, authorization);
    library
        .client
        .send(request.body(Body::empty()).unwrap())
        .await
        .unwrap()
}

#[tokio::test]
async fn an_event_that_is_not_recorded_yet_cannot_be_skipped() {
    let library = RunningService::start();
    library.purchase(&book(Uuid::new_v4())).await;
    let stored = library.stored_events().await.len();
    let operator = format!("Bearer {TOKEN}");
    for component in ["projections/book_copies", "reactions/LoanReporter"] {
        for selection in ["event=99", "from=0&to=99"] {
            let path = format!("{component}/skip?{selection}");
            let refused = command(&library, &path, &operator).await;
            assert_eq!(refused.status, 400, "{path}");
            let problem: Value = refused.json().unwrap();
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.contains("event 99 is not recorded"), "{problem}");
        }
    }
    assert_eq!(library.stored_events().await.len(), stored);
    for component in ["projections/book_copies", "reactions/LoanReporter"] {
        let path = format!("{component}/skip?event=0");
        assert_eq!(
            command(&library, &path, &operator).await.status,
            200,
            "{path}"
        );
    }
}

#[tokio::test]
async fn only_who_has_the_token_is_an_operator() {
    let library = RunningService::start();
    for path in [
        "projections/book_copies/rebuild",
        "reactions/LoanReporter/skip",
    ] {
        let stranger = library.client.post(&format!("/actuator/{path}"), &()).await;
        let stranger = stranger.unwrap();
        assert_eq!(stranger.status, 401);
        assert_eq!(stranger.header("www-authenticate"), Some("Bearer"));
        for guess in ["Bearer ", "Bearer other"] {
            assert_eq!(command(&library, path, guess).await.status, 401);
        }
    }
    let operator = format!("Bearer {TOKEN}");
    for (path, status) in [
        ("projections/book_copies/rebuild", 200),
        ("projections/book_copies/rename", 404),
        ("reactions/LoanReporter/skip", 409),
        // It has its checkpoint.
        ("reactions/LoanReporter/rebuild", 409),
        ("reactions/%ff/skip", 404),
    ] {
        assert_eq!(
            command(&library, path, &operator).await.status,
            status,
            "{path}"
        );
    }
    let in_lower_case = format!("bearer {TOKEN}");
    let skipped = command(&library, "reactions/LoanReporter/skip", &in_lower_case).await;
    let problem: Value = skipped.json().unwrap();
    let kind = problem["type"].as_str().unwrap();
    assert!(kind.ends_with("reaction-not-stopped"), "{problem}");
    let read = library
        .client
        .get("/actuator/reactions/LoanReporter/skip")
        .await;
    assert_eq!(read.unwrap().status, 405);
    let shown = library.client.get("/actuator/projections").await.unwrap();
    assert_eq!(
        shown.json::<Value>().unwrap()["book_copies"]["stopped"],
        false
    );
}
