//! How the read models are doing, and what an operator asks of them on purpose.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use serde_json::json;

use super::{
    Problem, Surface, health,
    operators::{Named, Onlooker, refused},
    problem::kind,
};
use crate::projection::{Asked, OperatorError};

/// How the read models are doing.
pub(crate) const PATH: &str = "/actuator/projections";
/// Where one is to make its rows again.
pub(super) const REBUILD: &str = "/actuator/projections/{name}/rebuild";
/// Where one is to take the event that stopped it once more.
pub(super) const RETRY: &str = "/actuator/projections/{name}/retry";
/// Where one is to leave out the event that stopped it.
pub(super) const SKIP: &str = "/actuator/projections/{name}/skip";

/// `GET /actuator/projections`: what the health check says of the read models, whether or not all
/// is well. Where callers have to be known, it takes the event store's token, too.
pub(super) async fn show(_: Onlooker, State(surface): State<Arc<Surface>>) -> Response {
    let health = &surface.health;
    let models = health::read_models(&health.positions, &*health.store);
    Json(models.await).into_response()
}

/// What is asked of the one that the path names, with the event store's token.
pub(super) async fn ask(
    asked: Asked,
    Named(name): Named,
    State(surface): State<Arc<Surface>>,
) -> Response {
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
