//! `POST /api/v1/backup` streams all schemas, all events and an end mark for `event-store restore`. An error of the
//! store is the status or breaks the connection, so that a client which only looks at its own exit code notices it.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use futures_util::{StreamExt as _, stream};

use crate::{
    api_error::ApiError, auth::RequireApiToken, event_lines::breakable_response, state::ServerState,
};
use es_store::backup;

pub(super) async fn backup(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
) -> Result<Response, ApiError> {
    let mut frames = backup::stream_frames(&server.store);
    let first = frames.next().await.transpose()?;
    let all = stream::iter(first.map(Ok)).chain(frames).boxed();
    Ok(breakable_response(all, server.v1_format()))
}
