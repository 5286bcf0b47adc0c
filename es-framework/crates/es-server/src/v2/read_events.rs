//! `QUERY /api/v2/data/read-events` streams the stored events of a subject.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use serde::Deserialize;

use super::{
    error_envelope::ErrorEnvelope,
    options::StrictReadOptions,
    safe_query::QueryMethod,
    strict_body::{OptionalObject, StrictBody},
    values::{OptionalText, parse_subject},
};
use crate::{
    auth::RequireApiToken, event_lines::stored_response, read_range::check_start,
    state::ServerState, stream_format::StreamFormat,
};

/// The body of read-events.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ReadBody {
    subject: OptionalText,
    options: OptionalObject<StrictReadOptions>,
}

pub(super) async fn read_events(
    _: QueryMethod,
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    StrictBody(body): StrictBody<ReadBody>,
) -> Result<Response, ErrorEnvelope> {
    let subject = parse_subject(body.subject)?;
    let options = body
        .options
        .into_object()
        .unwrap_or_default()
        .into_read_options()?;
    check_start(&server, &options).await?;
    Ok(stored_response(server, subject, options, StreamFormat::V2))
}
