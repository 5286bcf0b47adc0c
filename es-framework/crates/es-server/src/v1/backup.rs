//! `POST /api/v1/backup` streams all schemas and events for `event-store restore`.

use std::sync::Arc;

use axum::{extract::State, response::Response};

use crate::{auth::RequireApiToken, event_lines::encoded_response, state::ServerState};
use es_store::backup;

pub(super) async fn backup(_: RequireApiToken, State(server): State<Arc<ServerState>>) -> Response {
    encoded_response(backup::stream_frames(&server.store), server.v1_format())
}
