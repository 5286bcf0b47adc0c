//! `POST /api/v1/read-events` streams the stored events of a subject.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use serde::Deserialize;

use super::options::WireReadOptions;
use crate::{
    api_error::ApiError,
    auth::RequireApiToken,
    event_lines::stored_response,
    json_body::JsonBody,
    read_range::check_start,
    state::ServerState,
    strict_object::{StrictObject, object_or_default},
};
use es_event::Subject;
use es_store::ReadOptions;

/// The body of read-events.
#[derive(Deserialize)]
pub(super) struct ReadEventsRequest {
    subject: Subject,
    #[serde(default)]
    options: Option<StrictObject<WireReadOptions>>,
}

pub(super) async fn read_events(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    JsonBody(request): JsonBody<ReadEventsRequest>,
) -> Result<Response, ApiError> {
    let options: ReadOptions = object_or_default(request.options).try_into()?;
    check_start(&server, &options).await?;
    let format = server.v1_format();
    Ok(stored_response(server, request.subject, options, format))
}
