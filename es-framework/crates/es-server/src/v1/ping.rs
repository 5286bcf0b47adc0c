//! `GET /api/v1/ping` shows that the server is running. It needs no token.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::state::ServerState;
use es_event::{DATA_CONTENT_TYPE, Dialect, EventTime, SPEC_VERSION};

/// The head of a ping response starts with these headers, as that of the original server does. The PHP
/// client's tests compare their order and their case.
const PING_HEADERS: [(HeaderName, HeaderValue); 5] = [
    (
        header::CACHE_CONTROL,
        HeaderValue::from_static("no-store, no-cache, must-revalidate, proxy-revalidate"),
    ),
    (
        header::CONTENT_TYPE,
        HeaderValue::from_static(DATA_CONTENT_TYPE),
    ),
    (header::EXPIRES, HeaderValue::from_static("0")),
    (header::PRAGMA, HeaderValue::from_static("no-cache")),
    (
        HeaderName::from_static("surrogate-control"),
        HeaderValue::from_static("no-store"),
    ),
];

pub(super) async fn ping(State(server): State<Arc<ServerState>>) -> Response {
    match server.settings.dialect {
        Dialect::Item => "OK".into_response(),
        Dialect::Event => {
            let mut response = management_response(
                "/api/v1/ping",
                "io.eventsourcingdb.api.ping-received",
                json!({"message": "My God, it's full of stars."}),
            );
            *response.headers_mut() = HeaderMap::from_iter(PING_HEADERS);
            response
        }
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
