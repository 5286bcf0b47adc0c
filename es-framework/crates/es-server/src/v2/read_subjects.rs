//! `QUERY /api/v2/data/read-subjects` streams a subject and, with `recursive`, the subjects below it in order,
//! including those that have no events themselves.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde::Deserialize;
use serde_json::json;

use super::{
    options::StrictRecursiveOptions,
    safe_query::QueryMethod,
    strict_body::{OptionalObject, StrictBody},
    values::{OptionalText, parse_subject},
};
use crate::{
    auth::RequireApiToken, request_failure::RequestFailure, state::ServerState,
    stream_format::StreamFormat,
};

/// The body of read-subjects.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SubjectsBody {
    subject: OptionalText,
    options: OptionalObject<StrictRecursiveOptions>,
}

pub(super) async fn read_subjects(
    _: QueryMethod,
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    StrictBody(body): StrictBody<SubjectsBody>,
) -> Result<Response, RequestFailure> {
    let base = parse_subject(body.subject)?;
    let options = body.options.into_object().unwrap_or_default();
    let subjects = server.store.read_subjects(base);
    // The subject itself comes first: it exists if it or a subject below it has an event.
    let subjects = if options.is_recursive() {
        subjects
    } else {
        subjects.take(1).boxed()
    };
    let rows = subjects.map_ok(|subject| json!({"subject": subject}));
    Ok(StreamFormat::V2.rows_response("subject", rows, &server.settings))
}
