//! `POST /api/v1/read-subjects` streams a subject and all subjects below it in order, including those
//! that have no events themselves.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use futures_util::TryStreamExt as _;
use serde::{Deserialize, Serialize};

use crate::{auth::RequireApiToken, json_body::JsonBody, state::ServerState};
use es_event::Subject;

/// The body of read-subjects.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadSubjectsRequest {
    base_subject: Subject,
}

/// The payload of a line with a subject.
#[derive(Serialize)]
struct SubjectLinePayload {
    subject: Subject,
}

pub(super) async fn read_subjects(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    JsonBody(request): JsonBody<ReadSubjectsRequest>,
) -> Response {
    let subjects = server.store.read_subjects(request.base_subject);
    let rows = subjects.map_ok(|subject| SubjectLinePayload { subject });
    let format = server.v1_format();
    format.rows_response("subject", rows, &server.settings)
}
