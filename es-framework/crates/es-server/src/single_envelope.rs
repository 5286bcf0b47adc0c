//! Responses of version 2 that are one envelope instead of a stream.

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use serde::Serialize;
use serde_json::Value;

use super::{envelope::write_envelope, response_event::ResponseEvent};

/// Creates a response of one envelope.
pub(super) fn single_envelope<T: Serialize>(kind: &'static str, data: &T) -> Response {
    let mut body = Vec::new();
    write_envelope(kind, data, &mut body);
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], body).into_response()
}

/// Creates a response of one management event.
pub(super) fn single_event(route: &'static str, r#type: &'static str, data: Value) -> Response {
    single_envelope("event", &ResponseEvent::new(route, r#type, data))
}
