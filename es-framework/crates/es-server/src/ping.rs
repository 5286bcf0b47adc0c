//! `GET /api/v1/ping` shows that the server is running. It needs no token.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::{Value, json};

use super::state::ServerState;
use es_event::{DATA_CONTENT_TYPE, Dialect, EventTime, SPEC_VERSION};

pub(super) async fn ping(State(server): State<Arc<ServerState>>) -> Response {
    match server.settings.dialect {
        Dialect::Item => "OK".into_response(),
        Dialect::Event => management_response(
            "/api/v1/ping",
            "io.eventsourcingdb.api.ping-received",
            json!({"message": "My God, it's full of stars."}),
        ),
    }
}

/// A CloudEvent that exists only as a response. It is never stored, so it has no hash and a fixed id.
#[derive(Serialize)]
struct ManagementEvent {
    specversion: &'static str,
    id: &'static str,
    time: EventTime,
    source: &'static str,
    subject: &'static str,
    r#type: &'static str,
    datacontenttype: &'static str,
    data: Value,
}

/// Creates a response with a [`ManagementEvent`].
pub(super) fn management_response(
    route: &'static str,
    r#type: &'static str,
    data: Value,
) -> Response {
    Json(ManagementEvent {
        specversion: SPEC_VERSION,
        id: "0",
        time: EventTime::now(),
        source: "https://www.eventsourcingdb.io",
        subject: route,
        r#type,
        datacontenttype: DATA_CONTENT_TYPE,
        data,
    })
    .into_response()
}
