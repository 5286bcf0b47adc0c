//! `POST /api/v1/read-events`: the events of a subject that are stored now.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::Response};
use futures_util::StreamExt as _;
use serde::Deserialize;

use super::{
    Server, auth::Authorized, body::Json, error::Failure, lines::Lines, options::WireReadOptions,
};
use crate::{
    event::Subject,
    store::{Bound, FromLatestEvent, IfEventIsMissing, ReadOptions},
};

#[derive(Deserialize)]
pub(super) struct Request {
    subject: Subject,
    #[serde(default)]
    options: Option<WireReadOptions>,
}

pub(super) async fn read_events(
    _: Authorized,
    State(server): State<Arc<Server>>,
    Json(request): Json<Request>,
) -> Result<Response, Failure> {
    let options: ReadOptions = request.options.unwrap_or_default().try_into()?;
    check_range(&server, &options).await?;
    let written = server.settings.unsigned().and_then(|shape| {
        let store = &server.store;
        store.read_lines(&request.subject, &options, shape)
    });
    if let Some(lines) = written {
        return Ok(Lines::written(lines));
    }
    let events = server.store.read(request.subject, options);
    Ok(Lines::finite(server, events))
}

/// A start behind the end is an error of its own in the protocol, not an empty answer.
async fn check_range(server: &Server, options: &ReadOptions) -> Result<(), Failure> {
    let (Some(latest), Some(upper)) = (&options.from_latest_event, options.upper_bound) else {
        return Ok(());
    };
    // A read of that subject alone begins with the event in question.
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
        Some(event) if event.id > last => Err(Failure::new(
            StatusCode::CONFLICT,
            "state conflict: fromLatestEvent results in an event ID greater than upperBound ID",
        )),
        _ => Ok(()),
    }
}
