//! `POST /api/v1/observe-events`: the stored events of a subject, and then the new ones as they
//! come.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use serde::Deserialize;

use super::{
    Server, auth::Authorized, body::Json, error::Failure, lines::Lines,
    options::WireObserveOptions, stored,
};
use crate::{event::Subject, store::ObserveOptions};

#[derive(Deserialize)]
pub(super) struct Request {
    subject: Subject,
    #[serde(default)]
    options: Option<WireObserveOptions>,
}

pub(super) async fn observe_events(
    _: Authorized,
    State(server): State<Arc<Server>>,
    Json(request): Json<Request>,
) -> Result<Response, Failure> {
    let options: ObserveOptions = request.options.unwrap_or_default().try_into()?;
    let place = Arc::clone(&server.observers).try_acquire_owned();
    let place = place.map_err(|_| Failure::too_many_observers(server.settings.observers_limit))?;
    let (stored, after) = match stored::lines(&server, &request.subject, &options).await {
        Some((lines, after)) => (Some(lines), after),
        None => (None, options),
    };
    let events = stored::observe_later(&server, request.subject, after);
    Ok(Lines::endless(server, stored, events, place))
}
