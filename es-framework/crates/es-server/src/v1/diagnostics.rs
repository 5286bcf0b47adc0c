//! `GET /api/v1/diagnostics` describes this server for people who look for a fault. It shows no secret.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use futures_util::TryStreamExt as _;
use serde_json::json;

use crate::{api_error::ApiError, auth::RequireApiToken, state::ServerState};
use es_event::{Dialect, EventId, Subject};
use es_store::latest_event;

pub(super) async fn diagnostics(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
) -> Result<Response, ApiError> {
    let last = latest_event(&*server.store, Subject::root(), true).await?;
    let types: Vec<_> = server.store.read_event_types().try_collect().await?;
    let settings = &server.settings;
    Ok(Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "apiVersion": "v1",
        "dialect": match settings.dialect {
            Dialect::Item => "item",
            Dialect::Event => "event",
        },
        "store": server.store.description(),
        "uptimeSeconds": server.started.elapsed().as_secs(),
        "system": {"os": std::env::consts::OS, "architecture": std::env::consts::ARCH},
        "events": {
            "count": EventId::count_to(last.as_ref().map(|event| event.id)),
            "lastId": last.as_ref().map(|event| event.id.to_string()),
            "lastTime": last.as_ref().map(|event| event.time.as_str()),
            "lastHash": last.as_ref().map(|event| event.hash.to_string()),
        },
        "eventTypes": {
            "count": types.len(),
            "withSchema": types.iter().filter(|known| known.schema.is_some()).count(),
        },
        "signing": settings.signing_key.is_some(),
        "limits": {
            "bodyBytes": settings.body_limit,
            "eventsPerWrite": settings.events_limit,
            "requestSeconds": settings.request_time.as_secs(),
        },
    }))
    .into_response())
}
