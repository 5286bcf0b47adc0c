//! `GET /api/v1/ping` shows that the server is running. It needs no token.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use crate::{response_event::ResponseEvent, state::ServerState};
use es_event::{DATA_CONTENT_TYPE, Dialect};

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

/// Creates a response with a [`ResponseEvent`].
pub(super) fn management_response(
    route: &'static str,
    r#type: &'static str,
    data: Value,
) -> Response {
    Json(ResponseEvent::new(route, r#type, data)).into_response()
}
