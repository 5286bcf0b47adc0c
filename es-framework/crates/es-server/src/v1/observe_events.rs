//! `POST /api/v1/observe-events` streams the stored events of a subject, and then new ones as they
//! arrive.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use serde::Deserialize;

use super::options::WireObserveOptions;
use crate::{
    auth::RequireApiToken,
    error_response::ErrorResponse,
    event_lines::observation_response,
    json_body::JsonBody,
    state::ServerState,
    stored_lines::{observe_lazily, read_stored_lines},
};
use es_event::Subject;
use es_store::ObserveOptions;

#[derive(Deserialize)]
pub(super) struct ObserveEventsRequest {
    subject: Subject,
    #[serde(default)]
    options: Option<WireObserveOptions>,
}

pub(super) async fn observe_events(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    JsonBody(request): JsonBody<ObserveEventsRequest>,
) -> Result<Response, ErrorResponse> {
    let options: ObserveOptions = request.options.unwrap_or_default().try_into()?;
    let permit = Arc::clone(&server.observers).try_acquire_owned();
    let permit =
        permit.map_err(|_| ErrorResponse::too_many_observers(server.settings.observers_limit))?;
    let (stored, options) = match read_stored_lines(&server, &request.subject, &options).await {
        Some((lines, options)) => (Some(lines), options),
        None => (None, options),
    };
    let events = observe_lazily(&server, request.subject, options);
    Ok(observation_response(server, stored, events, permit))
}
