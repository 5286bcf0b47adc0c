//! `POST /api/v1/read-events` streams the stored events of a subject.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::Response};
use futures_util::StreamExt as _;
use serde::Deserialize;

use super::options::WireReadOptions;
use crate::{
    auth::RequireApiToken,
    error_response::ErrorResponse,
    event_lines::{encoded_response, finite_response},
    json_body::JsonBody,
    state::ServerState,
};
use es_event::Subject;
use es_store::{Bound, FromLatestEvent, IfEventIsMissing, ReadOptions};

#[derive(Deserialize)]
pub(super) struct ReadEventsRequest {
    subject: Subject,
    #[serde(default)]
    options: Option<WireReadOptions>,
}

pub(super) async fn read_events(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    JsonBody(request): JsonBody<ReadEventsRequest>,
) -> Result<Response, ErrorResponse> {
    let options: ReadOptions = request.options.unwrap_or_default().try_into()?;
    check_range(&server, &options).await?;
    let encoded = server.settings.unsigned_shape().and_then(|shape| {
        let store = &server.store;
        store.read_lines(&request.subject, &options, shape)
    });
    if let Some(lines) = encoded {
        return Ok(encoded_response(lines));
    }
    let events = server.store.read(request.subject, options);
    Ok(finite_response(server, events))
}

/// Rejects a start after the upper bound. The protocol has an error for it instead of an empty stream.
async fn check_range(server: &ServerState, options: &ReadOptions) -> Result<(), ErrorResponse> {
    let (Some(latest), Some(upper)) = (&options.from_latest_event, options.upper_bound) else {
        return Ok(());
    };
    // A read of that subject alone starts with that event.
    let from_latest = ReadOptions {
        from_latest_event: Some(FromLatestEvent {
            if_missing: IfEventIsMissing::Nothing,
            ..latest.clone()
        }),
        ..ReadOptions::default()
    };
    let mut events = server
        .store
        .read(latest.subject.clone(), from_latest.first());
    let (Bound::Inclusive(last) | Bound::Exclusive(last)) = upper;
    match events.next().await.transpose()? {
        Some(event) if event.id > last => Err(ErrorResponse::new(
            StatusCode::CONFLICT,
            "state conflict: fromLatestEvent results in an event ID greater than upperBound ID",
        )),
        _ => Ok(()),
    }
}
