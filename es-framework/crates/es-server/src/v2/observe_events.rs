//! `QUERY /api/v2/data/observe-events` streams the stored events of a subject, and then new ones as
//! they arrive. The stream ends only with an error line.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use serde::Deserialize;

use super::{
    error_envelope::ErrorEnvelope,
    options::StrictObserveOptions,
    safe_query::QueryMethod,
    strict_body::{OptionalObject, StrictBody},
    values::{OptionalText, parse_subject},
};
use crate::{
    auth::RequireApiToken, observation::observe_subject, state::ServerState,
    stream_format::StreamFormat,
};

/// The body of observe-events.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ObserveBody {
    subject: OptionalText,
    options: OptionalObject<StrictObserveOptions>,
}

pub(super) async fn observe_events(
    _: QueryMethod,
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    StrictBody(body): StrictBody<ObserveBody>,
) -> Result<Response, ErrorEnvelope> {
    let subject = parse_subject(body.subject)?;
    let options = body
        .options
        .into_object()
        .unwrap_or_default()
        .into_observe_options()?;
    Ok(observe_subject(server, subject, options, StreamFormat::V2).await?)
}
