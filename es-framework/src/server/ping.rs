//! `GET /api/v1/ping`: whether the server is there. Needs no token and minds none.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::{Value, json};

use super::Server;
use crate::event::{DATA_CONTENT_TYPE, Dialect, EventTime, SPEC_VERSION};

pub(super) async fn ping(State(server): State<Arc<Server>>) -> Response {
    match server.settings.dialect {
        Dialect::Item => "OK".into_response(),
        Dialect::Event => management_event(
            "/api/v1/ping",
            "io.eventsourcingdb.api.ping-received",
            json!({"message": "My God, it's full of stars."}),
        ),
    }
}

/// A CloudEvent that is an answer only: never stored, so without a hash and with a fixed id.
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

pub(super) fn management_event(route: &'static str, r#type: &'static str, data: Value) -> Response {
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
