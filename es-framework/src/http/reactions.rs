//! How the reactions are doing, and what an operator asks of them on purpose.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use serde_json::json;

use super::{
    Problem, Surface, health,
    lag::newest,
    operators::{Named, Onlooker, refused},
    problem::kind,
};
use crate::reaction::{Asked, OperatorError};

/// How the reactions are doing.
pub(crate) const PATH: &str = "/actuator/reactions";
/// Where one is to take the event that stopped it once more.
pub(super) const RETRY: &str = "/actuator/reactions/{name}/retry";
/// Where one is to leave out what it cannot do about the event that stopped it.
pub(super) const SKIP: &str = "/actuator/reactions/{name}/skip";

/// `GET /actuator/reactions`: what the health check says of the reactions, whether or not all is
/// well. Where callers have to be known, it takes the event store's token, too.
pub(super) async fn show(_: Onlooker, State(surface): State<Arc<Surface>>) -> Response {
    let newest = newest(&*surface.health.store).await;
    Json(health::reactions(surface.reactions.statuses(), newest)).into_response()
}

/// What is asked of the one that the path names, with the event store's token.
pub(super) async fn ask(
    asked: Asked,
    Named(name): Named,
    State(surface): State<Arc<Surface>>,
) -> Response {
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
