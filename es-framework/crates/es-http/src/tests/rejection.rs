//! Responses to a derived rejection.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use es_catalog::Catalog;
use serde_json::{Value, json};

use super::{Answer, send, serve};
use es_macros::{Command, Event, Rejection, handler};

/// Cuts a branch off.
#[derive(Command)]
#[es(crate = "crate::tests::facade")]
#[command(subject = "/trees/{id}", path = "/trees/cut")]
struct CutBranchCommand {
    id: String,
    metres: u32,
}

#[derive(Event)]
#[es(crate = "crate::tests::facade")]
#[event(package = "com.example.garden")]
struct BranchCutEvent {}

/// The reasons for which a branch is not cut.
#[derive(Debug, Rejection)]
#[es(crate = "crate::tests::facade")]
enum CuttingError {
    /// The tree is in leaf
    #[rejection(conflict, detail = "{tree} is in leaf until {until:?}")]
    InLeaf { tree: String, until: &'static str },
    /// The branch is gone.
    #[rejection(gone)]
    BranchGone,
    #[rejection(not_found, name = "tree-unknown", detail = "no tree is called {tree}")]
    NoSuchTree { tree: String },
    #[rejection(forbidden, title = "Only gardeners cut")]
    NoGardener,
    #[rejection(invalid)]
    CutTooLong,
}

#[handler]
#[es(crate = "crate::tests::facade")]
fn cut(command: CutBranchCommand) -> Result<BranchCutEvent, CuttingError> {
    let tree = command.id;
    let until = "November";
    Err(match command.metres {
        0 => return Ok(BranchCutEvent {}),
        1 => CuttingError::InLeaf { tree, until },
        2 => CuttingError::BranchGone,
        3 => CuttingError::NoSuchTree { tree },
        4 => CuttingError::NoGardener,
        _ => CuttingError::CutTooLong,
    })
}

async fn cut_over_http(metres: u32) -> Answer {
    let garden = serve(Catalog::builder().command::<CutBranchCommand>()).await;
    let body = json!({ "id": "oak", "metres": metres });
    let request = Request::post("/trees/cut")
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()));
    send(&garden, request.unwrap()).await
}

fn problem(status: u16, name: &str, title: &str, detail: &str) -> Value {
    let r#type = format!("tag:es-framework,2026:problem:{name}");
    json!({ "type": r#type, "title": title, "status": status, "detail": detail })
}

#[tokio::test]
async fn each_refusal_is_a_problem_of_its_own() {
    assert_eq!(cut_over_http(0).await.status, StatusCode::NO_CONTENT);
    for (metres, expected) in [
        (
            1,
            problem(
                409,
                "in-leaf",
                "The tree is in leaf",
                "oak is in leaf until \"November\"",
            ),
        ),
        (
            2,
            problem(
                410,
                "branch-gone",
                "The branch is gone",
                "The branch is gone",
            ),
        ),
        (
            3,
            problem(404, "tree-unknown", "No such tree", "no tree is called oak"),
        ),
        (
            4,
            problem(
                403,
                "no-gardener",
                "Only gardeners cut",
                "Only gardeners cut",
            ),
        ),
        (
            5,
            problem(422, "cut-too-long", "Cut too long", "Cut too long"),
        ),
    ] {
        let answer = cut_over_http(metres).await;
        assert_eq!(u64::from(answer.status.as_u16()), expected["status"]);
        assert_eq!(answer.json(), expected);
        assert_eq!(answer.header("content-type"), "application/problem+json");
    }
}
