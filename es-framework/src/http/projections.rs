//! How the read models are doing, and what an operator asks of them on purpose.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};

use super::{Problem, Surface, auth::Auth, health, problem::kind};
use crate::projection::{Asked, OperatorError, Refused};

/// `GET /actuator/projections`: what the health check says of the read models, whether or not all
/// is well. Where callers have to be known, it takes the event store's token, too.
pub(super) async fn show(State(surface): State<Arc<Surface>>, headers: HeaderMap) -> Response {
    let is_open = matches!(surface.auth, Auth::Open);
    if !is_open && !is_operator(&surface, &headers) {
        return operators_only();
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
    if !is_operator(&surface, &headers) {
        return operators_only();
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

pub(super) fn refused(refused: Refused) -> Value {
    json!({
        "id": refused.id.to_string(),
        "subject": refused.subject.as_str(),
        "error": refused.reason,
    })
}

/// Whoever holds the event store's token may write events, and so may say what becomes of them.
fn is_operator(surface: &Surface, headers: &HeaderMap) -> bool {
    let given = headers.get(header::AUTHORIZATION);
    let given = given.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    let token = surface.operator_token.as_ref();
    token
        .zip(given)
        .is_some_and(|(token, given)| token.matches(given))
}

fn operators_only() -> Response {
    let detail = "send the event store's API token as Authorization: Bearer …";
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    (challenge, Problem::new(kind::OPERATORS_ONLY, detail)).into_response()
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
