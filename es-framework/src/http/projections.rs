//! How the read models are doing, and what an operator asks of them on purpose.

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
    operators::{self, refused},
    problem::kind,
};
use crate::projection::{Asked, OperatorError};

/// `GET /actuator/projections`: what the health check says of the read models, whether or not all
/// is well. Where callers have to be known, it takes the event store's token, too.
pub(super) async fn show(State(surface): State<Arc<Surface>>, headers: HeaderMap) -> Response {
    if !operators::may_look(&surface, &headers) {
        return operators::only();
    }
    let health = &surface.health;
    Json(health::read_models(&health.positions, &*health.store).await).into_response()
}

/// `POST /actuator/projections/{name}/{asked}` with the event store's token.
pub(super) async fn ask(
    State(surface): State<Arc<Surface>>,
    Path((name, asked)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if !operators::may_ask(&surface, &headers) {
        return operators::only();
    }
    let asked = match asked.as_str() {
        "rebuild" => Asked::Rebuild,
        "retry" => Asked::Retry,
        "skip" => Asked::Skip,
        _ => return Problem::no_such_path(&format!("/{name}/{asked}")).into_response(),
    };
    match surface.operator.ask(&name, asked).await {
        Ok(event) => {
            Json(json!({ "readModel": name, "event": event.map(refused) })).into_response()
        }
        Err(error) => Problem::from(error).into_response(),
    }
}

impl From<OperatorError> for Problem {
    fn from(error: OperatorError) -> Self {
        let detail = error.to_string();
        let kind = match error {
            OperatorError::Unknown(_) => kind::NOT_FOUND,
            OperatorError::NotStopped(_) => kind::READ_MODEL_NOT_STOPPED,
            OperatorError::Rebuilding(_) => kind::READ_MODEL_REBUILDING,
            OperatorError::StandsBy => kind::STANDS_BY,
            OperatorError::Database(_) | OperatorError::Silent => {
                tracing::error!(error = detail, "an operator's request failed");
                let detail = "the read models cannot do this at the moment; the log says why";
                return Self::new(kind::READ_MODELS_UNAVAILABLE, detail);
            }
        };
        Self::new(kind, detail)
    }
}
