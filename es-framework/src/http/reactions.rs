//! How the reactions are doing, and what an operator asks of them on purpose.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    http::HeaderMap,
    response::{IntoResponse as _, Response},
};
use serde_json::json;

use super::{
    Problem, Surface, health,
    lag::newest,
    operators::{self, refused},
    problem::kind,
};
use crate::reaction::{Asked, OperatorError};

/// `GET /actuator/reactions`: what the health check says of the reactions, whether or not all is
/// well. Where callers have to be known, it takes the event store's token, too.
pub(super) async fn show(State(surface): State<Arc<Surface>>, headers: HeaderMap) -> Response {
    if !operators::may_look(&surface, &headers) {
        return operators::only();
    }
    let newest = newest(&*surface.health.store).await;
    Json(health::reactions(surface.reactions.statuses(), newest)).into_response()
}

/// `POST /actuator/reactions/{name}/{asked}` with the event store's token.
pub(super) async fn ask(
    State(surface): State<Arc<Surface>>,
    Path((name, asked)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if !operators::may_ask(&surface, &headers) {
        return operators::only();
    }
    let asked = match asked.as_str() {
        "retry" => Asked::Retry,
        "skip" => Asked::Skip,
        _ => return Problem::no_such_path(&format!("/{name}/{asked}")).into_response(),
    };
    match surface.reactions.ask(&name, asked).await {
        Ok(event) => Json(json!({ "reaction": name, "event": refused(event) })).into_response(),
        Err(error) => Problem::from(error).into_response(),
    }
}

impl From<OperatorError> for Problem {
    fn from(error: OperatorError) -> Self {
        let detail = error.to_string();
        match error {
            OperatorError::Unknown(_) => Self::new(kind::NOT_FOUND, detail),
            OperatorError::NotStopped(_) => Self::new(kind::REACTION_NOT_STOPPED, detail),
            OperatorError::Store(_) | OperatorError::Silent => {
                tracing::error!(error = detail, "an operator's request failed");
                let detail = "the reaction cannot do this at the moment; the log says why";
                Self::new(kind::REACTIONS_UNAVAILABLE, detail)
            }
        }
    }
}
