//! `POST /api/v1/observe-events` streams the stored events of a subject, and then new ones as they
//! arrive.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use serde::Deserialize;

use super::options::WireObserveOptions;
use crate::{
    api_error::ApiError,
    auth::RequireApiToken,
    json_body::JsonBody,
    observation::observe_subject,
    state::ServerState,
    strict_object::{StrictObject, object_or_default},
};
use es_event::Subject;
use es_store::ObserveOptions;

/// The body of observe-events.
#[derive(Deserialize)]
pub(super) struct ObserveEventsRequest {
    subject: Subject,
    #[serde(default)]
    options: Option<StrictObject<WireObserveOptions>>,
}

pub(super) async fn observe_events(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    JsonBody(request): JsonBody<ObserveEventsRequest>,
) -> Result<Response, ApiError> {
    let options: ObserveOptions = object_or_default(request.options).try_into()?;
    let format = server.v1_format();
    observe_subject(server, request.subject, options, format).await
}
