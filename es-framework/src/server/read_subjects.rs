//! `POST /api/v1/read-subjects`: the subjects at and below one, sorted, with all that lies between.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use futures_util::TryStreamExt as _;
use serde::{Deserialize, Serialize};

use super::{Server, auth::Authorized, body::Json, rows::rows};
use crate::event::Subject;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    base_subject: Subject,
}

#[derive(Serialize)]
struct Listed {
    subject: Subject,
}

pub(super) async fn read_subjects(
    _: Authorized,
    State(server): State<Arc<Server>>,
    Json(request): Json<Request>,
) -> Response {
    let subjects = server.store.read_subjects(request.base_subject);
    rows("subject", subjects.map_ok(|subject| Listed { subject }))
}
